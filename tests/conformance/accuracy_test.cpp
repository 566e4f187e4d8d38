#include <cmath>
#include <iostream>
#include <span>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup::test {
namespace {

constexpr std::int64_t count = 10'000'000;
constexpr double unit = 0x1p-24;

/// What a plain recursive pairwise summation in f32 gives.
float pairwise(std::span<const float> x) {
  if (x.size() == 1) return x[0];
  const std::size_t half = x.size() / 2;
  return pairwise(x.first(half)) + pairwise(x.subspan(half));
}

struct Exact {
  long double sum = 0;
  long double magnitude = 0;
};

/// Long doubles hold 40 more bits than f32: their own rounding does not matter here.
Exact exact_sum(std::span<const float> x) {
  Exact result;
  for (const float value : x) {
    result.sum += static_cast<long double>(value);
    result.magnitude += std::abs(static_cast<long double>(value));
  }
  return result;
}

void expect_within_bounds(const char* what, const Tensor& x) {
  const auto values = x.data<const float>();
  const Exact exact = exact_sum(values);
  const auto error = [&](float got) {
    return static_cast<double>(std::abs(static_cast<long double>(got) - exact.sum));
  };
  const double ours = error(masked::sum(x).item<float>());
  const double other = error(pairwise(values));
  const auto magnitude = static_cast<double>(exact.magnitude);
  const double promised = 17 * unit * magnitude + unit * static_cast<double>(std::abs(exact.sum));
  const double pairwise_bound = std::ceil(std::log2(static_cast<double>(count))) * unit * magnitude;
  std::cout << fmt::format("f32 sum of {} {}: error {:.3e}, pairwise {:.3e}, promised {:.3e}\n",
                           count, what, ours, other, promised);
  EXPECT_LE(ours, promised);
  EXPECT_LE(ours, pairwise_bound);
}

TEST(SumOfTenMillion, KeepsItsErrorBoundWithMixedSignsAndMagnitudes) {
  Random random;
  const Tensor x = empty({count});
  for (float& value : x.data<float>()) {
    const double magnitude = std::pow(10.0, -3 + 9 * random.fraction());
    value = static_cast<float>(random.chance(0.5) ? magnitude : -magnitude);
  }
  expect_within_bounds("of mixed sign", x);
}

TEST(SumOfTenMillion, KeepsItsErrorBoundWhenEveryRoundingGoesTheSameWay) {
  expect_within_bounds("times 0.1", full({count}, 0.1));
}

TEST(SumOfTenMillion, KeepsItsErrorBoundDownColumns) {
  Random random;
  const Tensor x = empty({count / 4, 4});
  for (float& value : x.data<float>()) value = static_cast<float>(random.real(10));
  const auto got = elements<double>(masked::sum(x, 0));
  for (std::int64_t c = 0; c < 4; ++c) {
    long double sum = 0;
    long double magnitude = 0;
    const auto values = x.data<const float>();
    for (std::int64_t r = 0; r < count / 4; ++r) {
      const auto value = static_cast<long double>(values[static_cast<std::size_t>(4 * r + c)]);
      sum += value;
      magnitude += std::abs(value);
    }
    EXPECT_LE(std::abs(static_cast<long double>(got[static_cast<std::size_t>(c)]) - sum),
              static_cast<long double>(unit) * (17 * magnitude + std::abs(sum)));
  }
}

}  // namespace
}  // namespace loup::test
