#pragma once

#include <vector>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/reduce.h"
#include "tests/support/tensors.h"

namespace loup::test {

/// `values` as a leaf that collects gradients.
inline Tensor leaf(const Tensor& values) {
  Tensor x = values;
  autograd::set_requires_grad(x, true);
  return x;
}

inline Tensor sum(const Tensor& x, const Dims& dims = {}, const Tensor* mask = nullptr) {
  return ops::reduce(ops::sum_spec, x, dims, {.mask = mask});
}

/// The elements of the gradient that `x` has collected.
inline std::vector<double> grad_of(const Tensor& x) {
  return elements<double>(autograd::grad(x).value());
}

}  // namespace loup::test
