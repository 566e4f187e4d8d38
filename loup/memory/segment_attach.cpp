#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>

#include "loup/memory/mapped_file.h"
#include "loup/memory/process_identity.h"
#include "loup/memory/refcounted_map_allocator.h"
#include "loup/memory/segment_header.h"
#include "loup/memory/segment_info.h"
#include "loup/memory/segment_lock.h"

// How a segment comes into being, and how one gets to it.

namespace loup {

using memory::Fd;
using memory::segment_header_bytes;
using memory::SegmentHeader;
namespace sys = memory::sys;

/// Memory without a name.
void RefcountedMapAllocator::make(std::size_t bytes, const SegmentOptions& options) {
  SegmentOptions chosen = options;
  chosen.lifetime = Lifetime::anonymous;
  const MapError::Context context{"create", {}, bytes};
  Fd fd(sys::memfd("loup", MFD_ALLOW_SEALING));
  if (!fd) memory::throw_map_error(context, "memfd_create", errno);
  fill("create", fd, bytes, chosen);
  const int seals = F_SEAL_SHRINK | (options.seal_writes ? 0x10 /* F_SEAL_FUTURE_WRITE */ : 0);
  if (sys::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
    memory::throw_map_error(context, "fcntl", errno);
  }
  fd_ = std::move(fd);
}

/// False when the name is taken. The file gets its name when it is complete, so that nobody ever
/// sees another one and nothing is left when this process is killed before.
bool RefcountedMapAllocator::make_named(std::size_t bytes, const SegmentOptions& options) {
  const MapError::Context context{"create", mapping_.path, bytes};
  const std::string directory = memory::shm_directory();
  Fd fd(sys::open(directory.c_str(), O_TMPFILE | O_RDWR, 0600));
  std::string temporary;
  if (!fd && (errno == EOPNOTSUPP || errno == EISDIR)) {
    temporary = memory::shm_path("lp.tmp." + new_shm_handle().substr(4));
    fd = Fd(sys::open(temporary.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0600));
  }
  if (!fd) memory::throw_map_error(context, "make a file there", errno);
  int number = 0;
  try {
    fill("create", fd, bytes, options);
    const auto link = [&] {
      return temporary.empty() ? sys::link(fd.get(), mapping_.path.c_str())
                               : sys::link(temporary.c_str(), mapping_.path.c_str());
    };
    if (link() != 0) number = errno;
    // A name that nobody uses was left behind by a process that was killed.
    if (number == EEXIST && memory::replace_stale(mapping_.path)) number = link() == 0 ? 0 : errno;
  } catch (...) {
    if (!temporary.empty()) sys::unlink(temporary.c_str());
    throw;
  }
  if (!temporary.empty()) sys::unlink(temporary.c_str());
  if (number != 0) {
    region_.unmap();
    data_ = nullptr;
    if (number == EEXIST) return false;
    memory::throw_map_error(context, "linkat", number);
  }
  if (!memory::mappings_keep_locks()) fd_ = std::move(fd);
  return true;
}

void RefcountedMapAllocator::fill(const char* operation, Fd& fd, std::size_t bytes,
                                  const SegmentOptions& options) {
  const std::size_t capacity = std::max(bytes, options.capacity);
  const std::size_t whole = segment_header_bytes + capacity;
  const MapError::Context context{operation, mapping_.path, whole};
  memory::grow_file(context, fd.get(), 0, whole, false);
  memory::lock_shared(context, fd.get(), std::chrono::seconds(1));
  struct stat info{};
  if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  region_ = memory::MappedRegion(context, fd.get(), whole, true, true);
  memory::write_header(header(), bytes, capacity, options.lifetime, options.label);
  if (options.populate && region_.advise(Advice::populate, 0, whole) == AdviceResult::no_space) {
    memory::throw_map_error(context, "madvise", ENOSPC);
  }
  announce(fd.get());
  data_ = region_.data() + segment_header_bytes;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  is_reserved_ = memory::is_reserved(info);
  mapping_.bytes = bytes;
  mapping_.lifetime = options.lifetime;
}

void RefcountedMapAllocator::attach_to_name(const AttachOptions& options) {
  const MapError::Context context{"attach", mapping_.path};
  const int access = options.read_only ? O_RDONLY : O_RDWR;
  constexpr int most_tries = 1000;  // each is somebody else's removal
  for (int tries = 0; tries < most_tries; ++tries) {
    Fd fd(sys::open(mapping_.path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!fd) memory::throw_map_error(context, "open it", errno);
    memory::lock_shared(context, fd.get(), options.timeout);
    struct stat info{};
    if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
    // Without a name it was removed while we waited; there may be a new one.
    if (info.st_nlink == 0) continue;
    attach_to(std::move(fd), info, options);
    return;
  }
  memory::throw_map_error(context, "open it", ENOENT);
}

/// `fd` holds the lock already.
void RefcountedMapAllocator::attach_to(Fd fd, const struct stat& info,
                                       const AttachOptions& options) {
  try {
    map_segment(fd.get(), info, options);
  } catch (...) {
    // While we held the lock somebody else's last detach may have left the name to us.
    const bool was_last_detach = mapping_.lifetime == Lifetime::last_detach;
    region_.unmap();
    fd.reset();
    const memory::Identity identity{device_, inode_};
    if (was_last_detach && inode_ != 0) memory::remove_name(mapping_.path, &identity);
    throw;
  }
  const bool is_needed = mapping_.lifetime == Lifetime::anonymous || !memory::mappings_keep_locks();
  if (is_needed) fd_ = std::move(fd);
}

void RefcountedMapAllocator::map_segment(int fd, const struct stat& info,
                                         const AttachOptions& options) {
  MapError::Context context{"attach", mapping_.path, options.bytes};
  memory::check_regular(context, info);
  if (!options.allow_foreign && info.st_nlink > 0) memory::check_owner(context, info);
  const auto whole = static_cast<std::size_t>(info.st_size);
  // Read, not looked at through the mapping: a page that was never touched costs nothing.
  std::array<std::byte, offsetof(SegmentHeader, slots)> start{};
  const ssize_t got = sys::read_at(fd, start.data(), start.size(), 0);
  if (got < 0) memory::throw_map_error(context, "read", errno);
  memory::SegmentFields fields;
  const std::string fault =
      memory::read_header(std::span(start).first(static_cast<std::size_t>(got)), whole, fields);
  if (!fault.empty()) {
    throw MapError(MapError::Kind::bad_header, EBADMSG, context, "attach: {} in \"{}\"", fault,
                   mapping_.path);
  }
  device_ = info.st_dev;
  inode_ = info.st_ino;
  mapping_.lifetime = fields.lifetime;
  const std::size_t wanted = options.bytes.value_or(fields.bytes);
  if (wanted > fields.bytes) {
    context.actual = fields.bytes;
    throw MapError(MapError::Kind::size_mismatch, EINVAL, context,
                   "attach: expected a segment of at least {} bytes, got \"{}\" of {} bytes",
                   wanted, mapping_.path, fields.bytes);
  }
  region_ = memory::MappedRegion(context, fd, whole, !mapping_.is_read_only, true);
  announce(fd);
  data_ = region_.data() + segment_header_bytes;
  is_reserved_ = memory::is_reserved(info);
  generation_ = fields.generation;
  mapping_.bytes = wanted;
}

void RefcountedMapAllocator::announce(int fd) {
  slot_ = memory::announce(fd, !mapping_.is_read_only);
  if (slot_ < 0) return;
  const memory::ProcessIdentity self = memory::process_identity();
  const memory::SegmentSlot slot{.pid = self.pid,
                                 .unused = 0,
                                 .start_time = self.start_time,
                                 .pid_namespace = self.pid_namespace,
                                 .time = memory::nanoseconds_now(),
                                 .references = 0,
                                 .unused_too = 0,
                                 .label = {}};
  const std::size_t offset =
      offsetof(SegmentHeader, slots) + static_cast<std::size_t>(slot_) * sizeof slot;
  // It only informs: whether it could be written does not matter.
  sys::write_at(fd, &slot, sizeof slot, offset);
}

}  // namespace loup
