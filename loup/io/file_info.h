#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loup/io/files.h"

namespace loup::io {

/// One thing in a file.
struct ItemInfo {
  std::optional<std::string> name;  ///< none when the file holds this one thing
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t bytes = 0;             ///< with those of the mask
  std::optional<std::int64_t> valid;  ///< how many elements count, when there is a mask
};

struct FileInfo {
  FileFormat format = FileFormat::npy;
  std::uint64_t bytes = 0;
  std::vector<ItemInfo> items;
  Metadata metadata;
};

/// What is in a file. Only masks are read as a whole, and what is compressed. Errors as for load().
LOUP_EXPORT FileInfo file_info(const std::filesystem::path& path);

}  // namespace loup::io
