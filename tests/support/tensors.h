#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "loup/base/dims.h"
#include "loup/tensor/create.h"
#include "loup/tensor/tensor.h"
#include "tests/support/random.h"

namespace loup::test {

inline std::vector<DType> all_dtypes() {
  std::vector<DType> result;
  for (int i = 0; i < dtype_count; ++i) result.push_back(static_cast<DType>(i));
  return result;
}

/// Calls `visit(index)` for every element of `shape`, row-major.
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  Dims index = Dims::filled(shape.size(), 0);
  const std::int64_t count = element_count(shape);
  for (std::int64_t n = 0; n < count; ++n) {
    visit(static_cast<const Dims&>(index));
    for (int d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

/// The elements in row-major order.
template <class T>
std::vector<T> elements(const Tensor& x) {
  std::vector<T> result;
  for_each_index(x.shape(), [&](const Dims& index) { result.push_back(x.at<T>(index)); });
  return result;
}

inline void expect_near(const Tensor& got, const std::vector<double>& wanted,
                        double allowed = 1e-12) {
  const auto values = elements<double>(got);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], allowed) << i;
}

/// The bytes of the elements in row-major order: equal when every bit is.
inline std::vector<std::byte> bits_of(const Tensor& x) {
  std::vector<std::byte> result;
  const std::int64_t bytes = item_bytes(x.dtype());
  for_each_index(x.shape(), [&](const Dims& index) {
    const std::byte* const at = x.storage().data() + x.layout().position("at", index) * bytes;
    result.insert(result.end(), at, at + bytes);
  });
  return result;
}

/// A contiguous tensor of random elements: any integers, moderate floats.
inline Tensor random_tensor(Random& random, const Shape& shape, DType dtype) {
  const Tensor result = empty(shape, dtype);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for (T& element : result.data<T>()) element = random.value<T>();
  });
  return result;
}

/// A contiguous mask in which about `share` of the elements count.
inline Tensor random_mask(Random& random, const Shape& shape, double share = 0.6) {
  const Tensor result = empty(shape, DType::boolean);
  for (bool& element : result.data<bool>()) element = random.chance(share);
  return result;
}

/// A value that ruins every result it gets into.
template <class T>
T garbage(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random.chance(0.5);
  } else if constexpr (std::is_integral_v<T>) {
    const T extremes[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                          static_cast<T>(random.bits())};
    return extremes[random.integer(0, 2)];
  } else {
    const double huge = dtype_of<T>() == DType::f16   ? 65504
                        : dtype_of<T>() == DType::f64 ? 1e308
                                                      : 3e38;
    const double values[] = {std::nan(""), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), huge, -huge};
    const auto choice = static_cast<std::size_t>(random.integer(0, 5));
    if (choice < std::size(values)) return convert<T>(values[choice]);
    using Word =
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    return std::bit_cast<T>(static_cast<Word>(random.bits()));
  }
}

/// Overwrites every element of x's storage, also what x does not show, unless it stands at a
/// position where `mask` (of x's shape) is true.
inline void poison(const Tensor& x, const Tensor& mask, Random& random) {
  visit_dtype(x.dtype(), [&]<class T>(std::type_identity<T>) {
    std::vector<bool> counts(x.storage().bytes() / sizeof(T));
    for_each_index(x.shape(), [&](const Dims& index) {
      if (!mask.at<bool>(index)) return;
      counts[static_cast<std::size_t>(x.layout().position("at", index))] = true;
    });
    T* const data = reinterpret_cast<T*>(x.storage().data());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (!counts[i]) data[i] = garbage<T>(random);
    }
  });
}

}  // namespace loup::test
