#include "loup/memory/map_allocator.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "loup/memory/mapped_file.h"

namespace loup {

namespace {

/// Its address differs between copies of the library.
constexpr char library_tag = 0;

struct FlagRule {
  MapFlags flag;
  MapFlags needs;     // one of these
  MapFlags excludes;  // all of these
};

constexpr FlagRule flag_rules[] = {
    {MapFlags::shared, {}, MapFlags::shared_mem},
    {MapFlags::exclusive, MapFlags::shared | MapFlags::shared_mem,
     MapFlags::no_create | MapFlags::from_fd | MapFlags::read_only},
    {MapFlags::unlink, MapFlags::exclusive, MapFlags::from_fd},
    {MapFlags::read_only, {}, MapFlags::sparse},
};

void check_flags(MapFlags flags) {
  for (const FlagRule& rule : flag_rules) {
    if (!has(flags, rule.flag)) continue;
    if (rule.needs != MapFlags::none && !has(flags, rule.needs)) {
      throw ValueError("map: expected {} together with {}, got {}", to_string(rule.flag),
                       to_string(rule.needs), to_string(flags));
    }
    if (has(flags, rule.excludes)) {
      throw ValueError("map: expected {} without {}, got {}", to_string(rule.flag),
                       to_string(rule.excludes), to_string(flags));
    }
  }
}

bool is_writable(MapFlags flags) { return !has(flags, MapFlags::read_only); }
bool is_shared(MapFlags flags) { return has(flags, MapFlags::shared | MapFlags::shared_mem); }

}  // namespace

MapAllocator::MapAllocator(std::string_view filename, MappingKind kind, MapFlags flags)
    : filename_(filename) {
  mapping_.kind = kind;
  mapping_.flags = flags;
  mapping_.is_read_only = !is_writable(flags);
  mapping_.is_shared = is_shared(flags);
  mapping_.library = &library_tag;
}

MapAllocator::MapAllocator(const std::filesystem::path& path, MapFlags flags, Size size)
    : MapAllocator(path.string(),
                   has(flags, MapFlags::shared_mem) ? MappingKind::memory : MappingKind::file,
                   flags) {
  if (has(flags, MapFlags::from_fd)) {
    throw ValueError("map: expected from_fd together with a descriptor, got \"{}\"", filename_);
  }
  check_flags(flags);
  if (size) memory::check_size("map", filename_, *size);
  mapping_.path = has(flags, MapFlags::shared_mem) ? memory::shm_path(filename_) : filename_;
  map_file(memory::open_file(mapping_.path, flags), size);
}

MapAllocator::MapAllocator(WithFd /*tag*/, std::string_view filename, int fd, MapFlags flags,
                           Size size)
    : MapAllocator(filename,
                   has(flags, MapFlags::shared_mem) ? MappingKind::memory : MappingKind::file,
                   flags | MapFlags::from_fd) {
  if (fd < 0) throw ValueError("map: expected an open descriptor, got {}", fd);
  check_flags(mapping_.flags);
  memory::Fd owned(fd);
  if (size) memory::check_size("map", filename_, *size);
  mapping_.path = filename;
  map_file(memory::take_descriptor(filename_, owned.release()), size);
}

MapAllocator::~MapAllocator() { close_once(); }

void MapAllocator::map_file(memory::MappedFile file, Size size) {
  const MapFlags flags = mapping_.flags;
  const std::size_t wanted = size.value_or(file.bytes());
  const MapError::Context context{"map", mapping_.path, wanted, file.bytes()};
  try {
    if (wanted > file.bytes()) {
      if (!is_shared(flags) || has(flags, MapFlags::no_create | MapFlags::read_only)) {
        throw MapError(MapError::Kind::size_mismatch, EINVAL, context,
                       "map: expected a file of at least {} bytes, got \"{}\" of {} bytes", wanted,
                       mapping_.path, file.bytes());
      }
      memory::grow_file(context, file.fd.get(), file.bytes(), wanted, has(flags, MapFlags::sparse));
      if (memory::sys::fstat(file.fd.get(), file.info) != 0) {
        memory::throw_map_error(context, "fstat", errno);
      }
    }
    region_ =
        memory::MappedRegion(context, file.fd.get(), wanted, is_writable(flags), is_shared(flags));
    if (has(flags, MapFlags::populate) &&
        region_.advise(Advice::populate, 0, wanted) == AdviceResult::no_space) {
      memory::throw_map_error(context, "madvise", ENOSPC);
    }
    if (has(flags, MapFlags::unlink) && memory::sys::unlink(mapping_.path.c_str()) != 0) {
      memory::throw_map_error(context, "unlink", errno);
    }
  } catch (...) {
    if (file.is_new) memory::sys::unlink(mapping_.path.c_str());
    throw;
  }
  data_ = region_.data();
  mapping_.bytes = wanted;
  device_ = file.info.st_dev;
  inode_ = file.info.st_ino;
  is_reserved_ = memory::is_reserved(file.info);
  if (has(flags, MapFlags::unlink)) {
    mapping_.path.clear();
  } else if (file.is_new && has(flags, MapFlags::shared_mem)) {
    creator_ = getpid();
  }
  if (has(flags, MapFlags::keep_fd)) fd_ = std::move(file.fd);
}

std::span<std::byte> MapAllocator::bytes() const {
  check_open("bytes");
  return {data_, mapping_.bytes};
}

void MapAllocator::check_open(const char* operation) const {
  if (is_closed_) {
    throw StateError("{}: expected an open mapping, got \"{}\" after close", operation, filename_);
  }
}

void MapAllocator::sync(std::size_t offset, std::size_t bytes, bool async) const {
  check_open("sync");
  if (offset > size() || (bytes != npos && bytes > size() - offset)) {
    throw IndexError("sync: expected a range inside of {} bytes, got {} bytes at {}", size(), bytes,
                     offset);
  }
  const std::size_t length = bytes == npos ? size() - offset : bytes;
  const auto header = static_cast<std::size_t>(data_ - region_.data());
  const int number = region_.sync(header + offset, length, async);
  if (number != 0) memory::throw_map_error({"sync", mapping_.path, length}, "msync", number);
}

AdviceResult MapAllocator::advise(Advice advice, std::size_t offset,
                                  std::size_t bytes) const noexcept {
  if (is_closed_ || offset > size()) return AdviceResult::unsupported;
  const auto header = static_cast<std::size_t>(data_ - region_.data());
  return region_.advise(advice, header + offset, std::min(bytes, size() - offset));
}

bool MapAllocator::verify() const noexcept { return !is_closed_ && region_.is_backed(); }

memory::Fd MapAllocator::reopen(const char* operation, bool writes) const {
  check_open(operation);
  const MapError::Context context{operation, mapping_.path};
  if (fd_) {
    memory::Fd copy(memory::sys::fcntl(fd_.get(), F_DUPFD_CLOEXEC));
    if (!copy) memory::throw_map_error(context, "dup", errno);
    return copy;
  }
  if (mapping_.path.empty()) {
    throw StateError("{}: expected memory with a name or a descriptor, got neither; use keep_fd",
                     operation);
  }
  memory::Fd fd(memory::sys::open(mapping_.path.c_str(),
                                  (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!fd || memory::sys::fstat(fd.get(), info) != 0) {
    memory::throw_map_error(context, "open it again", errno);
  }
  if (info.st_dev != device_ || info.st_ino != inode_) {
    throw MapError(MapError::Kind::not_found, ENOENT, context,
                   "{}: expected the mapped file at its name, got another one as \"{}\"", operation,
                   mapping_.path);
  }
  return fd;
}

int MapAllocator::descriptor() const {
  return reopen("descriptor", mapping_.is_shared && !mapping_.is_read_only).release();
}

void MapAllocator::remap(const char* operation, int fd, std::size_t mapped, std::size_t bytes) {
  const std::size_t header = mapped - bytes;
  if (!region_.extend(mapped)) {
    memory::MappedRegion larger({operation, mapping_.path, mapped}, fd, mapped,
                                is_writable(mapping_.flags), mapping_.is_shared);
    outgrown_.push_back(std::move(region_));
    region_ = std::move(larger);
  }
  data_ = region_.data() + header;
  mapping_.bytes = bytes;
}

void MapAllocator::grow(std::size_t bytes) {
  check_open("grow");
  memory::check_size("grow", mapping_.path, bytes);
  const MapError::Context context{"grow", mapping_.path, bytes, size()};
  if (!mapping_.is_shared || mapping_.is_read_only || has(flags(), MapFlags::no_create)) {
    throw StateError("grow: expected shared, writable memory that may grow, got flags {}",
                     to_string(flags()));
  }
  if (bytes < size()) {
    throw MapError(MapError::Kind::size_mismatch, EINVAL, context,
                   "grow: expected at least the present {} bytes, got {} for \"{}\"", size(), bytes,
                   mapping_.path);
  }
  const memory::Fd fd = reopen("grow", true);
  struct stat info{};
  if (memory::sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  const auto present = static_cast<std::size_t>(info.st_size);
  if (bytes > present) {
    memory::grow_file(context, fd.get(), present, bytes, has(flags(), MapFlags::sparse));
  }
  if (bytes > size()) remap("grow", fd.get(), bytes, bytes);
}

bool MapAllocator::refresh() {
  const memory::Fd fd = reopen("refresh", !mapping_.is_read_only && mapping_.is_shared);
  struct stat info{};
  if (memory::sys::fstat(fd.get(), info) != 0) {
    memory::throw_map_error({"refresh", mapping_.path}, "fstat", errno);
  }
  const auto present = static_cast<std::size_t>(info.st_size);
  if (present <= size()) return false;
  remap("refresh", fd.get(), present, present);
  return true;
}

int MapAllocator::unmap_all() noexcept {
  is_closed_ = true;
  data_ = nullptr;
  int number = region_.unmap();
  for (memory::MappedRegion& region : outgrown_) {
    const int another = region.unmap();
    if (number == 0) number = another;
  }
  outgrown_.clear();
  fd_.reset();
  return number;
}

int MapAllocator::close_once() noexcept {
  if (is_closed_) return 0;
  const int number = unmap_all();
  // A child of fork has the object, too, but the name is the parent's to remove.
  if (creator_ != getpid()) return number;
  struct stat info{};
  const char* const path = mapping_.path.c_str();
  const bool is_there =
      memory::sys::stat(path, info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  if (is_there && memory::sys::unlink(path) != 0 && errno != ENOENT && number == 0) return errno;
  return number;
}

void MapAllocator::close() {
  const int number = close_once();
  if (number != 0) memory::throw_map_error({"close", mapping_.path}, "close", number);
}

void MapAllocator::close(std::error_code& error) noexcept {
  error.clear();
  try {
    close();
  } catch (const IoError& failed) {
    error = failed.code();
  } catch (...) {
    error = std::make_error_code(std::errc::not_enough_memory);
  }
}

DataPtr MapAllocator::data_ptr(std::shared_ptr<MemoryContext> self,
                               std::size_t* actual_size_out) const {
  if (actual_size_out != nullptr) *actual_size_out = size();
  return {data(), size(), std::move(self), is_writable(flags())};
}

DataPtr MapAllocator::makeDataPtr(const std::filesystem::path& path, MapFlags flags, Size size,
                                  std::size_t* actual_size_out) {
  auto allocator = std::make_shared<MapAllocator>(path, flags, size);
  return allocator->data_ptr(allocator, actual_size_out);
}

DataPtr MapAllocator::makeDataPtr(WithFd tag, std::string_view filename, int fd, MapFlags flags,
                                  Size size, std::size_t* actual_size_out) {
  auto allocator = std::make_shared<MapAllocator>(tag, filename, fd, flags, size);
  return allocator->data_ptr(allocator, actual_size_out);
}

MapAllocator* MapAllocator::fromDataPtr(const DataPtr& data) noexcept {
  const Mapping* const mapping = data.owner ? data.owner->mapping() : nullptr;
  if (mapping == nullptr || mapping->library != &library_tag) return nullptr;
  return static_cast<MapAllocator*>(data.owner.get());
}

}  // namespace loup
