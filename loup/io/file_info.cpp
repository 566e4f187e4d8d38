#include "loup/io/file_info.h"

#include <algorithm>
#include <utility>

namespace loup::io {

namespace {

/// The elements of a tensor from a file lie side by side, in whatever order.
std::int64_t count_true(const Tensor& mask) {
  const auto* const first = reinterpret_cast<const bool*>(mask.raw_data());
  return std::count(first, first + mask.size(), true);
}

ItemInfo describe(std::optional<std::string> name, const Tensor& x) {
  return {std::move(name), x.dtype(), x.shape(), x.bytes(), {}};
}

ItemInfo describe(std::optional<std::string> name, const MaskedTensor& x) {
  ItemInfo info = describe(std::move(name), x.get_data());
  info.bytes += x.get_mask().bytes();
  info.valid = count_true(x.get_mask());
  return info;
}

}  // namespace

FileInfo file_info(const std::filesystem::path& path) {
  File file = load(path, {.verify = false});
  FileInfo info{file.format, std::filesystem::file_size(path), {}, std::move(file.metadata)};
  if (const auto* x = std::get_if<Tensor>(&file.content)) {
    info.items.push_back(describe({}, *x));
  } else if (const auto* masked = std::get_if<MaskedTensor>(&file.content)) {
    info.items.push_back(describe({}, *masked));
  } else {
    for (const auto& [name, item] : std::get<Items>(file.content)) {
      std::visit([&](const auto& value) { info.items.push_back(describe(name, value)); }, item);
    }
  }
  return info;
}

}  // namespace loup::io
