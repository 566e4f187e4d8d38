#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loup/memory/map_allocator.h"

struct stat;  // NOLINT(readability-identifier-naming): the system's

namespace loup {

namespace memory {
struct SegmentHeader;
}

/// How a segment is made.
struct SegmentOptions {
  Lifetime lifetime = Lifetime::last_detach;
  std::string label = {};    ///< for people, up to 63 bytes
  std::size_t capacity = 0;  ///< bytes to reserve for growing in place
  bool populate = false;     ///< touch all pages at once
  bool seal_writes = false;  ///< of anonymous memory: those who receive it can only read
};

/// How a segment is attached to.
struct AttachOptions {
  Size bytes = {};                          ///< fewer than there are is fine, more is an error
  bool read_only = false;                   ///< writes nothing at all, also not who is attached
  bool allow_foreign = false;               ///< accept a segment that others own or may write to
  std::chrono::milliseconds timeout{1000};  ///< how long somebody may be about to remove it
};

/// One who announced to be attached.
struct SegmentHolder {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;
  std::uint64_t pid_namespace = 0;
  std::uint64_t time = 0;
  std::uint32_t references = 0;
};

/// What there is to know about a segment.
struct SegmentInfo {
  std::string name;
  std::string path;
  std::string label;
  std::size_t bytes = 0;
  std::size_t capacity = 0;
  std::size_t allocated = 0;  ///< bytes of memory in use
  Lifetime lifetime = Lifetime::last_detach;
  std::uint64_t generation = 0;
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint32_t uid = 0;
  std::uint32_t creator_pid = 0;
  std::uint64_t created = 0;  ///< nanoseconds since 1970
  std::size_t attachments = 0;
  std::vector<SegmentHolder> holders;  ///< of those attached for writing, as far as there is room
  std::uint64_t inode = 0;

  bool is_live() const { return attachments > 0; }
};

/// Shared memory with a name that disappears with its last user, however that ends.
///
/// An attachment is counted by the kernel, as a lock that its mapping holds, so a killed process
/// leaves nothing behind; see segment_lock.h. The segment starts with a header, data() is past it.
class LOUP_EXPORT RefcountedMapAllocator : public MapAllocator {
 public:
  /// `shared_mem` attaches to a segment, or makes it when there is none; with `exclusive` it is
  /// made, with `no_create` it has to exist. keep_fd, from_fd and unlink are refused.
  RefcountedMapAllocator(std::string_view name, MapFlags flags, std::size_t bytes);
  /// Attaches to the segment behind a descriptor, and takes it over.
  RefcountedMapAllocator(WithFd tag, std::string_view name, int fd, MapFlags flags,
                         Size bytes = {});
  ~RefcountedMapAllocator() override;

  /// Makes a segment. An empty name means a random one. MapError (already_exists) when somebody
  /// uses the name; one that was left behind is replaced.
  static RefcountedMapAllocator create(std::string_view name, std::size_t bytes,
                                       const SegmentOptions& options = {});
  static RefcountedMapAllocator attach(std::string_view name, const AttachOptions& options = {});
  /// Memory without a name, sealed against shrinking; to be handed over by send() or descriptor().
  static RefcountedMapAllocator anonymous(std::size_t bytes, const SegmentOptions& options = {});

  /// Holds one more reference of this process; it ends with decref, close or the process.
  void incref();
  /// Drops one: 1 when none is left, otherwise 0. StateError when there is none.
  int decref();
  /// A new descriptor that holds a reference by itself, also while it travels to another process.
  /// The caller closes it.
  int descriptor() const override;
  /// Everybody attached, in all processes.
  std::size_t attachments() const;
  SegmentInfo info() const;
  /// The full name, `lp.<namespace>.<name>`; empty when anonymous.
  const std::string& name() const noexcept { return filename(); }

  /// Hands the segment over through a UNIX socket. The receiver is attached as soon as it is sent.
  void send(int socket) const;
  static RefcountedMapAllocator recv(int socket);

  void grow(std::size_t bytes) override;
  bool refresh() override;
  void close() override;
  using MapAllocator::close;

  static DataPtr makeDataPtr(std::string_view name, MapFlags flags, std::size_t bytes,
                             std::size_t* actual_size_out = nullptr);
  static DataPtr makeDataPtr(WithFd tag, std::string_view name, int fd, MapFlags flags,
                             Size bytes = {}, std::size_t* actual_size_out = nullptr);
  static RefcountedMapAllocator* fromDataPtr(const DataPtr& data) noexcept;

 private:
  enum class Make : std::uint8_t { create, attach, anonymous, descriptor };
  RefcountedMapAllocator(Make how, std::string_view name, std::size_t bytes,
                         const SegmentOptions& options);
  RefcountedMapAllocator(Make how, std::string_view name, const AttachOptions& options);
  RefcountedMapAllocator(Make how, std::string_view name, memory::Fd fd,
                         const AttachOptions& options);

  void make(std::size_t bytes, const SegmentOptions& options);
  bool make_named(std::size_t bytes, const SegmentOptions& options);
  void fill(const char* operation, memory::Fd& fd, std::size_t bytes,
            const SegmentOptions& options);
  void attach_to_name(const AttachOptions& options);
  void attach_to(memory::Fd fd, const struct stat& info, const AttachOptions& options);
  void map_segment(int fd, const struct stat& info, const AttachOptions& options);
  void announce(int fd);
  memory::SegmentHeader& header() const;
  void count_references();
  int detach() noexcept;

  std::uint64_t generation_ = 0;
  int slot_ = -1;
  std::vector<memory::Fd> references_;
};

}  // namespace loup
