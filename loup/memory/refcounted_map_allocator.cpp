#include "loup/memory/refcounted_map_allocator.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "loup/memory/segment_header.h"
#include "loup/memory/segment_info.h"
#include "loup/memory/segment_lock.h"

namespace loup {

using memory::Fd;
using memory::segment_header_bytes;
using memory::SegmentHeader;
namespace sys = memory::sys;

namespace {

void check_segment_flags(MapFlags flags) {
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

/// Of memory that its creator shares for reading only.
bool is_sealed_against_writing(int fd) {
  constexpr int future_write = 0x10;  // F_SEAL_FUTURE_WRITE; older headers lack it
  const int seals = fd < 0 ? -1 : sys::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & (future_write | F_SEAL_WRITE)) != 0;
}

SegmentOptions segment_options(MapFlags flags) {
  return {.populate = has(flags, MapFlags::populate)};
}

}  // namespace

RefcountedMapAllocator::RefcountedMapAllocator(std::string_view name, MapFlags flags,
                                               std::size_t bytes)
    : MapAllocator(memory::segment_name(name), MappingKind::segment, flags) {
  check_segment_flags(flags);
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
    : MapAllocator(
          name.empty() ? std::string() : memory::segment_name(name), MappingKind::segment,
          MapFlags::shared_mem | MapFlags::no_create | MapFlags::from_fd |
              (options.read_only || is_sealed_against_writing(fd.get()) ? MapFlags::read_only
                                                                        : MapFlags::none)) {
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

SegmentHeader& RefcountedMapAllocator::header() const {
  return *reinterpret_cast<SegmentHeader*>(region_.data());
}

void RefcountedMapAllocator::count_references() {
  if (slot_ >= 0) {
    header().slots[slot_].references = static_cast<std::uint32_t>(references_.size());
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
