#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loup/export.h"
#include "loup/memory/refcounted_map_allocator.h"

// The segments of this machine, seen from outside: none of these attaches.

namespace loup::shm {

/// Our segments, by name; only those of one namespace when `ns` is given. What cannot be read, or
/// is no segment, is left out.
LOUP_EXPORT std::vector<SegmentInfo> list(std::string_view ns = {});
/// One segment; MapError when there is none.
LOUP_EXPORT SegmentInfo info(std::string_view name);

struct SweepOptions {
  std::string ns = {};   ///< empty: all namespaces
  bool dry_run = false;  ///< only tell
};
struct SweepReport {
  std::vector<std::string> removed;  ///< or, in a dry run, what would be
  std::vector<std::string> kept;     ///< in use, or persistent
  std::vector<std::string> failed;
};
/// Removes the names that killed processes left behind: segments of this user that were to
/// disappear with their last user, and have none; unfinished ones older than a minute.
LOUP_EXPORT SweepReport sweep(const SweepOptions& options = {});

/// Removes a name; false when there is none. MapError (busy) when somebody is attached, unless
/// `force`: they keep their memory then.
LOUP_EXPORT bool remove(std::string_view name, bool force = false);

/// The processes that have a segment mapped, as far as this one may look.
LOUP_EXPORT std::vector<std::uint32_t> mapping_processes(const SegmentInfo& segment);

}  // namespace loup::shm
