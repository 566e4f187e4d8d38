#pragma once

#include <cstdint>
#include <optional>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Questions that sorting answers. NaN counts as the greatest, and all NaN as equal.

namespace loup::ops {

struct UniqueOptions {
  std::optional<std::int64_t> dim = {};  // compares the slices of this dim; absent: elements
  bool inverse = false;
  bool counts = false;
};
struct Unique {
  Tensor values;   // in order, each once
  Tensor inverse;  // int64: which of the values each element is; only if asked for
  Tensor counts;   // int64: how many elements have each of the values; only if asked for
};
LOUP_EXPORT Unique unique(const Tensor& x, const UniqueOptions& options = {});

/// For each of the values where it would be put into the sorted sequence to keep it sorted: before
/// equal elements, or, from the `right`, behind them. int64, of the shape of the values. The last
/// dim of the sequence is the sorted one; its other dims, where it has some, are those of the
/// values.
LOUP_EXPORT Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values,
                                bool right = false);

inline constexpr Function search_functions[] = {
    {"unique",
     "(input: object, sorted: bool = True, return_inverse: bool = False, return_counts: bool = "
     "False, dim: int | None = None, *, axis: int | None = None) -> typing.Any",
     "The different elements, or slices of one dim, in order; which of them each one is, and how "
     "many there are of each.",
     false, false, Masks::taken},
    {"searchsorted",
     "(sorted_sequence: object, values: object, *, right: bool = False, side: str | None = None, "
     "out_int32: bool = False) -> Tensor",
     "Where values would be put into sorted sequences to keep them sorted."},
    {"bucketize",
     "(input: object, boundaries: object, *, right: bool = False, out_int32: bool = False) -> "
     "Tensor",
     "Between which of the sorted boundaries each element lies.", false, false, Masks::taken},
};

}  // namespace loup::ops
