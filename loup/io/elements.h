#pragma once

#include <cstddef>
#include <span>

#include "loup/memory/data_ptr.h"
#include "loup/tensor/tensor.h"

// Tensors in the bytes of files. Files are lies until proven otherwise: whatever they say about
// sizes is checked before memory is asked for.

namespace loup::io {

inline std::span<const std::byte> bytes_of(const DataPtr& file) {
  return {static_cast<const std::byte*>(file.data), file.bytes};
}

/// The elements of a contiguous tensor.
inline std::span<const std::byte> bytes_of(const Tensor& x) {
  return {x.raw_data(), static_cast<std::size_t>(x.bytes())};
}

/// Uninitialised bytes that tensors may share.
LOUP_EXPORT DataPtr new_bytes(std::size_t bytes);
/// A part of the bytes of a file, which must lie inside of it.
inline DataPtr part_of(const DataPtr& file, std::size_t offset, std::size_t bytes) {
  return {static_cast<std::byte*>(file.data) + offset, bytes, file.owner, file.is_writable};
}

/// The elements of what we write begin at a multiple of it.
inline constexpr std::size_t file_alignment = 64;

/// Bytes of a tensor; FormatError when no file can have that many.
LOUP_EXPORT std::size_t file_bytes(const Shape& shape, DType dtype);

/// What a file says about a tensor.
struct FileTensor {
  DType dtype = DType::f32;
  Shape shape;
  std::size_t offset = 0;  ///< of its first byte
  bool is_fortran = false;
  bool is_swapped = false;  ///< in the byte order that is not this machine's
};

/// The tensor at a place that is known to lie inside of the file. It shares the file's bytes where
/// they are aligned and in the byte order of this machine, otherwise it is a copy. Bytes of bool
/// are looked at: unless all of them are 0 or 1 they are copied, anything but 0 as true.
LOUP_EXPORT Tensor tensor_in(const DataPtr& file, const FileTensor& place);

}  // namespace loup::io
