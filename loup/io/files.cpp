#include "loup/io/files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "loup/base/error.h"
#include "loup/io/atomic_file.h"
#include "loup/io/file_bytes.h"
#include "loup/io/json.h"
#include "loup/io/npy.h"
#include "loup/io/npz.h"

namespace loup::io {

namespace {

using Tensors = std::map<std::string, Tensor, std::less<>>;

constexpr std::array<std::string_view, 3> names = {"npy", "npz", "safetensors"};
constexpr std::string_view mask_suffix = ".mask";

// What a file of ours says about itself when it holds one thing.
constexpr std::string_view our_prefix = "loup.";
constexpr std::string_view format_key = "loup.format";
constexpr std::string_view version_key = "loup.version";
constexpr std::string_view format_version = "1";
constexpr std::string_view one_tensor = "tensor";
constexpr std::string_view one_masked_tensor = "masked_tensor";
constexpr const char* data_name = "data";
constexpr const char* mask_name = "mask";

const char* kind_of(const Content& content) {
  constexpr const char* kinds[] = {"a Tensor", "a MaskedTensor", "named tensors"};
  return kinds[content.index()];
}

// --- saving ---

FileFormat format_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (extension == fmt::format(".{}", names[i])) return static_cast<FileFormat>(i);
  }
  throw ValueError("save: expected a path that ends in .npy, .npz or .safetensors, got \"{}\"",
                   path.string());
}

void check_options(FileFormat format, const SaveOptions& options) {
  if (options.compressed && format != FileFormat::npz) {
    throw ValueError("save: expected .npz for compressed arrays, got .{}", name(format));
  }
  if (!options.metadata.empty() && format != FileFormat::safetensors) {
    throw ValueError("save: expected .safetensors for metadata, got .{}", name(format));
  }
  for (const auto& [key, value] : options.metadata) {
    if (key.starts_with(our_prefix)) {
      throw ValueError("save: expected keys of metadata that do not begin with {}, got {}",
                       our_prefix, json::quote(key));
    }
  }
}

/// Masked tensors as two plain ones.
Tensors split(const Items& items) {
  Tensors tensors;
  const auto add = [&](const std::string& key, const Tensor& x) {
    if (!tensors.emplace(key, x).second) {
      throw ValueError("save: expected one tensor of each name, got {} twice", json::quote(key));
    }
  };
  for (const auto& [key, item] : items) {
    if (const auto* x = std::get_if<MaskedTensor>(&item)) {
      add(key, x->get_data());
      add(key + std::string(mask_suffix), x->get_mask());
    } else {
      add(key, std::get<Tensor>(item));
    }
  }
  return tensors;
}

/// One thing as named ones.
Tensors split(const Content& content, Metadata& metadata) {
  if (const auto* items = std::get_if<Items>(&content)) return split(*items);
  metadata.emplace(version_key, format_version);
  if (const auto* x = std::get_if<Tensor>(&content)) {
    metadata.emplace(format_key, one_tensor);
    return {{data_name, *x}};
  }
  const auto& x = std::get<MaskedTensor>(content);
  metadata.emplace(format_key, one_masked_tensor);
  return {{data_name, x.get_data()}, {mask_name, x.get_mask()}};
}

void save_npy(const std::filesystem::path& path, const Content& content) {
  const auto* const x = std::get_if<Tensor>(&content);
  if (x == nullptr) {
    throw ValueError("save: expected a Tensor for .npy, got {}; use .safetensors",
                     kind_of(content));
  }
  const NpyImage image = npy_image(*x);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(image.header)));
  file.write(bytes_of(image.elements));
  file.commit();
}

void save_npz(const std::filesystem::path& path, const Content& content, bool compressed) {
  const auto* const items = std::get_if<Items>(&content);
  if (items == nullptr) {
    throw ValueError("save: expected named tensors for .npz, got {}; use .safetensors, or name it",
                     kind_of(content));
  }
  const Tensors tensors = split(*items);
  AtomicFile file(path);
  write_npz(file, tensors, compressed);
  file.commit();
}

void save_safetensors(const std::filesystem::path& path, const Content& content,
                      Metadata metadata) {
  const Tensors tensors = split(content, metadata);
  const SafetensorsImage image = safetensors_image(tensors, metadata);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(image.header)));
  for (const Tensor& x : image.elements) file.write(bytes_of(x));
  file.commit();
}

void save_content(const std::filesystem::path& path, const Content& content,
                  const SaveOptions& options) {
  const FileFormat format = format_of(path);
  check_options(format, options);
  switch (format) {
    case FileFormat::npy: return save_npy(path, content);
    case FileFormat::npz: return save_npz(path, content, options.compressed);
    case FileFormat::safetensors: return save_safetensors(path, content, options.metadata);
  }
}

// --- loading ---

FileFormat format_of(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with(npy_magic)) return FileFormat::npy;
  if (text.starts_with("PK\3\4") || text.starts_with("PK\5\6")) return FileFormat::npz;
  if (text.substr(0, 9).ends_with('{') && text.size() >= 9) return FileFormat::safetensors;
  std::string got = text.empty() ? "an empty file" : "one that begins with";
  for (const std::byte byte : file.first(std::min<std::size_t>(file.size(), 8))) {
    fmt::format_to(std::back_inserter(got), " {:02x}", std::to_integer<unsigned>(byte));
  }
  throw FormatError("load: expected an .npy, .npz or .safetensors file, got {}", got);
}

bool is_mask_of(const Tensor& mask, const Tensor& x) {
  return mask.dtype() == DType::boolean && mask.shape() == x.shape();
}

Items join(const Tensors& tensors, bool masked) {
  Items items;
  std::set<std::string, std::less<>> masks;
  for (const auto& [key, x] : tensors) {
    if (masks.contains(key)) continue;
    const auto mask = tensors.find(key + std::string(mask_suffix));
    if (masked && mask != tensors.end() && is_mask_of(mask->second, x)) {
      items.emplace(key, as_masked_tensor(x, mask->second));
      masks.insert(mask->first);
    } else {
      items.emplace(key, x);
    }
  }
  return items;
}

/// The one thing in a file of ours; nothing when there are named ones. Takes our keys away.
std::optional<Content> single(const Tensors& tensors, Metadata& metadata) {
  const auto take = [&](std::string_view key) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) return std::string();
    std::string value = std::move(found->second);
    metadata.erase(found);
    return value;
  };
  const std::string format = take(format_key);
  const std::string found_version = take(version_key);
  if (format.empty()) return std::nullopt;
  if (found_version != format_version) {
    throw FormatError("load: expected {} {}, got {}", version_key, format_version,
                      json::quote(found_version));
  }
  const auto data = tensors.find(data_name);
  if (format == one_tensor && tensors.size() == 1 && data != tensors.end()) return data->second;
  const auto mask = tensors.find(mask_name);
  if (format == one_masked_tensor && tensors.size() == 2 && data != tensors.end() &&
      mask != tensors.end() && is_mask_of(mask->second, data->second)) {
    return as_masked_tensor(data->second, mask->second);
  }
  throw FormatError("load: expected the tensors of {} {}, got others", format_key,
                    json::quote(format));
}

File read_safetensors(const DataPtr& bytes, bool masked) {
  SafetensorsHeader header = parse_safetensors(bytes_of(bytes));
  Tensors tensors;
  for (const auto& [key, place] : header.tensors) {
    tensors.emplace_hint(tensors.end(), key, tensor_in(bytes, place));
  }
  File file{FileFormat::safetensors, {}, std::move(header.metadata)};
  std::optional<Content> one = single(tensors, file.metadata);
  const bool is_split = one && !masked && std::holds_alternative<MaskedTensor>(*one);
  file.content = one && !is_split ? *std::move(one) : join(tensors, masked);
  return file;
}

File read(const DataPtr& bytes, const LoadOptions& options) {
  switch (format_of(bytes_of(bytes))) {
    case FileFormat::npy: return {FileFormat::npy, read_npy(bytes), {}};
    case FileFormat::npz:
      return {FileFormat::npz, join(read_npz(bytes, options.verify), options.masked), {}};
    case FileFormat::safetensors: return read_safetensors(bytes, options.masked);
  }
  __builtin_unreachable();
}

template <class T>
const T& get(const Content& content, const char* expected) {
  if (const T* const found = std::get_if<T>(&content)) return *found;
  throw ValueError("load: expected a file of {}, got {}", expected, kind_of(content));
}

}  // namespace

std::string_view name(FileFormat format) { return names[static_cast<std::size_t>(format)]; }

void save(const std::filesystem::path& path, const Tensor& x, const SaveOptions& options) {
  save_content(path, x, options);
}
void save(const std::filesystem::path& path, const MaskedTensor& x, const SaveOptions& options) {
  save_content(path, x, options);
}
void save(const std::filesystem::path& path, const Items& items, const SaveOptions& options) {
  save_content(path, items, options);
}

const Tensor& File::tensor() const { return get<Tensor>(content, "a Tensor"); }
const MaskedTensor& File::masked_tensor() const {
  return get<MaskedTensor>(content, "a MaskedTensor");
}
const Items& File::items() const { return get<Items>(content, "named tensors"); }

File load(const std::filesystem::path& path, const LoadOptions& options) {
  const DataPtr bytes = options.mapped ? map_file(path) : read_file(path);
  try {
    return read(bytes, options);
  } catch (const FormatError& error) {
    throw FormatError("{}; in \"{}\"", error.what(), path.string());
  }
}

}  // namespace loup::io
