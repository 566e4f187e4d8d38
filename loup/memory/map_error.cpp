#include "loup/memory/map_error.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <system_error>

namespace loup::memory {

namespace {

using Kind = MapError::Kind;

Kind kind_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return Kind::not_found;
    case EEXIST: return Kind::already_exists;
    case EACCES:
    case EPERM:
    case EROFS: return Kind::permission_denied;
    case EISDIR:
    case ELOOP:
    case ENODEV:
    case ENXIO: return Kind::not_regular;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Kind::no_space;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Kind::limit;
    case EBUSY: return Kind::busy;
    case EOVERFLOW: return Kind::overflow;
    default: return Kind::io;
  }
}

std::string rule_of(Kind kind, const char* call, std::optional<std::size_t> requested) {
  switch (kind) {
    case Kind::not_found: return "an existing file";
    case Kind::already_exists: return "a name that is not taken";
    case Kind::permission_denied: return fmt::format("permission to {}", call);
    case Kind::not_regular: return "a regular file";
    case Kind::no_space:
      return requested ? fmt::format("room for {} bytes", *requested) : "room in the file system";
    default:
      return requested ? fmt::format("{} of {} bytes to succeed", call, *requested)
                       : fmt::format("{} to succeed", call);
  }
}

std::string limit_text(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit.rlim_cur);
}

std::string free_bytes(const std::string& path) {
  struct statvfs info{};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (statvfs(folder.empty() ? "." : folder.c_str(), &info) != 0) return {};
  return fmt::format("; {} bytes are free", std::size_t{info.f_bavail} * info.f_frsize);
}

std::string map_count() {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::string text;
  std::getline(file, text);
  return text.empty() ? "unknown" : text;
}

std::string hint(int number, const std::string& path) {
  switch (number) {
    case ENOSPC: return free_bytes(path);
    case EFBIG:
      return fmt::format("; the limit of file sizes (RLIMIT_FSIZE) is {}",
                         limit_text(RLIMIT_FSIZE));
    case EMFILE:
      return fmt::format("; the limit of descriptors (RLIMIT_NOFILE) is {}",
                         limit_text(RLIMIT_NOFILE));
    case ENOMEM:
      return fmt::format(
          "; the limit of address space (RLIMIT_AS) is {}, of mappings "
          "(vm.max_map_count) {}",
          limit_text(RLIMIT_AS), map_count());
    case EROFS: return "; map it private or read-only";
    default: return {};
  }
}

}  // namespace

void throw_map_error(MapError::Context context, const char* call, int number) {
  const Kind kind = kind_of(number);
  const std::string operation = context.operation;
  const std::string path = context.path;
  const std::string rule = rule_of(kind, call, context.requested);
  throw MapError(kind, number, std::move(context), "{}: expected {}, got \"{}\": {} (errno {}){}",
                 operation, rule, path, std::generic_category().message(number), number,
                 hint(number, path));
}

void check_size(const char* operation, const std::string& path, std::size_t bytes,
                std::size_t extra) {
  constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  // Sizes are rounded up to pages.
  const std::size_t most = largest - 4095 - extra;
  if (bytes <= most) return;
  throw MapError(Kind::overflow, EOVERFLOW, {operation, path, bytes},
                 "{}: expected at most {} bytes, got {} for \"{}\"", operation, most, bytes, path);
}

}  // namespace loup::memory
