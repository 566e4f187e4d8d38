#include "loup/memory/refcounted_map_allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "loup/memory/mapped_file.h"
#include "loup/memory/process_identity.h"
#include "loup/memory/segment_header.h"
#include "loup/memory/segment_info.h"
#include "loup/memory/segment_lock.h"

namespace loup {

using memory::Fd;
using memory::segment_header_bytes;
using memory::SegmentHeader;
namespace sys = memory::sys;

namespace {

SegmentHeader& header_of(const memory::MappedRegion& region) {
  return *reinterpret_cast<SegmentHeader*>(region.data());
}

void check_flags(MapFlags flags) {
  using enum MapFlags;
  if (!has(flags, shared_mem)) {
    throw ValueError("segment: expected shared_mem, got {}", to_string(flags));
  }
  if (has(flags, shared | from_fd | keep_fd | MapFlags::unlink)) {
    throw ValueError("segment: expected flags without shared|from_fd|keep_fd|unlink, got {}",
                     to_string(flags));
  }
  if (has(flags, exclusive) && has(flags, no_create | read_only)) {
    throw ValueError("segment: expected exclusive without no_create|read_only, got {}",
                     to_string(flags));
  }
}

AttachOptions attach_options(MapFlags flags, Size bytes) {
  return {.bytes = bytes,
          .read_only = has(flags, MapFlags::read_only),
          .allow_foreign = has(flags, MapFlags::allow_foreign)};
}

SegmentOptions segment_options(MapFlags flags) {
  return {.populate = has(flags, MapFlags::populate)};
}

}  // namespace

RefcountedMapAllocator::RefcountedMapAllocator(std::string_view name, MapFlags flags,
                                               std::size_t bytes)
    : MapAllocator(memory::segment_name(name), MappingKind::segment, flags) {
  check_flags(flags);
  memory::check_size("segment", filename_, bytes, segment_header_bytes);
  mapping_.path = memory::shm_path(filename_);
  const bool may_create = !has(flags, MapFlags::no_create | MapFlags::read_only);
  const bool may_attach = !has(flags, MapFlags::exclusive);
  // Whoever loses the race for making it attaches; it may be gone again by then.
  for (;;) {
    if (may_attach) {
      try {
        attach_to_name(attach_options(flags, bytes));
        return;
      } catch (const MapError& error) {
        if (error.kind() != MapError::Kind::not_found || !may_create) throw;
      }
    }
    if (make_named(bytes, segment_options(flags))) return;
    if (!may_attach) memory::throw_map_error({"create", mapping_.path, bytes}, "linkat", EEXIST);
  }
}

RefcountedMapAllocator::RefcountedMapAllocator(WithFd /*tag*/, std::string_view name, int fd,
                                               MapFlags flags, Size bytes)
    : RefcountedMapAllocator(Make::descriptor, name, Fd(fd), attach_options(flags, bytes)) {}

RefcountedMapAllocator::RefcountedMapAllocator(Make how, std::string_view name, std::size_t bytes,
                                               const SegmentOptions& options)
    : MapAllocator(how == Make::anonymous ? std::string() : std::string(name), MappingKind::segment,
                   MapFlags::shared_mem | MapFlags::exclusive) {
  memory::check_size("create", filename_, std::max(bytes, options.capacity), segment_header_bytes);
  if (how == Make::anonymous) {
    make(bytes, options);
    return;
  }
  if (options.lifetime == Lifetime::anonymous) {
    throw ValueError("create: expected a lifetime for a name, got anonymous");
  }
  const bool is_random = name.empty();
  for (int tries = 0; tries < (is_random ? 8 : 1); ++tries) {
    filename_ = memory::segment_name(is_random ? new_shm_handle() : std::string(name));
    mapping_.path = memory::shm_path(filename_);
    if (make_named(bytes, options)) return;
  }
  memory::throw_map_error({"create", mapping_.path, bytes}, "linkat", EEXIST);
}

RefcountedMapAllocator::RefcountedMapAllocator(Make /*how*/, std::string_view name,
                                               const AttachOptions& options)
    : MapAllocator(memory::segment_name(name), MappingKind::segment,
                   MapFlags::shared_mem | MapFlags::no_create |
                       (options.read_only ? MapFlags::read_only : MapFlags::none)) {
  if (options.bytes) {
    memory::check_size("attach", filename_, *options.bytes, segment_header_bytes);
  }
  mapping_.path = memory::shm_path(filename_);
  attach_to_name(options);
}

RefcountedMapAllocator::RefcountedMapAllocator(Make /*how*/, std::string_view name, Fd fd,
                                               const AttachOptions& options)
    : MapAllocator(name.empty() ? std::string() : memory::segment_name(name), MappingKind::segment,
                   MapFlags::shared_mem | MapFlags::no_create | MapFlags::from_fd |
                       (options.read_only ? MapFlags::read_only : MapFlags::none)) {
  if (!fd) throw ValueError("attach: expected an open descriptor, got {}", fd.get());
  if (!filename_.empty()) mapping_.path = memory::shm_path(filename_);
  const MapError::Context context{"attach", mapping_.path};
  memory::lock_shared(context, fd.get(), options.timeout);
  memory::withdraw(fd.get());  // it counted by itself while it travelled
  struct stat info{};
  if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  attach_to(std::move(fd), info, options);
}

RefcountedMapAllocator RefcountedMapAllocator::create(std::string_view name, std::size_t bytes,
                                                      const SegmentOptions& options) {
  return {Make::create, name, bytes, options};
}

RefcountedMapAllocator RefcountedMapAllocator::attach(std::string_view name,
                                                      const AttachOptions& options) {
  return {Make::attach, name, options};
}

RefcountedMapAllocator RefcountedMapAllocator::anonymous(std::size_t bytes,
                                                         const SegmentOptions& options) {
  return {Make::anonymous, {}, bytes, options};
}

RefcountedMapAllocator::~RefcountedMapAllocator() { detach(); }

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
  memory::write_header(header_of(region_), bytes, capacity, options.lifetime, options.label);
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
  for (;;) {
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
  region_ = memory::MappedRegion(context, fd, whole, !options.read_only, true);
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

void RefcountedMapAllocator::count_references() {
  if (slot_ >= 0) {
    header_of(region_).slots[slot_].references = static_cast<std::uint32_t>(references_.size());
  }
}

void RefcountedMapAllocator::incref() {
  references_.emplace_back(descriptor());
  count_references();
}

int RefcountedMapAllocator::decref() {
  check_open("decref");
  if (references_.empty()) throw StateError("decref: expected an incref before, got none");
  references_.pop_back();
  count_references();
  return references_.empty() ? 1 : 0;
}

int RefcountedMapAllocator::descriptor() const {
  check_open("descriptor");
  const MapError::Context context{"descriptor", mapping_.path};
  Fd fd = reopen("descriptor", !mapping_.is_read_only);
  if (fd_) {
    // A copy would share its locks with ours.
    const std::string again = fmt::format("/proc/self/fd/{}", fd.get());
    Fd own(sys::open(again.c_str(), mapping_.is_read_only ? O_RDONLY : O_RDWR));
    if (!own) own = Fd(sys::open(again.c_str(), O_RDONLY));
    if (own) fd = std::move(own);
  }
  memory::lock_shared(context, fd.get(), std::chrono::seconds(1));
  memory::announce(fd.get(), false);
  return fd.release();
}

std::size_t RefcountedMapAllocator::attachments() const {
  const Fd fd = reopen("attachments", false);
  if (!fd_) return memory::count_announced(fd.get());
  // Our own locks do not show on our own description.
  const std::string again = fmt::format("/proc/self/fd/{}", fd.get());
  const Fd other(sys::open(again.c_str(), O_RDONLY));
  return other ? memory::count_announced(other.get()) : memory::count_announced(fd.get()) + 1;
}

SegmentInfo RefcountedMapAllocator::info() const {
  const Fd fd = reopen("info", false);
  SegmentInfo info = memory::segment_info("info", mapping_.path, fd.get());
  info.name = filename_;
  info.attachments = attachments();
  return info;
}

void RefcountedMapAllocator::grow(std::size_t bytes) {
  check_open("grow");
  memory::check_size("grow", mapping_.path, bytes, segment_header_bytes);
  MapError::Context context{"grow", mapping_.path, bytes, size()};
  if (mapping_.is_read_only) {
    throw StateError("grow: expected a segment attached for writing, got a read-only one");
  }
  const Fd fd = reopen("grow", true);
  const memory::SegmentGuard guard(fd.get(), memory::SegmentGuard::Purpose::grow,
                                   std::chrono::seconds(10));
  if (!guard.is_held()) memory::throw_map_error(context, "fcntl", EBUSY);
  SegmentHeader& header = header_of(region_);
  struct stat info{};
  if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  const std::uint64_t present = std::atomic_ref(header.data_bytes).load();
  if (bytes < size() || bytes < present) {
    context.actual = present;
    throw MapError(MapError::Kind::size_mismatch, EINVAL, context,
                   "grow: expected at least the present {} bytes, got {} for \"{}\"", present,
                   bytes, mapping_.path);
  }
  const std::size_t whole = segment_header_bytes + bytes;
  const auto file_bytes = static_cast<std::size_t>(info.st_size);
  if (whole > file_bytes) memory::grow_file(context, fd.get(), file_bytes, whole, false);
  const std::size_t mapped = std::max(whole, file_bytes);
  if (mapped > region_.bytes()) {
    remap("grow", fd.get(), mapped, mapped - segment_header_bytes);
  }
  mapping_.bytes = bytes;
  // Readers look at the generation first, at the sizes then.
  SegmentHeader& larger = header_of(region_);
  std::atomic_ref(larger.capacity).store(mapped - segment_header_bytes);
  std::atomic_ref(larger.data_bytes).store(bytes);
  if (bytes > present) generation_ = std::atomic_ref(larger.generation).fetch_add(1) + 1;
}

bool RefcountedMapAllocator::refresh() {
  check_open("refresh");
  if (std::atomic_ref(header_of(region_).generation).load() == generation_) return false;
  const Fd fd = reopen("refresh", !mapping_.is_read_only);
  struct stat info{};
  const MapError::Context context{"refresh", mapping_.path};
  if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  const auto whole = static_cast<std::size_t>(info.st_size);
  memory::SegmentFields fields;
  const std::string fault =
      memory::read_header({region_.data(), segment_header_bytes}, whole, fields);
  if (!fault.empty()) {
    throw MapError(MapError::Kind::bad_header, EBADMSG, context, "refresh: {} in \"{}\"", fault,
                   mapping_.path);
  }
  const std::size_t before = size();
  const bool is_larger = fields.bytes > before;
  if (whole > region_.bytes()) remap("refresh", fd.get(), whole, whole - segment_header_bytes);
  mapping_.bytes = std::max(before, fields.bytes);
  generation_ = fields.generation;
  return is_larger;
}

int RefcountedMapAllocator::detach() noexcept {
  if (is_closed_) return 0;
  references_.clear();
  const int number = unmap_all();
  if (mapping_.lifetime != Lifetime::last_detach || mapping_.path.empty()) return number;
  const memory::Identity identity{device_, inode_};
  const bool is_failed = memory::remove_name(mapping_.path, &identity) == memory::Removal::failed;
  return is_failed && number == 0 ? errno : number;
}

void RefcountedMapAllocator::close() {
  const int number = detach();
  if (number != 0) memory::throw_map_error({"close", mapping_.path}, "close", number);
}

DataPtr RefcountedMapAllocator::makeDataPtr(std::string_view name, MapFlags flags,
                                            std::size_t bytes, std::size_t* actual_size_out) {
  auto allocator = std::make_shared<RefcountedMapAllocator>(name, flags, bytes);
  return allocator->data_ptr(allocator, actual_size_out);
}

DataPtr RefcountedMapAllocator::makeDataPtr(WithFd tag, std::string_view name, int fd,
                                            MapFlags flags, Size bytes,
                                            std::size_t* actual_size_out) {
  auto allocator = std::make_shared<RefcountedMapAllocator>(tag, name, fd, flags, bytes);
  return allocator->data_ptr(allocator, actual_size_out);
}

RefcountedMapAllocator* RefcountedMapAllocator::fromDataPtr(const DataPtr& data) noexcept {
  MapAllocator* const allocator = MapAllocator::fromDataPtr(data);
  const bool is_segment =
      allocator != nullptr && allocator->mapping()->kind == MappingKind::segment;
  return is_segment ? static_cast<RefcountedMapAllocator*>(allocator) : nullptr;
}

}  // namespace loup
