#pragma once

#include <string>
#include <string_view>

#include "loup/export.h"

namespace loup {

/// A random name for shared memory, `/lp.<ns>.<13 characters>`: at most 26 characters. Without `ns`
/// the process's namespace: LOUP_NS, or "main".
LOUP_EXPORT std::string new_shm_handle(std::string_view ns = {});
/// The same under the name that PyTorch gave it.
inline std::string NewProcessWideShmHandle() { return new_shm_handle(); }

namespace memory {

/// Where segments have their names: LOUP_SHM_DIR, or /dev/shm.
std::string shm_directory();
/// LOUP_NS or "main"; `ns` itself when not empty. ValueError unless [A-Za-z0-9_-]{1,8}.
std::string shm_namespace(std::string_view ns = {});
/// The path of a full name: the leading slash is dropped, another one is a ValueError.
std::string shm_path(std::string_view full_name);
/// The full name of a segment: `lp.<ns>.<name>`. Names that start with a slash or with `lp.` are
/// full already. ValueError for anything but [A-Za-z0-9_-]{1,200}.
std::string segment_name(std::string_view name);

}  // namespace memory

}  // namespace loup
