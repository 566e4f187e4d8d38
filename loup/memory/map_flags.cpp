#include "loup/memory/map_flags.h"

#include <array>
#include <utility>

namespace loup {

std::string to_string(MapFlags flags) {
  static constexpr std::array<std::pair<MapFlags, const char*>, 11> names{{
      {MapFlags::shared, "shared"},
      {MapFlags::shared_mem, "shared_mem"},
      {MapFlags::exclusive, "exclusive"},
      {MapFlags::no_create, "no_create"},
      {MapFlags::keep_fd, "keep_fd"},
      {MapFlags::from_fd, "from_fd"},
      {MapFlags::unlink, "unlink"},
      {MapFlags::read_only, "read_only"},
      {MapFlags::sparse, "sparse"},
      {MapFlags::populate, "populate"},
      {MapFlags::allow_foreign, "allow_foreign"},
  }};
  std::string text;
  for (const auto& [flag, name] : names) {
    if (!has(flags, flag)) continue;
    if (!text.empty()) text += '|';
    text += name;
  }
  return text.empty() ? "none" : text;
}

const char* to_string(Lifetime lifetime) {
  switch (lifetime) {
    case Lifetime::last_detach: return "last_detach";
    case Lifetime::persistent: return "persistent";
    case Lifetime::anonymous: return "anonymous";
  }
  return "unknown";
}

const char* to_string(MappingKind kind) {
  switch (kind) {
    case MappingKind::file: return "file";
    case MappingKind::memory: return "memory";
    case MappingKind::segment: return "segment";
  }
  return "unknown";
}

}  // namespace loup
