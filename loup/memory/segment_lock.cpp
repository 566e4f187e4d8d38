#include "loup/memory/segment_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "loup/memory/segment_header.h"
#include "loup/memory/shm_name.h"

namespace loup::memory {

namespace {

using Clock = std::chrono::steady_clock;

constexpr off_t first_slot_byte = off_t{1} << 62;
constexpr off_t first_random_byte = first_slot_byte + 1024;
constexpr off_t end_of_bytes = first_random_byte + (off_t{1} << 32);
constexpr off_t remove_byte = first_slot_byte - 1;
constexpr off_t grow_byte = first_slot_byte - 2;

/// Repeats `attempt` while it fails for EAGAIN: briefly at once, then with pauses.
template <class Attempt>
bool wait_for(const Attempt& attempt, std::chrono::milliseconds timeout) {
  const auto start = Clock::now();
  for (int tries = 0;; ++tries) {
    if (attempt() == 0) return true;
    if (errno != EAGAIN && errno != EACCES) return false;
    if (Clock::now() - start >= timeout) {
      errno = EAGAIN;
      return false;
    }
    if (tries < 20) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(tries < 100 ? 50 : 1000));
    }
  }
}

std::uint32_t random_number() {
  // Not the system's: a collision costs another try, and this is on the way of every attachment.
  thread_local std::uint64_t state = 0;
  if (state == 0) {
    state = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) ^
            reinterpret_cast<std::uintptr_t>(&state);
  }
  state += 0x9E3779B97F4A7C15U;
  // Children of fork start with the same state; the pid tells them apart.
  std::uint64_t mixed = state ^ (static_cast<std::uint64_t>(getpid()) * 0xD6E8FEB86659FD93U);
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<std::uint32_t>(mixed >> 32U);
}

/// The system tells one locked byte of a range, not the first one: the rest is on both sides of it.
std::size_t count_locked(int fd, off_t first, off_t last) {
  if (first >= last) return 0;
  const off_t found = sys::find_locked(fd, first, last);
  if (found < first || found >= last) return 0;
  return count_locked(fd, first, found) + 1 + count_locked(fd, found + 1, last);
}

}  // namespace

void lock_shared(const MapError::Context& context, int fd, std::chrono::milliseconds timeout) {
  const auto attempt = [&] { return sys::flock(fd, LOCK_SH | LOCK_NB); };
  if (wait_for(attempt, timeout)) return;
  if (errno != EAGAIN) throw_map_error(context, "flock", errno);
  throw MapError(MapError::Kind::busy, EBUSY, context,
                 "{}: expected the lock of \"{}\" within {} ms, got none: another process holds it",
                 context.operation, context.path, timeout.count());
}

int announce(int fd, bool wants_slot) {
  const std::uint32_t random = random_number();
  // A few tries: slots only inform.
  for (std::uint32_t i = 0; wants_slot && i < 4; ++i) {
    const auto slot = static_cast<int>((random + i) % segment_slots);
    if (sys::lock_bytes(fd, first_slot_byte + slot, 1, F_WRLCK) == 0) return slot;
  }
  sys::lock_bytes(fd, first_random_byte + random, 1, F_RDLCK);
  return -1;
}

void withdraw(int fd) {
  sys::lock_bytes(fd, first_slot_byte, end_of_bytes - first_slot_byte, F_UNLCK);
}

std::size_t count_announced(int fd) { return count_locked(fd, first_slot_byte, end_of_bytes); }

bool is_slot_alive(int fd, int slot) {
  return sys::find_locked(fd, first_slot_byte + slot, first_slot_byte + slot + 1) >= 0;
}

SegmentGuard::SegmentGuard(int fd, Purpose purpose, std::chrono::milliseconds timeout)
    : fd_(fd), byte_(purpose == Purpose::remove ? remove_byte : grow_byte) {
  is_held_ = wait_for([&] { return sys::lock_bytes(fd_, byte_, 1, F_WRLCK); }, timeout);
}

SegmentGuard::~SegmentGuard() {
  // Said aloud, not left to close: a child forked meanwhile has the description, too.
  if (is_held_) sys::lock_bytes(fd_, byte_, 1, F_UNLCK);
}

Removal remove_name(const std::string& path, const Identity* identity, bool force) noexcept {
  const Fd fd(sys::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) return errno == ENOENT ? Removal::gone : Removal::failed;
  struct stat info{};
  if (sys::fstat(fd.get(), info) != 0) return Removal::failed;
  if (info.st_nlink == 0) return Removal::gone;
  if (identity != nullptr && (info.st_dev != identity->device || info.st_ino != identity->inode)) {
    return Removal::gone;
  }
  const bool is_alone = sys::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
  if (!is_alone && !force) return errno == EAGAIN ? Removal::in_use : Removal::failed;
  Removal result = Removal::failed;
  {
    // Between looking and removing nobody else may remove the name, or it could be a new file's.
    const SegmentGuard guard(fd.get(), SegmentGuard::Purpose::remove, std::chrono::seconds(1));
    if (sys::fstat(fd.get(), info) == 0) {
      if (info.st_nlink == 0) {
        result = Removal::gone;
      } else if (sys::unlink(path.c_str()) == 0) {
        result = Removal::removed;
      } else if (errno == ENOENT) {
        result = Removal::gone;
      }
    }
  }
  const int before = errno;
  if (is_alone) sys::flock(fd.get(), LOCK_UN);
  errno = before;
  return result;
}

namespace {

bool try_locks() noexcept {
  try {
    Fd fd(sys::open(shm_directory().c_str(), O_TMPFILE | O_RDWR, 0600));
    if (!fd) fd = Fd(sys::memfd("loup-lock-test", 0));
    if (!fd || sys::ftruncate(fd.get(), segment_header_bytes) != 0) return false;
    const std::string again = fmt::format("/proc/self/fd/{}", fd.get());
    const Fd other(sys::open(again.c_str(), O_RDWR));
    if (!other || sys::flock(fd.get(), LOCK_SH | LOCK_NB) != 0) return false;
    void* const data = sys::map(fd.get(), segment_header_bytes, PROT_READ, MAP_SHARED);
    if (data == nullptr) return false;
    fd.reset();
    const bool is_kept = sys::flock(other.get(), LOCK_EX | LOCK_NB) != 0 && errno == EAGAIN;
    sys::unmap(data, segment_header_bytes);
    const bool is_dropped = sys::flock(other.get(), LOCK_EX | LOCK_NB) == 0;
    return is_kept && is_dropped;
  } catch (...) {
    return false;
  }
}

}  // namespace

bool mappings_keep_locks() noexcept {
  static const bool result = try_locks();
  return result;
}

}  // namespace loup::memory
