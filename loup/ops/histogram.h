#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "loup/tensor/tensor.h"

namespace loup::ops {

struct BinCounts {
  Tensor counts;  // int64; of the dtype of the edges with density or weights
  Tensor edges;   // one more than there are bins
};

/// A number of equal bins, or the edges of all of them.
using Bins = std::variant<std::int64_t, Tensor>;

struct HistogramArguments {
  std::optional<std::pair<double, double>> range = {};  // absent: from the least to the greatest
  bool density = false;            // divided by the sum of all and by the widths of the bins
  const Tensor* weight = nullptr;  // of x's shape; null: 1
  const Tensor* mask = nullptr;    // true = counts; null: all do
};

/// How many elements lie in each bin: its left edge belongs to it, of the last bin the right one,
/// too. Elements outside of the range, and NaN, lie in none. Edges have the dtype of a floating x,
/// otherwise float32, of int64 float64. Without a range and elements it is [0, 1], and half of 1 is
/// added on both sides where all elements are equal. ValueError when a range is not finite or
/// falls, or edges fall.
LOUP_EXPORT BinCounts count_in_bins(const Tensor& x, const Bins& bins,
                                    const HistogramArguments& arguments = {});

}  // namespace loup::ops
