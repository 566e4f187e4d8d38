#include "loup/ops/operators.h"

#include <gtest/gtest.h>

#include "loup/tensor/create.h"
#include "tests/support/tensors.h"

namespace loup {
namespace {

using test::elements;
using Doubles = std::vector<double>;
using Longs = std::vector<std::int64_t>;
using Bools = std::vector<bool>;

TEST(Operators, OfArithmeticTakeTensorsAndNumbers) {
  const Tensor x = tensor({1.0, 2.0});
  const Tensor y = tensor({10.0, 4.0});
  EXPECT_EQ(elements<double>(x + y), (Doubles{11, 6}));
  EXPECT_EQ(elements<double>(x - 1), (Doubles{0, 1}));
  EXPECT_EQ(elements<double>(1 - x), (Doubles{0, -1}));
  EXPECT_EQ(elements<double>(x * y), (Doubles{10, 8}));
  EXPECT_EQ(elements<double>(2 * x), (Doubles{2, 4}));
  EXPECT_EQ(elements<double>(y / x), (Doubles{10, 2}));
  EXPECT_EQ(elements<double>(2 / x), (Doubles{2, 1}));
  EXPECT_EQ(elements<double>(y % 3), (Doubles{1, 1}));
  EXPECT_EQ(elements<double>(5 % y), (Doubles{5, 1}));
  EXPECT_EQ(elements<double>(0.5 + x), (Doubles{1.5, 2.5}));
  EXPECT_EQ(elements<double>(-x), (Doubles{-1, -2}));
}

TEST(Operators, ChainWithoutLosingTemporaries) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_EQ(elements<double>((x + 1) * (x - 1) / (2 * x)), (Doubles{0, 0.75}));
}

TEST(Operators, OfBitsAndTruth) {
  const Tensor x = tensor({6, 5});
  EXPECT_EQ(elements<std::int64_t>(x & 3), (Longs{2, 1}));
  EXPECT_EQ(elements<std::int64_t>(x | 3), (Longs{7, 7}));
  EXPECT_EQ(elements<std::int64_t>(x ^ 3), (Longs{5, 6}));
  EXPECT_EQ(elements<std::int64_t>(~x), (Longs{-7, -6}));
  EXPECT_EQ(elements<bool>(!tensor({0, 5})), (Bools{true, false}));
}

TEST(Operators, OfComparisonGiveBool) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(elements<bool>(x < 2), (Bools{true, false, false}));
  EXPECT_EQ(elements<bool>(x <= 2), (Bools{true, true, false}));
  EXPECT_EQ(elements<bool>(x > 2), (Bools{false, false, true}));
  EXPECT_EQ(elements<bool>(x >= 2), (Bools{false, true, true}));
  EXPECT_EQ(elements<bool>(x == 2), (Bools{false, true, false}));
  EXPECT_EQ(elements<bool>(x != x), (Bools{false, false, false}));
}

TEST(Operators, OfAssignmentWriteIntoTheirTensor) {
  Tensor x = tensor({1.0, 2.0});
  const std::byte* const memory = x.raw_data();
  x += 1;
  x *= x;
  x -= tensor({1.0});
  x /= 2;
  EXPECT_EQ(elements<double>(x), (Doubles{1.5, 4}));
  EXPECT_EQ(x.raw_data(), memory);
}

}  // namespace
}  // namespace loup
