#pragma once

#include "loup/ops/function.h"
#include "loup/ops/generator.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// `x` with each element set to 0 with probability p and divided by 1 - p otherwise; x itself
/// unless `training`. What was dropped has no gradient: NaN there reaches nothing. DTypeError
/// unless x is floating, ValueError unless p lies in [0, 1].
LOUP_EXPORT Tensor dropout(const Tensor& x, double p = 0.5, bool training = true,
                           const Generator& generator = default_generator());

inline constexpr Function dropout_functions[] = {
    {"dropout",
     "(input: object, p: float = 0.5, training: bool = True, *, generator: Generator | None = "
     "None) -> Tensor",
     "Set elements to 0 with probability p and scale the others by 1 / (1 - p).", true, false,
     Masks::taken},
};

}  // namespace loup::ops
