#pragma once

#include <optional>
#include <vector>

#include "loup/tensor/tensor.h"

// How gradients reach the elements that an order statistic was made of.

namespace loup::ops {

/// The elements that results came from: one for each. All have the shape of the result, in which
/// the dim has as many elements as there are results for a line.
struct NthUse {
  Tensor indices;               // int64, along the dim
  Tensor is_live;               // bool: whether there is one
  std::optional<Tensor> share;  // of the result, as factors; absent: all of it
};

/// The first elements of x that count and equal `values` of each line. `values` has the shape of x
/// but for the dim, which has size 1, and x's dtype.
NthUse use_of(const Tensor& x, const Tensor* mask, int dim, const Tensor& values);

/// Records that `result` is the sum of elements of `x` found by `uses`, each times its share. The
/// gradient of all other elements is a structural zero. Without `keepdim` the dim is missing in the
/// result.
void record_nth(const char* operation, Tensor& result, const Tensor& x, int dim, bool keepdim,
                std::vector<NthUse> uses);

}  // namespace loup::ops
