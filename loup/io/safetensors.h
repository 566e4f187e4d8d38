#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "loup/io/elements.h"
#include "loup/memory/data_ptr.h"
#include "loup/tensor/tensor.h"

// safetensors: the length of a header, the header in JSON, and the elements of all tensors behind
// each other.

namespace loup::io {

using Metadata = std::map<std::string, std::string, std::less<>>;

struct SafetensorsHeader {
  std::map<std::string, FileTensor, std::less<>> tensors;
  Metadata metadata;
};

/// What the header of a whole file says. FormatError unless it is complete, consistent and of
/// dtypes that loup has: every tensor has the bytes of its shape, and together they cover what
/// follows the header, without holes and overlaps.
LOUP_EXPORT SafetensorsHeader parse_safetensors(std::span<const std::byte> file);

/// How tensors are written: a header, and their elements in this order.
struct SafetensorsImage {
  std::string header;
  std::vector<Tensor> elements;  ///< contiguous
};
/// The elements begin at a multiple of 64 and every tensor at a multiple of its item, so that
/// readers can map them. ValueError for names and metadata that are not UTF-8, and for the name
/// `__metadata__`.
LOUP_EXPORT SafetensorsImage safetensors_image(
    const std::map<std::string, Tensor, std::less<>>& tensors, const Metadata& metadata);

}  // namespace loup::io
