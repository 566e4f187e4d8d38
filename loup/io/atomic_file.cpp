#include "loup/io/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "loup/base/error.h"

namespace loup::io {

using memory::Fd;
namespace sys = memory::sys;

namespace {

/// The kernel cuts longer writes anyway.
constexpr std::size_t largest_write = 1U << 30U;
constexpr int most_tries = 8;
constexpr mode_t permission_bits = 07777;

/// What a path of symbolic links leads to, so that the links stay; also when that does not exist.
std::filesystem::path target_of(std::filesystem::path path) {
  constexpr int most_links = 40;  // as the system allows
  std::error_code error;
  for (int i = 0; i < most_links && std::filesystem::is_symlink(path, error); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

/// Beyond the limit the system would send a signal that ends the process.
bool is_over_limit(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, Temporary temporary)
    : path_(path.string()) {
  const std::filesystem::path target = target_of(path);
  target_ = target.string();
  folder_ = target.has_parent_path() ? target.parent_path().string() : ".";
  struct stat old{};
  if (sys::stat(target_.c_str(), old) == 0) {
    if (!S_ISREG(old.st_mode)) {
      throw IoError(S_ISDIR(old.st_mode) ? EISDIR : ENODEV, path_,
                    "save: expected a regular file or none, got {} \"{}\"",
                    S_ISDIR(old.st_mode) ? "a directory" : "something else", path_);
    }
    is_replacing_ = true;
    mode_ = old.st_mode & permission_bits;
  } else if (errno != ENOENT) {
    fail("stat");
  }
  // Secrets of the old file are not shown to others while the new one is written.
  const mode_t mode = is_replacing_ ? 0600 : 0666;
  if (temporary == Temporary::nameless_if_possible) open_nameless(mode);
  if (!fd_) open_named(mode);
}

AtomicFile::~AtomicFile() {
  fd_.reset();
  if (!temporary_.empty()) sys::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* call) const {
  const int number = errno;
  throw IoError(number, path_, "save: expected to write \"{}\", got {} (errno {}) from {}", path_,
                std::generic_category().message(number), number, call);
}

void AtomicFile::open_nameless(mode_t mode) {
  // The name is given through /proc, so that must be there.
  if (access("/proc/self/fd", X_OK) != 0) return;
  fd_ = Fd(sys::open(folder_.c_str(), O_TMPFILE | O_RDWR, mode));
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
    std::string name = new_name();
    fd_ = Fd(sys::open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, mode));
    if (fd_) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail("open");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (is_over_limit(offset + bytes.size())) {
    errno = EFBIG;
    fail("write");
  }
  while (!bytes.empty()) {
    const std::size_t step = std::min(bytes.size(), largest_write);
    const ssize_t written = sys::write_at(fd_.get(), bytes.data(), step, offset);
    if (written < 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::give_name() {
  for (int i = 0; i < most_tries; ++i) {
    std::string name = new_name();
    if (sys::link(fd_.get(), name.c_str()) == 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail("link");
}

void AtomicFile::commit() {
  if (is_replacing_ && sys::chmod(fd_.get(), mode_) != 0) fail("chmod");
  if (sys::fsync(fd_.get()) != 0) fail("fsync");
  if (temporary_.empty()) give_name();
  if (sys::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename");
  temporary_.clear();
  fd_.reset();  // whatever close could complain about, fsync did
  sync_folder();
}

void AtomicFile::sync_folder() const {
  const Fd fd(sys::open(folder_.c_str(), O_RDONLY | O_DIRECTORY));
  // A folder that may be written to but not be read cannot be synchronised, nor can every file
  // system do it. The new file is there by now.
  if (!fd || sys::fsync(fd.get()) == 0 || errno == EINVAL || errno == EROFS) return;
  fail("fsync of the folder");
}

}  // namespace loup::io
