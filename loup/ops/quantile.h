#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "loup/tensor/tensor.h"

namespace loup::ops {

/// What stands between two neighbours of the sorted elements.
enum class Interpolation : std::uint8_t { linear, lower, higher, midpoint, nearest };

/// The interpolation of a name: "linear", "lower", …; ValueError for any other.
LOUP_EXPORT Interpolation interpolation_of(std::string_view name);

struct QuantileArguments {
  const Tensor* mask = nullptr;  // true = counts; null: all do
  bool keepdim = false;
  Interpolation interpolation = Interpolation::linear;
  std::optional<DType> dtype = {};  // the input is converted first
};

/// For each of `q` what stands at place q (n - 1) among the n elements of a line along `dim` that
/// count, when those are sorted; without a dim all elements are one line. The result has a leading
/// dim for q. NaN where one of them is NaN, or nothing counts. Integers give float32, int64
/// float64. Gradients go to the elements used: of equal ones to the first. ValueError unless every
/// q lies in [0, 1], IndexError for lines without elements.
LOUP_EXPORT Tensor quantiles_along(const Tensor& x, std::span<const double> q,
                                   std::optional<std::int64_t> dim,
                                   const QuantileArguments& arguments = {});

}  // namespace loup::ops
