#include "loup/io/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loup/base/error.h"
#include "loup/io/json.h"
#include "loup/ops/copy.h"

namespace loup::io {

namespace {

constexpr std::size_t length_bytes = sizeof(std::uint64_t);
/// The format's own limit.
constexpr std::size_t longest_json = 100'000'000;
constexpr std::string_view metadata_key = "__metadata__";
constexpr std::array<std::string_view, dtype_count> dtype_codes = {
    "BOOL", "U8", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64"};

std::string_view code_of(DType dtype) { return dtype_codes[static_cast<std::size_t>(dtype)]; }

DType dtype_of_code(const std::string& name, const std::string& code) {
  const auto* const found = std::ranges::find(dtype_codes, code);
  if (found == dtype_codes.end()) {
    throw FormatError("load: expected the dtype of tensor {} to be one of {}, got {}",
                      json::quote(name), fmt::join(dtype_codes, ", "), json::quote(code));
  }
  return static_cast<DType>(found - dtype_codes.begin());
}

Shape read_shape(json::Reader& json) {
  Shape shape;
  json.begin_array();
  while (json.next_element()) {
    if (shape.size() == max_ndim) {
      throw FormatError("load: expected at most {} dimensions, got more", max_ndim);
    }
    shape.push_back(json.natural());
  }
  return shape;
}

using Offsets = std::pair<std::size_t, std::size_t>;

Offsets read_offsets(const std::string& name, json::Reader& json) {
  std::array<std::size_t, 2> offsets{};
  std::size_t count = 0;
  json.begin_array();
  while (json.next_element()) {
    const auto offset = static_cast<std::size_t>(json.natural());
    if (count < offsets.size()) offsets[count] = offset;
    ++count;
  }
  if (count != offsets.size() || offsets[0] > offsets[1]) {
    throw FormatError("load: expected two rising data_offsets of tensor {}, got {}",
                      json::quote(name),
                      count == 2 ? fmt::format("{} and {}", offsets[0], offsets[1])
                                 : fmt::format("{} of them", count));
  }
  return {offsets[0], offsets[1]};
}

/// `offset` is relative to the end of the header.
FileTensor read_tensor(const std::string& name, json::Reader& json) {
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  std::optional<Offsets> offsets;
  std::string key;
  json.begin_object();
  while (json.next_key(key)) {
    if (key == "dtype" && !dtype) {
      dtype = dtype_of_code(name, json.string());
    } else if (key == "shape" && !shape) {
      shape = read_shape(json);
    } else if (key == "data_offsets" && !offsets) {
      offsets = read_offsets(name, json);
    } else {
      throw FormatError("load: expected dtype, shape and data_offsets of tensor {} once, got {}",
                        json::quote(name), json::quote(key));
    }
  }
  if (!dtype || !shape || !offsets) {
    throw FormatError("load: expected dtype, shape and data_offsets of tensor {}, got no {}",
                      json::quote(name),
                      !dtype   ? "dtype"
                      : !shape ? "shape"
                               : "data_offsets");
  }
  const std::size_t bytes = file_bytes(*shape, *dtype);
  if (offsets->second - offsets->first != bytes) {
    throw FormatError("load: expected {} bytes of tensor {} for shape {} of {}, got {}", bytes,
                      json::quote(name), *shape, *dtype, offsets->second - offsets->first);
  }
  return {*dtype, *shape, offsets->first};
}

Metadata read_metadata(json::Reader& json) {
  Metadata metadata;
  if (json.peek() == json::Kind::null) {  // some writers say so when there is none
    json.null();
    return metadata;
  }
  std::string key;
  json.begin_object();
  while (json.next_key(key)) {
    if (!metadata.emplace(key, json.string()).second) {
      throw FormatError("load: expected every key of the metadata once, got {} again",
                        json::quote(key));
    }
  }
  return metadata;
}

SafetensorsHeader read_header(std::string_view text) {
  SafetensorsHeader header;
  json::Reader json(text);
  bool has_metadata = false;
  std::string name;
  json.begin_object();
  while (json.next_key(name)) {
    bool is_new = true;
    if (name == metadata_key) {
      is_new = !std::exchange(has_metadata, true);
      header.metadata = read_metadata(json);
    } else {
      is_new = header.tensors.emplace(name, read_tensor(name, json)).second;
    }
    if (!is_new) {
      throw FormatError("load: expected every name once, got {} again", json::quote(name));
    }
  }
  json.end();
  return header;
}

/// Throws unless the tensors lie behind each other and fill `bytes`; makes their offsets relative
/// to the file, in which they begin at `begin`.
void place_tensors(SafetensorsHeader& header, std::size_t begin, std::size_t bytes) {
  struct Range {
    std::size_t begin, end;
    const std::string* name;
  };
  std::vector<Range> ranges;
  for (auto& [name, tensor] : header.tensors) {
    ranges.push_back(
        {tensor.offset, tensor.offset + file_bytes(tensor.shape, tensor.dtype), &name});
    tensor.offset += begin;
  }
  std::ranges::sort(ranges, [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t end = 0;
  for (const Range& range : ranges) {
    if (range.begin != end) {
      throw FormatError(
          "load: expected tensor {} at offset {}, right behind the one before, got {}",
          json::quote(*range.name), end, range.begin);
    }
    end = range.end;
  }
  if (end != bytes) {
    throw FormatError("load: expected {} bytes of tensors behind the header, got {}", end, bytes);
  }
}

void check_text(const char* what, std::string_view text) {
  if (!json::is_utf8(text)) throw ValueError("save: expected {} in UTF-8, got other bytes", what);
}

std::string metadata_json(const Metadata& metadata) {
  std::vector<std::string> items;
  for (const auto& [key, value] : metadata) {
    check_text("metadata", key);
    check_text("metadata", value);
    items.push_back(fmt::format("{}:{}", json::quote(key), json::quote(value)));
  }
  return fmt::format("\"{}\":{{{}}}", metadata_key, fmt::join(items, ","));
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> file) {
  if (file.size() < length_bytes) {
    throw FormatError("load: expected the {} bytes of a safetensors header's length, got {}",
                      length_bytes, file.size());
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  const std::size_t most = std::min(longest_json, file.size() - length_bytes);
  if (length > most) {
    throw FormatError("load: expected a safetensors header of at most {} bytes, got one of {}",
                      most, length);
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + length_bytes, length);
  if (!text.starts_with('{')) {
    throw FormatError("load: expected a safetensors header that begins with '{{', got {}",
                      text.empty() ? "an empty one" : "another character");
  }
  SafetensorsHeader header = read_header(text);
  place_tensors(header, length_bytes + length, file.size() - length_bytes - length);
  return header;
}

SafetensorsImage safetensors_image(const std::map<std::string, Tensor, std::less<>>& tensors,
                                   const Metadata& metadata) {
  using Named = std::pair<std::string_view, Tensor>;
  std::vector<Named> ordered(tensors.begin(), tensors.end());
  // Large items first: then every tensor is aligned without holes between them.
  std::ranges::stable_sort(ordered, std::greater<>(),
                           [](const Named& named) { return item_bytes(named.second.dtype()); });
  std::vector<std::string> items;
  if (!metadata.empty()) items.push_back(metadata_json(metadata));
  SafetensorsImage image;
  std::int64_t offset = 0;
  for (const auto& [name, x] : ordered) {
    check_text("names", name);
    if (name == metadata_key) {
      throw ValueError("save: expected names other than {}, got it", metadata_key);
    }
    items.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                json::quote(name), code_of(x.dtype()), fmt::join(x.shape(), ","),
                                offset, offset + x.bytes()));
    offset += x.bytes();
    image.elements.push_back(ops::contiguous(x.detach()));
  }
  std::string text = fmt::format("{{{}}}", fmt::join(items, ","));
  text.append((file_alignment - (length_bytes + text.size()) % file_alignment) % file_alignment,
              ' ');
  if (text.size() > longest_json) {
    throw ValueError("save: expected a safetensors header of at most {} bytes, got one of {}",
                     longest_json, text.size());
  }
  const std::uint64_t length = text.size();
  image.header.resize(length_bytes);
  std::memcpy(image.header.data(), &length, length_bytes);
  image.header += text;
  return image;
}

}  // namespace loup::io
