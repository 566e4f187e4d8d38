#include "loup/memory/shm_name.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "loup/base/error.h"
#include "loup/memory/map_error.h"
#include "loup/memory/system.h"

namespace loup {

namespace memory {

namespace {

bool is_plain(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

const char* variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace

std::string shm_directory() { return variable("LOUP_SHM_DIR", "/dev/shm"); }

std::string shm_namespace(std::string_view ns) {
  const std::string chosen(ns.empty() ? variable("LOUP_NS", "main") : ns);
  if (!is_plain(chosen, 8)) {
    throw ValueError("shm: expected a namespace of 1 to 8 of [A-Za-z0-9_-], got \"{}\"", chosen);
  }
  return chosen;
}

std::string shm_path(std::string_view full_name) {
  if (full_name.starts_with('/')) full_name.remove_prefix(1);
  const bool is_name = !full_name.empty() && full_name.size() <= 255 && full_name != "." &&
                       full_name != ".." && full_name.find('/') == std::string_view::npos &&
                       full_name.find('\0') == std::string_view::npos;
  if (!is_name) {
    throw ValueError("shm: expected a name of 1 to 255 characters without slashes, got \"{}\"",
                     full_name);
  }
  return fmt::format("{}/{}", shm_directory(), full_name);
}

std::string segment_name(std::string_view name) {
  if (name.starts_with('/')) return std::string(name.substr(1));
  if (name.starts_with("lp.")) return std::string(name);
  if (!is_plain(name, 200)) {
    throw ValueError("shm: expected a name of 1 to 200 of [A-Za-z0-9_-], got \"{}\"", name);
  }
  return fmt::format("lp.{}.{}", shm_namespace(), name);
}

}  // namespace memory

std::string new_shm_handle(std::string_view ns) {
  static constexpr std::string_view digits = "abcdefghijklmnopqrstuvwxyz234567";
  std::array<std::uint8_t, 13> random{};
  if (memory::sys::random(random.data(), random.size()) != 0) {
    memory::throw_map_error({"new_shm_handle", ""}, "getrandom", errno);
  }
  std::string name = fmt::format("/lp.{}.", memory::shm_namespace(ns));
  for (const std::uint8_t byte : random) name += digits[byte % digits.size()];
  return name;
}

}  // namespace loup
