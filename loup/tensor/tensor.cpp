#include "loup/tensor/tensor.h"

#include <utility>

#include "loup/base/error.h"

namespace loup {

bool Layout::is_contiguous() const {
  std::int64_t step = 1;
  bool has_gaps = false;
  for (int i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    has_gaps |= shape[i] != 1 && strides[i] != step;
    step *= shape[i];
  }
  return !has_gaps;
}

std::int64_t Layout::position(const char* operation, const Dims& index) const {
  if (index.size() != shape.size()) {
    throw IndexError("{}: expected {} indices for shape {}, got {}", operation, shape.size(), shape,
                     index.size());
  }
  std::int64_t result = offset;
  for (int i = 0; i < index.size(); ++i) {
    const std::int64_t size = shape[i];
    if (index[i] < -size || index[i] >= size) {
      throw IndexError("{}: expected an index from {} to {} for dim {}, got {}", operation, -size,
                       size - 1, i, index[i]);
    }
    result += (index[i] < 0 ? index[i] + size : index[i]) * strides[i];
  }
  return result;
}

namespace {

void check_bounds(const Storage& storage, const Layout& layout, DType dtype) {
  std::int64_t first = layout.offset;
  std::int64_t last = layout.offset;
  bool overflow = false;
  for (int i = 0; i < layout.shape.size(); ++i) {
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(layout.shape[i] - 1, layout.strides[i], &reach);
    std::int64_t& end = reach < 0 ? first : last;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  const auto capacity = static_cast<std::int64_t>(storage.bytes()) / item_bytes(dtype);
  if (overflow || first < 0 || last >= capacity) {
    throw ShapeError(
        "tensor: expected a layout inside of {} elements, got shape {}, strides {}, "
        "offset {}",
        capacity, layout.shape, layout.strides, layout.offset);
  }
}

}  // namespace

Tensor::Tensor() : layout_(Layout::contiguous({0})) {}

Tensor::Tensor(Storage storage, const Layout& layout, DType dtype)
    : storage_(std::move(storage)), layout_(layout), dtype_(dtype) {
  if (layout.shape.size() != layout.strides.size()) {
    throw ShapeError("tensor: expected as many strides as dims, got shape {} and strides {}",
                     layout.shape, layout.strides);
  }
  if (element_count(layout.shape) != 0) check_bounds(storage_, layout_, dtype_);
}

std::int64_t Tensor::size(std::int64_t dim) const {
  if (ndim() == 0) throw IndexError("size: expected a tensor with dims, got 0-d and dim {}", dim);
  return layout_.shape[normalize_dim("size", dim, ndim())];
}

std::int64_t Tensor::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : layout_.shape) count *= extent;
  return count;
}

void Tensor::set(const Dims& index, Scalar value) const {
  const std::int64_t position = layout_.position("set", index);
  prepare_write("set");
  visit_dtype(dtype_, [&]<class T>(std::type_identity<T>) {
    reinterpret_cast<T*>(storage_.data())[position] = value.to<T>();
  });
}

void Tensor::check_writable(const char* operation) const {
  if (!storage_.is_writable()) {
    throw ValueError("{}: expected writable memory, got a read-only tensor; clone it first",
                     operation);
  }
}

void Tensor::prepare_write(const char* operation) const {
  check_writable(operation);
  storage_.bump_version();
}

Tensor Tensor::detach() const { return with_layout(layout_); }

std::int64_t Tensor::only_element() const {
  if (size() != 1) {
    throw ValueError("item: expected a tensor of one element, got shape {}", shape());
  }
  return layout_.offset;
}

void Tensor::check_span(DType wanted, bool writes) const {
  if (wanted != dtype_) throw DTypeError("data: expected {}, got {}", dtype_, wanted);
  if (!is_contiguous()) {
    throw ShapeError("data: expected a contiguous tensor, got shape {} with strides {}", shape(),
                     strides());
  }
  if (writes) prepare_write("data");
}

}  // namespace loup
