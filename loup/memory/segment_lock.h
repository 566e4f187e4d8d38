#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "loup/memory/map_error.h"
#include "loup/memory/system.h"

// === Overview ===
//
// Who is attached to a segment is not counted in memory, where a killed process would leave its
// count behind. Every attachment holds a shared flock on an open file description of its own. The
// mapping keeps the description, and with it the lock, when the descriptor is closed, and the
// kernel drops it when the mapping goes: by munmap, by exit or by SIGKILL. A forked child's copy
// of the mapping keeps it as well.
//
// Whoever detaches opens the name anew and tries to take the lock exclusively. Success means that
// nobody is attached, so the name is removed. Attaching waits for the lock and then looks whether
// the file still has a name. An exclusive lock is taken only to remove: a look around must not make
// somebody else's last detach believe that there are others.
//
// Bytes beyond any file carry more locks of descriptions: one per attachment, exclusive on the
// number of its slot, or shared on a random one. They tell how many there are without touching
// the flock.

namespace loup::memory {

/// Takes the lock of an attachment. MapError (busy) when somebody keeps it exclusively.
void lock_shared(const MapError::Context& context, int fd, std::chrono::milliseconds timeout);

/// Announces an attachment, best with a slot of its own: its number, or −1.
int announce(int fd, bool wants_slot);
/// Takes back what this description announced.
void withdraw(int fd);
/// How many attachments are announced.
std::size_t count_announced(int fd);
/// Whether a slot's owner is alive.
bool is_slot_alive(int fd, int slot);

/// Holds off others that make the segment longer, or remove its name, while it exists.
class SegmentGuard {
 public:
  enum class Purpose : std::uint8_t { remove, grow };
  SegmentGuard(int fd, Purpose purpose, std::chrono::milliseconds timeout);
  SegmentGuard(const SegmentGuard&) = delete;
  SegmentGuard& operator=(const SegmentGuard&) = delete;
  ~SegmentGuard();
  bool is_held() const { return is_held_; }

 private:
  int fd_;
  off_t byte_;
  bool is_held_ = false;
};

struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

enum class Removal : std::uint8_t { removed, in_use, gone, failed };
/// Removes a name when nobody is attached, or anyway with `force`. With `identity` only when the
/// name still belongs to that file. Sets errno when it failed.
Removal remove_name(const std::string& path, const Identity* identity, bool force = false) noexcept;

/// Whether this system keeps locks with mappings, tried once: otherwise descriptors stay open.
bool mappings_keep_locks() noexcept;

}  // namespace loup::memory
