#pragma once

#include <filesystem>

#include "loup/export.h"
#include "loup/memory/data_ptr.h"

namespace loup::io {

/// The bytes of a regular file, mapped: pages are read when they are touched, and copied when they
/// are written to. MapError when that fails.
LOUP_EXPORT DataPtr map_file(const std::filesystem::path& path);
/// The bytes of a regular file, read into memory. IoError when that fails, or when the file became
/// shorter meanwhile.
LOUP_EXPORT DataPtr read_file(const std::filesystem::path& path);

}  // namespace loup::io
