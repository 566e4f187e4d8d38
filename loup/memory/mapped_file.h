#pragma once

#include <cstddef>
#include <string>
#include <sys/stat.h>

#include "loup/memory/map_error.h"
#include "loup/memory/map_flags.h"
#include "loup/memory/system.h"

// Files before they are mapped: opened without blocking or following surprises, and with room.

namespace loup::memory {

struct MappedFile {
  Fd fd;
  struct stat info{};
  bool is_new = false;  // made by this call

  std::size_t bytes() const { return static_cast<std::size_t>(info.st_size); }
};

/// Opens or makes the file of a mapping as the flags say.
MappedFile open_file(const std::string& path, MapFlags flags);
/// Takes over a descriptor, also when it throws.
MappedFile take_descriptor(const std::string& path, int fd);

/// MapError unless a regular file; `number` is reported.
void check_regular(const MapError::Context& context, const struct stat& info);
/// MapError when others own the file or may write to it.
void check_owner(const MapError::Context& context, const struct stat& info);

/// Makes a file longer. Unless `sparse`, room for the new bytes is reserved first; when there is
/// none the file is as it was. Bytes that were there are not touched.
void grow_file(const MapError::Context& context, int fd, std::size_t from, std::size_t to,
               bool sparse);
/// True when every byte has room.
bool is_reserved(const struct stat& info);

}  // namespace loup::memory
