#include "loup/io/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>

#include "loup/base/error.h"
#include "loup/io/elements.h"
#include "loup/memory/map_allocator.h"
#include "loup/memory/system.h"

namespace loup::io {

namespace {

namespace sys = memory::sys;

constexpr std::size_t largest_read = 1U << 30U;

[[noreturn]] void fail(const std::string& path, const char* call) {
  const int number = errno;
  throw IoError(number, path, "load: expected to read \"{}\", got {} (errno {}) from {}", path,
                std::generic_category().message(number), number, call);
}

}  // namespace

DataPtr map_file(const std::filesystem::path& path) {
  return MapAllocator::makeDataPtr(path, MapFlags::none, {});
}

DataPtr read_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  // Without O_NONBLOCK a pipe would wait for its other end.
  const memory::Fd fd(sys::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!fd) fail(name, "open");
  struct stat info{};
  if (sys::fstat(fd.get(), info) != 0) fail(name, "fstat");
  if (!S_ISREG(info.st_mode)) {
    throw IoError(S_ISDIR(info.st_mode) ? EISDIR : ENODEV, name,
                  "load: expected a regular file, got {} \"{}\"",
                  S_ISDIR(info.st_mode) ? "a directory" : "something else", name);
  }
  DataPtr bytes = new_bytes(static_cast<std::size_t>(info.st_size));
  for (std::size_t done = 0; done < bytes.bytes;) {
    const std::size_t step = std::min(bytes.bytes - done, largest_read);
    const ssize_t got =
        sys::read_at(fd.get(), static_cast<std::byte*>(bytes.data) + done, step, done);
    if (got < 0) fail(name, "read");
    if (got == 0) {
      throw IoError(EIO, name, "load: expected {} bytes in \"{}\", got {}: it became shorter",
                    bytes.bytes, name, done);
    }
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace loup::io
