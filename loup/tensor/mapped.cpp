#include "loup/tensor/mapped.h"

#include "loup/base/error.h"
#include "loup/memory/map_allocator.h"

namespace loup {

namespace {

std::size_t mapped_bytes(const char* operation, const Shape& shape, DType dtype,
                         std::size_t offset) {
  std::int64_t bytes = 0;
  std::int64_t end = 0;
  if (__builtin_mul_overflow(element_count(shape), item_bytes(dtype), &bytes) ||
      __builtin_add_overflow(bytes, offset, &end)) {
    throw ShapeError("{}: expected a size that a file can have, got shape {} of {} at {}",
                     operation, shape, dtype, offset);
  }
  return static_cast<std::size_t>(bytes);
}

void check_offset(const char* operation, DType dtype, std::size_t offset) {
  const auto item = static_cast<std::size_t>(item_bytes(dtype));
  if (offset % item != 0) {
    throw ValueError("{}: expected an offset that is a multiple of {} for {}, got {}", operation,
                     item, dtype, offset);
  }
}

MapFlags flags_of(const FromFileOptions& options) {
  MapFlags flags = options.shared ? MapFlags::shared : MapFlags::none;
  if (options.read_only) flags = flags | MapFlags::read_only;
  return flags;
}

Tensor view_of(const DataPtr& data, DType dtype, const Shape& shape, std::size_t offset) {
  DataPtr part = data;
  part.data = static_cast<std::byte*>(data.data) + (data.data == nullptr ? 0 : offset);
  part.bytes = data.bytes - offset;
  return {Storage::adopt(std::move(part)), Layout::contiguous(shape), dtype};
}

}  // namespace

Tensor from_file(const std::string& path, DType dtype, const std::optional<Shape>& shape,
                 const FromFileOptions& options) {
  const std::size_t offset = options.offset;
  check_offset("from_file", dtype, offset);
  if (shape) {
    const std::size_t bytes = mapped_bytes("from_file", *shape, dtype, offset);
    const DataPtr data = MapAllocator::makeDataPtr(path, flags_of(options), offset + bytes);
    return view_of(data, dtype, *shape, offset);
  }
  const DataPtr data = MapAllocator::makeDataPtr(path, flags_of(options), {});
  const auto item = static_cast<std::size_t>(item_bytes(dtype));
  if (offset > data.bytes || (data.bytes - offset) % item != 0) {
    throw ValueError(
        "from_file: expected a whole number of {} elements of {} bytes from {} on, "
        "got \"{}\" of {} bytes",
        dtype, item, offset, path, data.bytes);
  }
  return view_of(data, dtype, {static_cast<std::int64_t>((data.bytes - offset) / item)}, offset);
}

Tensor tensor_in(const DataPtr& data, DType dtype, const Shape& shape, std::size_t offset) {
  check_offset("tensor", dtype, offset);
  const std::size_t bytes = mapped_bytes("tensor", shape, dtype, offset);
  if (offset > data.bytes || bytes > data.bytes - offset) {
    throw ShapeError("tensor: expected at most {} bytes from {} on, got {} for shape {} of {}",
                     offset > data.bytes ? 0 : data.bytes - offset, offset, bytes, shape, dtype);
  }
  return view_of(data, dtype, shape, offset);
}

}  // namespace loup
