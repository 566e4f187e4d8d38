#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::test {

/// A layout of the same elements: "contiguous", "turned" or "stepped" in memory.
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

/// Expects c = a · b, up to the rounding of sums of 256 products each.
inline void expect_product(const Tensor& c, const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.size(0);
  const std::int64_t depth = a.size(1);
  const std::int64_t cols = b.size(1);
  ASSERT_EQ(c.shape(), (Shape{rows, cols}));
  const std::vector<double> left = elements<double>(a);
  const std::vector<double> right = elements<double>(ops::transpose(b, 0, 1));
  const double computed = unit_roundoff(storage_type(compute_type(c.dtype())));
  const auto terms = static_cast<double>(std::min<std::int64_t>(depth, 256) + depth / 256);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      double wanted = 0;
      double magnitude = 0;
      for (std::int64_t q = 0; q < depth; ++q) {
        const double product = left[static_cast<std::size_t>(i * depth + q)] *
                               right[static_cast<std::size_t>(j * depth + q)];
        wanted += product;
        magnitude += std::abs(product);
      }
      const double bound = magnitude * (computed * (terms + 1) + unit_roundoff(c.dtype()));
      ASSERT_NEAR(c.at<double>({i, j}), wanted, bound) << "at " << i << ", " << j;
    }
  }
}

}  // namespace loup::test
