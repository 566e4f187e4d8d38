#pragma once

#include <string>

#include "loup/memory/refcounted_map_allocator.h"

namespace loup::memory {

/// Reads the header and the announced attachments of an open segment. MapError (bad_header) when it
/// is none.
SegmentInfo segment_info(const char* operation, const std::string& path, int fd);
/// The same by path, without attaching.
SegmentInfo segment_info(const char* operation, const std::string& path);
/// Removes the name of a segment that nobody uses and that was to disappear with its last user.
/// True when the name is free now.
bool replace_stale(const std::string& path) noexcept;

}  // namespace loup::memory
