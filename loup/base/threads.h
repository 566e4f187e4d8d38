#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "loup/export.h"

namespace loup::detail {

/// CPUs granted by the cgroup of this process, rounded up; nothing when there is no limit.
/// `root` is the mount point of the cgroup file system, `membership` the text of
/// /proc/self/cgroup.
LOUP_EXPORT std::optional<int> cgroup_cpus(const std::filesystem::path& root,
                                           const std::string& membership);

/// The CPUs that this process may use: affinity and cgroup limit.
LOUP_EXPORT int usable_cpus();

/// The number of threads to start with; see num_threads().
LOUP_EXPORT int default_num_threads();

/// `count` if it is a possible number of threads, otherwise a ValueError that names `operation`.
LOUP_EXPORT int checked_num_threads(const char* operation, long count);

}  // namespace loup::detail
