#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::test {

/// A layout of the same elements: "contiguous", "turned", "stepped" or "expanded" in memory.
inline Tensor laid_out(const Tensor& x, const std::string& how) {
  if (how == "turned") {
    return ops::transpose(ops::clone(ops::transpose(x, -2, -1)), -2, -1);
  }
  if (how == "stepped") {
    Shape shape = x.shape();
    for (std::int64_t& size : shape) size = 2 * size + 1;
    Tensor whole = empty(shape, x.dtype());
    for (int i = 0; i < x.ndim(); ++i) whole = ops::slice(whole, i, 1, std::nullopt, 2);
    ops::copy_(whole, x);
    return whole;
  }
  return ops::clone(x);
}

/// One element of a product of matrices, in float64, and the sum of the magnitudes it is made of.
struct Element {
  double value = 0;
  double magnitude = 0;
};
inline Element product_element(const Tensor& a, const Tensor& b, std::int64_t i, std::int64_t j) {
  Element result;
  for (std::int64_t q = 0; q < a.size(1); ++q) {
    const double product = a.at<double>({i, q}) * b.at<double>({q, j});
    result.value += product;
    result.magnitude += std::abs(product);
  }
  return result;
}

/// Expects c = a · b, up to the rounding of sums of 256 products each.
inline void expect_product(const Tensor& c, const Tensor& a, const Tensor& b) {
  ASSERT_EQ(c.shape(), (Shape{a.size(0), b.size(1)}));
  const double computed = unit_roundoff(storage_type(compute_type(c.dtype())));
  const auto terms = static_cast<double>(std::min<std::int64_t>(a.size(1), 256) + a.size(1) / 256);
  for (std::int64_t i = 0; i < c.size(0); ++i) {
    for (std::int64_t j = 0; j < c.size(1); ++j) {
      const Element wanted = product_element(a, b, i, j);
      const double bound = wanted.magnitude * (computed * (terms + 1) + unit_roundoff(c.dtype()));
      ASSERT_NEAR(c.at<double>({i, j}), wanted.value, bound) << "at " << i << ", " << j;
    }
  }
}

}  // namespace loup::test
