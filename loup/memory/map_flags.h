#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "loup/export.h"

namespace loup {

/// How memory is mapped. The first eight have the numbers that PyTorch's users know.
enum class MapFlags : std::uint32_t {
  none = 0,                 ///< a private, copy-on-write view of an existing file
  shared = 1,               ///< a file; changes reach it, it is made when it does not exist
  shared_mem = 2,           ///< a name in the directory for shared memory
  exclusive = 4,            ///< refuse a name that exists
  no_create = 8,            ///< refuse a name that does not exist, and never grow it
  keep_fd = 16,             ///< keep the descriptor open, as fd()
  from_fd = 32,             ///< map a given descriptor, which is taken over
  unlink = 64,              ///< remove the name as soon as it is mapped
  read_only = 1 << 8,       ///< map without the right to write
  sparse = 1 << 9,          ///< do not reserve what is added to a file: a full disk is a SIGBUS
  populate = 1 << 10,       ///< touch all pages at once
  allow_foreign = 1 << 11,  ///< accept a segment that others own or may write to
};

constexpr MapFlags operator|(MapFlags a, MapFlags b) {
  return static_cast<MapFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr MapFlags operator&(MapFlags a, MapFlags b) {
  return static_cast<MapFlags>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
constexpr MapFlags operator~(MapFlags a) {
  return static_cast<MapFlags>(~static_cast<std::uint32_t>(a));
}
/// True when `flags` contain one of `wanted`.
constexpr bool has(MapFlags flags, MapFlags wanted) { return (flags & wanted) != MapFlags::none; }

/// `shared|exclusive`; `none` when empty.
LOUP_EXPORT std::string to_string(MapFlags flags);

/// How long the name of a segment lives.
enum class Lifetime : std::uint8_t {
  last_detach = 0,  ///< until nobody is attached
  persistent = 1,   ///< until it is removed
  anonymous = 2     ///< it has none; the memory lives as long as a mapping or a descriptor
};
LOUP_EXPORT const char* to_string(Lifetime lifetime);

enum class MappingKind : std::uint8_t {
  file,     ///< a file
  memory,   ///< plain shared memory: no header
  segment,  ///< a segment with a header
};
LOUP_EXPORT const char* to_string(MappingKind kind);

/// What there is to know about mapped memory.
struct LOUP_EXPORT Mapping {
  MappingKind kind = MappingKind::file;
  std::string path;  ///< empty when there is no name
  MapFlags flags = MapFlags::none;
  std::size_t bytes = 0;
  bool is_read_only = false;
  bool is_shared = false;            ///< changes are seen by all who map it
  std::optional<Lifetime> lifetime;  ///< of a segment
  const void* library = nullptr;     ///< tells the copies of this library in a process apart
};

/// Number of bytes; absent means the whole file.
using Size = std::optional<std::size_t>;

}  // namespace loup
