#pragma once

#include <cstdint>

#include "loup/ops/function.h"
#include "loup/ops/generator.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// 0, …, n - 1 as int64, in a random order; all orders are exactly equally likely. ValueError
/// unless n >= 0.
LOUP_EXPORT Tensor randperm(std::int64_t n, const Generator& generator = default_generator());

struct MultinomialOptions {
  bool replacement = false;
  Generator generator = default_generator();
};
/// Indices into the last dim of `weights` (1-d or 2-d, floating), drawn with probabilities
/// proportional to them: `count` from each row, as int64. Without replacement, an index that was
/// drawn is not drawn again. ValueError unless the weights are finite and not negative and at least
/// one of a row, without replacement at least `count`, are above 0.
LOUP_EXPORT Tensor multinomial(const Tensor& weights, std::int64_t count,
                               const MultinomialOptions& options = {});

inline constexpr Function sampling_functions[] = {
    {"randperm", "(n: int, *, generator: Generator | None = None) -> Tensor",
     "The integers 0, …, n - 1 in a random order."},
    {"multinomial",
     "(input: object, num_samples: int, replacement: bool = False, *, generator: Generator | None "
     "= None) -> Tensor",
     "Draw indices with probabilities proportional to the weights in input.", false, false,
     Masks::read},
};

}  // namespace loup::ops
