#include "loup/io/npz.h"

#include <string_view>

#include "loup/base/error.h"
#include "loup/io/json.h"
#include "loup/io/npy.h"
#include "loup/io/zip.h"
#include "loup/io/zip_writer.h"

namespace loup::io {

namespace {

constexpr std::string_view extension = ".npy";

Tensor read_member(const DataPtr& file, const zip::Member& member, bool verify) {
  if (!member.name.ends_with(extension)) {
    throw FormatError("load: expected members that are {} files, got {}", extension,
                      json::quote(member.name));
  }
  const DataPtr bytes = zip::content(file, member, verify);
  try {
    return read_npy(bytes);
  } catch (const FormatError& error) {
    throw FormatError("{}; in member {}", error.what(), json::quote(member.name));
  }
}

}  // namespace

std::map<std::string, Tensor, std::less<>> read_npz(const DataPtr& file, bool verify) {
  std::map<std::string, Tensor, std::less<>> result;
  for (const zip::Member& member : zip::members(bytes_of(file))) {
    const Tensor x = read_member(file, member, verify);
    result.emplace(member.name.substr(0, member.name.size() - extension.size()), x);
  }
  return result;
}

void write_npz(AtomicFile& file, const std::map<std::string, Tensor, std::less<>>& tensors,
               bool compressed) {
  zip::Writer archive(file);
  for (const auto& [name, x] : tensors) {
    const NpyImage image = npy_image(x);
    archive.add(name + std::string(extension),
                {std::as_bytes(std::span(image.header)), bytes_of(image.elements)}, compressed);
  }
  archive.finish();
}

}  // namespace loup::io
