#pragma once

#include <cstdint>
#include <optional>

#include "loup/tensor/tensor.h"

namespace loup::ops {

/// What a line of integers of which nothing counts gives: they have no NaN.
enum class Hidden : std::uint8_t { error, zero };

struct MedianArguments {
  const Tensor* mask = nullptr;  // true = counts; null: all do
  bool keepdim = false;
  std::optional<DType> dtype = {};  // the input is converted first
  Hidden hidden = Hidden::error;
};

/// Of the n elements of each line along `dim` that count the one at place (n - 1) / 2 when they are
/// sorted; NaN where one of them is NaN, or nothing counts. The gradient goes to the first element
/// that equals it. IndexError for lines without elements.
LOUP_EXPORT Tensor median_along(const Tensor& x, std::int64_t dim,
                                const MedianArguments& arguments = {});

}  // namespace loup::ops
