#include "loup/memory/system.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace loup::memory {

SystemHook system_hook = nullptr;

namespace {

bool is_made_to_fail(const char* name) {
  if (system_hook == nullptr) [[likely]] {
    return false;
  }
  const int number = system_hook(name);
  if (number != 0) errno = number;
  return number != 0;
}

template <class Call>
auto attempt(const char* name, const Call& call) {
  for (;;) {
    const auto result = is_made_to_fail(name) ? static_cast<decltype(call())>(-1) : call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace

void Fd::reset() noexcept {
  if (fd_ < 0) return;
  const int before = errno;
  is_made_to_fail("close");
  // Never repeated: the descriptor is gone even when close says that it was interrupted.
  ::close(std::exchange(fd_, -1));
  errno = before;
}

namespace sys {

int open(const char* path, int flags, mode_t mode) {
  return attempt("open", [&] { return ::open(path, flags | O_CLOEXEC, mode); });
}
int fstat(int fd, struct stat& info) {
  return attempt("fstat", [&] { return ::fstat(fd, &info); });
}
int stat(const char* path, struct stat& info) {
  return attempt("stat", [&] { return ::lstat(path, &info); });
}
int ftruncate(int fd, std::size_t bytes) {
  return attempt("ftruncate", [&] { return ::ftruncate(fd, static_cast<off_t>(bytes)); });
}
int fallocate(int fd, std::size_t offset, std::size_t bytes) {
  // Not repeated here: the caller makes the pieces smaller.
  if (is_made_to_fail("fallocate")) return -1;
  return ::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes));
}
int fsync(int fd) {
  return attempt("fsync", [&] { return ::fsync(fd); });
}
void* map(int fd, std::size_t bytes, int protection, int flags) {
  void* data = nullptr;
  const auto call = [&] {
    data = ::mmap(nullptr, bytes, protection, flags, fd, 0);
    return data == MAP_FAILED ? -1 : 0;
  };
  return attempt("mmap", call) == 0 ? data : nullptr;
}
int remap_in_place(void* data, std::size_t bytes, std::size_t new_bytes) {
  if (is_made_to_fail("mremap")) return -1;
  return ::mremap(data, bytes, new_bytes, 0) == MAP_FAILED ? -1 : 0;
}
int unmap(void* data, std::size_t bytes) {
  return attempt("munmap", [&] { return ::munmap(data, bytes); });
}
int sync(void* data, std::size_t bytes, int flags) {
  return attempt("msync", [&] { return ::msync(data, bytes, flags); });
}
int advise(void* data, std::size_t bytes, int advice) {
  return attempt("madvise", [&] { return ::madvise(data, bytes, advice); });
}
int flock(int fd, int operation) {
  return attempt("flock", [&] { return ::flock(fd, operation); });
}
int lock_bytes(int fd, off_t first, off_t count, short type) {
  return attempt("fcntl", [&] {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = first;
    lock.l_len = count;
    return ::fcntl(fd, F_OFD_SETLK, &lock);
  });
}
off_t find_locked(int fd, off_t first, off_t last) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = last - first;
  if (attempt("fcntl", [&] { return ::fcntl(fd, F_OFD_GETLK, &lock); }) != 0) return -1;
  return lock.l_type == F_UNLCK ? -1 : lock.l_start;
}
int link(int fd, const char* path) {
  char from[32];
  *fmt::format_to_n(from, sizeof from - 1, "/proc/self/fd/{}", fd).out = '\0';
  return attempt("linkat",
                 [&] { return ::linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW); });
}
int link(const char* from, const char* path) {
  return attempt("linkat", [&] { return ::linkat(AT_FDCWD, from, AT_FDCWD, path, 0); });
}
int unlink(const char* path) {
  return attempt("unlink", [&] { return ::unlink(path); });
}
int rename(const char* from, const char* to) {
  return attempt("rename", [&] { return ::rename(from, to); });
}
int chmod(int fd, mode_t mode) {
  return attempt("fchmod", [&] { return ::fchmod(fd, mode); });
}
ssize_t read_at(int fd, void* data, std::size_t bytes, std::size_t offset) {
  return attempt("pread", [&] { return ::pread(fd, data, bytes, static_cast<off_t>(offset)); });
}
ssize_t write_at(int fd, const void* data, std::size_t bytes, std::size_t offset) {
  return attempt("pwrite", [&] { return ::pwrite(fd, data, bytes, static_cast<off_t>(offset)); });
}
int memfd(const char* name, unsigned flags) {
  return attempt("memfd_create", [&] { return ::memfd_create(name, flags | MFD_CLOEXEC); });
}
int fcntl(int fd, int command, int argument) {
  return attempt("fcntl", [&] { return ::fcntl(fd, command, argument); });
}
ssize_t send(int socket, const msghdr& message) {
  return attempt("sendmsg", [&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL); });
}
ssize_t receive(int socket, msghdr& message) {
  return attempt("recvmsg", [&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
}
int random(void* data, std::size_t bytes) {
  return attempt("getrandom", [&] {
    return ::getrandom(data, bytes, 0) == static_cast<ssize_t>(bytes) ? 0 : -1;
  });
}

}  // namespace sys

}  // namespace loup::memory
