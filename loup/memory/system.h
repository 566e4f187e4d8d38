#pragma once

#include <cstddef>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

// The system calls behind mapped memory, in one place: interrupted ones are repeated, and the tests
// can make each of them fail or end the process there.

struct msghdr;  // NOLINT(readability-identifier-naming): the system's

namespace loup::memory {

/// Asked before every system call, by name, when there is one: the errno with which the call is to
/// fail, or 0. For tests.
using SystemHook = int (*)(const char* call);
extern SystemHook system_hook;

/// An owned descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() noexcept;
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// As the system's: −1 (null for map) and errno when they fail.
namespace sys {

int open(const char* path, int flags, mode_t mode = 0);
int fstat(int fd, struct stat& info);
int stat(const char* path, struct stat& info);
int ftruncate(int fd, std::size_t bytes);
/// Reserves without changing the size of the file.
int fallocate(int fd, std::size_t offset, std::size_t bytes);
int fsync(int fd);
void* map(int fd, std::size_t bytes, int protection, int flags);
int remap_in_place(void* data, std::size_t bytes, std::size_t new_bytes);
int unmap(void* data, std::size_t bytes);
int sync(void* data, std::size_t bytes, int flags);
int advise(void* data, std::size_t bytes, int advice);
int flock(int fd, int operation);
/// A lock of the open file description; `type` as in struct flock.
int lock_bytes(int fd, off_t first, off_t count, short type);
/// A byte in [first, last) that another description has locked, any of them; −1 when there is none.
off_t find_locked(int fd, off_t first, off_t last);
int link(int fd, const char* path);
int link(const char* from, const char* path);
int unlink(const char* path);
int rename(const char* from, const char* to);
int chmod(int fd, mode_t mode);
ssize_t read_at(int fd, void* data, std::size_t bytes, std::size_t offset);
ssize_t write_at(int fd, const void* data, std::size_t bytes, std::size_t offset);
int memfd(const char* name, unsigned flags);
int fcntl(int fd, int command, int argument = 0);
ssize_t send(int socket, const msghdr& message);
ssize_t receive(int socket, msghdr& message);
int random(void* data, std::size_t bytes);

}  // namespace sys

}  // namespace loup::memory
