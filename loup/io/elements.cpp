#include "loup/io/elements.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "loup/base/error.h"
#include "loup/tensor/create.h"

namespace loup::io {

namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

Strides fortran_strides(const Shape& shape) {
  Strides strides = shape;
  std::int64_t stride = 1;
  for (int i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

bool are_bools(const std::byte* data, std::size_t bytes) {
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i + sizeof seen <= bytes; i += sizeof seen) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, sizeof word);
    seen |= word;
  }
  for (; i < bytes; ++i) seen |= std::to_integer<std::uint64_t>(data[i]);
  return (seen & 0xFEFEFEFEFEFEFEFEU) == 0;
}

template <class Word>
void copy_swapped(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, from + i, sizeof word);
    if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
    std::memcpy(to + i, &word, sizeof word);
  }
}

void copy_elements(std::byte* to, const std::byte* from, std::size_t bytes,
                   const FileTensor& place) {
  const std::int64_t item = item_bytes(place.dtype);
  if (place.dtype == DType::boolean) {
    std::transform(from, from + bytes, to,
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
  } else if (!place.is_swapped || item == 1) {
    std::memcpy(to, from, bytes);
  } else if (item == 2) {
    copy_swapped<std::uint16_t>(to, from, bytes);
  } else if (item == 4) {
    copy_swapped<std::uint32_t>(to, from, bytes);
  } else {
    copy_swapped<std::uint64_t>(to, from, bytes);
  }
}

class Bytes : public MemoryContext {
 public:
  explicit Bytes(std::size_t bytes) : storage_(Storage::allocate(bytes)) {}
  std::byte* data() const { return storage_.data(); }

 private:
  Storage storage_;
};

}  // namespace

DataPtr new_bytes(std::size_t bytes) {
  auto owner = std::make_shared<Bytes>(bytes);
  std::byte* const data = owner->data();
  return {data, bytes, std::move(owner)};
}

std::size_t file_bytes(const Shape& shape, DType dtype) {
  // Sizes of 0 count as 1: the strides of an empty tensor must not overflow either.
  std::int64_t bytes = item_bytes(dtype);
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    is_empty |= size == 0;
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) {
      throw FormatError("load: expected at most {} bytes, got shape {} of {}", INT64_MAX, shape,
                        dtype);
    }
  }
  return is_empty ? 0 : static_cast<std::size_t>(bytes);
}

Tensor tensor_in(const DataPtr& file, const FileTensor& place) {
  const std::size_t bytes = file_bytes(place.shape, place.dtype);
  Layout layout = Layout::contiguous(place.shape);
  if (place.is_fortran) layout.strides = fortran_strides(place.shape);
  if (bytes == 0) return empty(place.shape, place.dtype).with_layout(layout);

  std::byte* const from = static_cast<std::byte*>(file.data) + place.offset;
  const auto item = static_cast<std::size_t>(item_bytes(place.dtype));
  const bool is_native = !place.is_swapped || item == 1;
  const bool is_aligned = std::bit_cast<std::uintptr_t>(from) % item == 0;
  if (is_native && is_aligned && (place.dtype != DType::boolean || are_bools(from, bytes))) {
    // A storage of its own: what is written to one tensor of a file is no change of the others.
    return {Storage::adopt(part_of(file, place.offset, bytes)), layout, place.dtype};
  }
  Storage storage = Storage::allocate(bytes);
  copy_elements(storage.data(), from, bytes, place);
  return {std::move(storage), layout, place.dtype};
}

}  // namespace loup::io
