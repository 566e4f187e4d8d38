#include "loup/memory/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace loup::memory {

namespace {

constexpr mode_t private_mode = 0600;

int open_flags(MapFlags flags) {
  const bool writes =
      has(flags, MapFlags::shared | MapFlags::shared_mem) && !has(flags, MapFlags::read_only);
  // Without O_NONBLOCK a pipe would wait for its other end.
  int result = (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY;
  if (has(flags, MapFlags::shared_mem)) result |= O_NOFOLLOW;
  return result;
}

bool may_create(MapFlags flags) {
  return has(flags, MapFlags::shared | MapFlags::shared_mem) &&
         !has(flags, MapFlags::no_create | MapFlags::read_only);
}

const char* purpose(MapFlags flags) {
  return (open_flags(flags) & O_ACCMODE) == O_RDWR ? "open it for reading and writing"
                                                   : "open it for reading";
}

/// Two steps, so that we know whether the file is ours to remove when something fails later.
MappedFile open_or_create(const std::string& path, MapFlags flags) {
  MappedFile file;
  for (;;) {
    if (!has(flags, MapFlags::exclusive)) {
      file.fd = Fd(sys::open(path.c_str(), open_flags(flags)));
      if (file.fd) return file;
      if (errno != ENOENT || !may_create(flags)) break;
    }
    file.fd = Fd(sys::open(path.c_str(), open_flags(flags) | O_CREAT | O_EXCL, private_mode));
    file.is_new = static_cast<bool>(file.fd);
    if (file.fd) return file;
    if (errno != EEXIST || has(flags, MapFlags::exclusive)) break;
    // A symbolic link to nothing exists and does not: do not try for ever.
    struct stat info{};
    if (sys::stat(path.c_str(), info) == 0 && S_ISLNK(info.st_mode)) {
      errno = ELOOP;
      break;
    }
  }
  throw_map_error({"map", path}, purpose(flags), errno);
}

void check_limit(const MapError::Context& context, std::size_t bytes) {
  // The system would send a signal that ends the process.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes > limit.rlim_cur) {
    throw_map_error(context, "ftruncate", EFBIG);
  }
}

/// 0 or an errno. EOPNOTSUPP when the file system cannot reserve.
int reserve(int fd, std::size_t from, std::size_t to) {
  // Steps bound the work that a signal undoes on older systems; they shrink when signals are
  // frequent.
  constexpr std::size_t smallest = std::size_t{1} << 20;
  std::size_t step = std::size_t{256} << 20;
  while (from < to) {
    const std::size_t bytes = std::min(step, to - from);
    if (sys::fallocate(fd, from, bytes) == 0) {
      from += bytes;
    } else if (errno == EINTR) {
      step = std::max(step / 2, smallest);
    } else {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void check_regular(const MapError::Context& context, const struct stat& info) {
  if (S_ISREG(info.st_mode)) return;
  const char* const what = S_ISDIR(info.st_mode)    ? "a directory"
                           : S_ISFIFO(info.st_mode) ? "a pipe"
                           : S_ISLNK(info.st_mode)  ? "a symbolic link"
                           : S_ISSOCK(info.st_mode) ? "a socket"
                                                    : "a device";
  throw MapError(MapError::Kind::not_regular, S_ISDIR(info.st_mode) ? EISDIR : ENODEV, context,
                 "{}: expected a regular file, got {} \"{}\"", context.operation, what,
                 context.path);
}

void check_owner(const MapError::Context& context, const struct stat& info) {
  const bool is_ours = info.st_uid == geteuid();
  if (is_ours && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return;
  throw MapError(
      MapError::Kind::permission_denied, EPERM, context,
      "{}: expected a segment of user {} that nobody else may write, got \"{}\" of user {} with "
      "mode {:04o}; allow_foreign accepts it",
      context.operation, geteuid(), context.path, info.st_uid, info.st_mode & 07777U);
}

MappedFile open_file(const std::string& path, MapFlags flags) {
  MappedFile file = open_or_create(path, flags);
  const MapError::Context context{"map", path};
  try {
    if (sys::fstat(file.fd.get(), file.info) != 0) throw_map_error(context, "fstat", errno);
    check_regular(context, file.info);
    if (has(flags, MapFlags::shared_mem) && !has(flags, MapFlags::allow_foreign)) {
      check_owner(context, file.info);
    }
  } catch (...) {
    if (file.is_new) sys::unlink(path.c_str());
    throw;
  }
  return file;
}

MappedFile take_descriptor(const std::string& path, int fd) {
  const MapError::Context context{"map", path};
  MappedFile file;
  file.fd = Fd(fd);
  if (sys::fstat(fd, file.info) != 0) {
    const int number = errno;
    if (number == EBADF) file.fd.release();
    throw_map_error(context, "fstat", number);
  }
  check_regular(context, file.info);
  return file;
}

void grow_file(const MapError::Context& context, int fd, std::size_t from, std::size_t to,
               bool sparse) {
  check_limit(context, to);
  const int number = sparse ? 0 : reserve(fd, from, to);
  if (number != 0 && number != EOPNOTSUPP && number != ENOSYS) {
    struct stat info{};
    // Truncating to the same size gives back what was reserved behind the end.
    if (sys::fstat(fd, info) == 0) sys::ftruncate(fd, static_cast<std::size_t>(info.st_size));
    throw_map_error(context, "fallocate", number);
  }
  if (sys::ftruncate(fd, to) != 0) throw_map_error(context, "ftruncate", errno);
}

bool is_reserved(const struct stat& info) {
  constexpr blkcnt_t block = 512;
  return info.st_blocks * block >= info.st_size;
}

}  // namespace loup::memory
