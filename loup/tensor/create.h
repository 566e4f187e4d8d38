#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "loup/base/error.h"
#include "loup/tensor/tensor.h"

namespace loup {

/// Uninitialised elements. ShapeError when the size overflows; std::bad_alloc when there is no
/// memory.
LOUP_EXPORT Tensor empty(const Shape& shape, DType dtype = DType::f32);
LOUP_EXPORT Tensor full(const Shape& shape, Scalar value, std::optional<DType> dtype = {});
LOUP_EXPORT Tensor zeros(const Shape& shape, DType dtype = DType::f32);
LOUP_EXPORT Tensor ones(const Shape& shape, DType dtype = DType::f32);

/// Same shape as `x`, and its dtype unless another is given; contiguous.
LOUP_EXPORT Tensor empty_like(const Tensor& x, std::optional<DType> dtype = {});
LOUP_EXPORT Tensor full_like(const Tensor& x, Scalar value, std::optional<DType> dtype = {});
LOUP_EXPORT Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = {});
LOUP_EXPORT Tensor ones_like(const Tensor& x, std::optional<DType> dtype = {});

/// start, start + step, … up to but without stop. By default int64, or float32 when an argument is
/// a float.
LOUP_EXPORT Tensor arange(Scalar start, Scalar stop, Scalar step = 1,
                          std::optional<DType> dtype = {});

/// A copy of row-major elements; ShapeError when there are not as many as `shape` says.
template <class T>
Tensor from_data(std::span<const T> values, const Shape& shape) {
  if (static_cast<std::int64_t>(values.size()) != element_count(shape)) {
    throw ShapeError("from_data: expected {} elements for shape {}, got {}", element_count(shape),
                     shape, values.size());
  }
  Tensor result = empty(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), result.data<T>().begin());
  return result;
}

/// Tensors from braces: `tensor({1.0F, 2.0F})`, `tensor({{1, 2}, {3, 4}})`.
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return from_data(std::span<const T>(values.begin(), values.size()),
                   {static_cast<std::int64_t>(values.size())});
}

template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows) {
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  Tensor result = empty(
      {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)}, dtype_of<T>());
  auto to = result.data<T>().begin();
  for (const auto& row : rows) {
    if (row.size() != columns) {
      throw ShapeError("tensor: expected rows of {} elements, got one of {}", columns, row.size());
    }
    to = std::copy(row.begin(), row.end(), to);
  }
  return result;
}

template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks) {
  std::vector<Tensor> parts;
  for (const auto& block : blocks) parts.push_back(tensor(block));
  Shape shape = parts.empty() ? Shape{0, 0} : parts.front().shape();
  shape.insert(0, static_cast<std::int64_t>(parts.size()));
  Tensor result = empty(shape, dtype_of<T>());
  auto to = result.data<T>().begin();
  for (const Tensor& part : parts) {
    if (part.shape() != parts.front().shape()) {
      throw ShapeError("tensor: expected blocks of shape {}, got one of {}", parts.front().shape(),
                       part.shape());
    }
    const auto from = part.data<const T>();
    to = std::copy(from.begin(), from.end(), to);
  }
  return result;
}

}  // namespace loup
