#pragma once

#include <variant>

#include "loup/masked/lines.h"
#include "loup/masked/log_add_exp.h"
#include "loup/masked/ranks.h"
#include "loup/masked/reductions.h"

// Families of masked operators. A family fixes the signature; an operator is a constexpr value of
// it that can be called. The list of operators is in masked/ops.h.

namespace loup::masked {

/// Any operator of the library.
using Op = std::variant<const Reduction*, const Deviation*, const Norm*, const PairReduction*,
                        const Normalization*, const NormDivision*, const Scan*, const LogAddExp*,
                        const Median*, const Quantile*, const Histogram*, const Covariance*,
                        const Correlation*, const WeightedMean*>;

}  // namespace loup::masked
