#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "loup/tensor/create.h"
#include "tests/support/tensors.h"

namespace loup::test {

/// Equal element by element; NaN equals NaN.
inline void expect_elements(const Tensor& got, const std::vector<double>& wanted) {
  const auto values = elements<double>(got);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << i;
    } else {
      EXPECT_DOUBLE_EQ(values[i], wanted[i]) << i;
    }
  }
}

/// A mask of padded sequences, shared by all rows.
inline Tensor padding(std::int64_t length, std::int64_t count) {
  const Tensor mask = zeros({count}, DType::boolean);
  for (std::int64_t i = 0; i < length; ++i) mask.set({i}, i % 7 != 3);
  return mask;
}

}  // namespace loup::test
