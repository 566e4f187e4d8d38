#include "loup/io/atomic_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "loup/base/error.h"

namespace loup::io {

namespace {

/// The kernel cuts longer writes anyway.
constexpr std::size_t largest_write = 1U << 30U;
constexpr int most_tries = 8;
constexpr mode_t permission_bits = 07777;

template <class Call>
auto retried(const Call& call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

std::string link_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

/// What a path of symbolic links leads to, so that the links stay.
std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, Temporary temporary)
    : path_(path.string()) {
  const std::filesystem::path target = target_of(path);
  target_ = target.string();
  folder_ = target.has_parent_path() ? target.parent_path().string() : ".";
  struct stat old{};
  if (stat(target_.c_str(), &old) == 0) {
    if (!S_ISREG(old.st_mode)) {
      throw IoError(S_ISDIR(old.st_mode) ? EISDIR : EINVAL, path_,
                    "save: expected a regular file or none at \"{}\", got something else", path_);
    }
    is_replacing_ = true;
    mode_ = old.st_mode & permission_bits;
  } else if (errno != ENOENT) {
    fail("stat");
  }
  // Secrets of the old file are not shown to others while the new one is written.
  const mode_t mode = is_replacing_ ? 0600 : 0666;
  if (temporary == Temporary::nameless_if_possible) open_nameless(mode);
  if (fd_ < 0) open_named(mode);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* call) const {
  const int number = errno;
  throw IoError(number, path_, "save: expected to write \"{}\", got {} (errno {}) from {}", path_,
                std::generic_category().message(number), number, call);
}

void AtomicFile::open_nameless(mode_t mode) {
  // The name is given through /proc, so that must be there.
  fd_ = retried([&] { return open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode); });
  if (fd_ >= 0 && access(link_of(fd_).c_str(), F_OK) != 0) {
    close(fd_);
    fd_ = -1;
  }
}

std::string AtomicFile::new_name() const {
  std::random_device random;
  const std::string name = std::filesystem::path(target_).filename().string();
  constexpr std::size_t longest = 200;  // of 255, so that ours fits around it
  return fmt::format("{}/.{}.{:08x}{:08x}.tmp", folder_, name.substr(0, longest), random(),
                     random());
}

void AtomicFile::open_named(mode_t mode) {
  for (int i = 0; i < most_tries; ++i) {
    temporary_ = new_name();
    fd_ = retried([&] {
      return open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode);
    });
    if (fd_ >= 0) return;
    temporary_.clear();
    if (errno != EEXIST) break;
  }
  fail("open");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t step = std::min(bytes.size(), largest_write);
    const ssize_t written =
        retried([&] { return pwrite(fd_, bytes.data(), step, static_cast<off_t>(offset)); });
    if (written < 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::give_name() {
  const std::string from = link_of(fd_);
  for (int i = 0; i < most_tries; ++i) {
    std::string name = new_name();
    if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail("linkat");
}

void AtomicFile::commit() {
  if (is_replacing_ && fchmod(fd_, mode_) != 0) fail("fchmod");
  if (retried([&] { return fsync(fd_); }) != 0) fail("fsync");
  if (temporary_.empty()) give_name();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename");
  temporary_.clear();
  // The new file is there already: what close could say was said by fsync.
  close(fd_);
  fd_ = -1;
  sync_folder();
}

void AtomicFile::sync_folder() const {
  const int fd = retried([&] { return open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  // A folder that may be written to but not be read cannot be synchronised; nor can every file
  // system do it.
  if (fd < 0) return;
  const int status = retried([&] { return fsync(fd); });
  const int number = errno;
  close(fd);
  errno = number;
  if (status != 0 && number != EINVAL && number != EROFS) fail("fsync of the folder");
}

}  // namespace loup::io
