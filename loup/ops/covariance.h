#pragma once

#include <optional>

#include "loup/tensor/tensor.h"

// Covariances of variables, the rows of a matrix whose columns are observations. A vector is one
// variable, and gives a number. Of two variables those observations count that are valid in both
// rows, so with a mask each pair has observations, means and a divisor of its own; such a matrix
// need not be positive semidefinite. Integers give float32, int64 float64.

namespace loup::ops {

struct CovarianceArguments {
  double correction = 1;             // the divisor is the number of observations less this
  const Tensor* fweights = nullptr;  // how often each observation was made: integers, not negative
  const Tensor* aweights = nullptr;  // how much each one matters: not negative
  const Tensor* mask = nullptr;      // true = counts; null: all do
};

/// NaN for pairs without observations; where the divisor is not positive it is 0. Both have no
/// gradient.
LOUP_EXPORT Tensor covariance(const Tensor& x, const CovarianceArguments& arguments = {});

/// Covariances divided by the deviations of both variables, taken over the same observations, and
/// moved into [-1, 1]. NaN, without a gradient, where a deviation is 0.
LOUP_EXPORT Tensor correlation(const Tensor& x, const Tensor* mask = nullptr);

/// Which pairs of variables have an observation in common; all true without a mask.
LOUP_EXPORT Tensor pair_mask(const char* operation, const Tensor& x, const Tensor* mask);

}  // namespace loup::ops
