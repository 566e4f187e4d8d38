#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "loup/kernels/reduce.h"
#include "tests/kernels/blocks.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/ulp.h"

namespace loup::test {
namespace {

/// Rows of several blocks, whose elements are measured against those before.
constexpr std::int64_t length = 3000;

template <class T>
class RowOfExponentials : public testing::Test {
 protected:
  /// What elements are computed in.
  using Full = std::conditional_t<sizeof(T) == 2, float, T>;
  using Limits = std::numeric_limits<Full>;

  /// What additions lose is small as a rule: floats are added to doubles after 32 in each lane,
  /// doubles and half types after 64.
  static constexpr double usual_roundings = sizeof(T) == 4 ? 8 : 8 + 64;
  static constexpr double most_roundings = sizeof(T) == 4 ? 8 + 32 : 8 + 64;

  /// element(i) for all i, of which those count for which counts(i) is true.
  template <class Element, class Counts>
  void expect_within_bound(Element element, Counts counts, double roundings = usual_roundings) {
    std::vector<T> x;
    std::vector<std::uint8_t> mask;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < length; ++i) {
      mask.push_back(counts(i) ? 1 : 0);
      x.push_back(counts(i) ? element_of(element(i)) : element_of(Limits::quiet_NaN()));
      if (counts(i)) largest = std::fmax(largest, double_of(x.back()));
    }
    long double sum = 0;  // or it would be no better than what it judges
    for (std::int64_t i = 0; i < length; ++i) {
      if (!counts(i)) continue;
      const long double term = double_of(x[static_cast<std::size_t>(i)]);
      sum += std::exp(term - largest);
    }
    const auto wanted =
        std::isfinite(largest) ? static_cast<double>(largest + std::log(sum)) : largest;
    const double bound =
        static_cast<double>(Limits::epsilon()) / 2 * (std::abs(wanted) + roundings);
    for_each_target([&] {
      const double got = result(x, mask);
      if (std::isfinite(wanted)) {
        EXPECT_NEAR(got, wanted, bound);
      } else {
        EXPECT_EQ(got, wanted);
      }
    });
  }
  template <class Element>
  void expect_within_bound(Element element, double roundings = usual_roundings) {
    expect_within_bound(element, [](std::int64_t) { return true; }, roundings);
  }
  static double result(const std::vector<T>& x, const std::vector<std::uint8_t>& mask) {
    const auto& reducer = *kernels::find_reducer(kernels::ReduceOp::log_sum_exp, dtype_of<T>());
    StateBuffer states(reducer, 1);
    reducer.along(states.from(0), false, {x.data(), length, mask.data(), length, 1, 1, length});
    return static_cast<double>(states.finish<Full>()[0]);
  }
  static T element_of(double value) { return static_cast<T>(static_cast<Full>(value)); }
  static double double_of(T value) { return static_cast<double>(static_cast<Full>(value)); }
};
using RealTypes = testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(RowOfExponentials, RealTypes);

TYPED_TEST(RowOfExponentials, MayRise) {
  for (const double step : {0.001, 0.01, 0.1, 1.0}) {
    this->expect_within_bound([=](std::int64_t i) { return step * static_cast<double>(i); });
  }
}

TYPED_TEST(RowOfExponentials, MayFall) {
  for (const double step : {0.001, 0.01, 0.1, 1.0}) {
    this->expect_within_bound([=](std::int64_t i) { return -step * static_cast<double>(i); });
  }
}

TYPED_TEST(RowOfExponentials, MayJump) {
  for (const double height : {3.0, 7.0, 20.0, 90.0, 1000.0, 3e9, 1e30}) {
    for (const std::int64_t at : {0, 127, 128, 1023, 1024, 2999}) {
      this->expect_within_bound([=](std::int64_t i) { return i == at ? height : 0.5; });
      this->expect_within_bound([=](std::int64_t i) { return i == at ? height / 2 : -height; });
      this->expect_within_bound([=](std::int64_t i) { return i < at ? -height : height; });
    }
  }
}

TYPED_TEST(RowOfExponentials, MayBeAnywhereBesideTheLargest) {
  // Equal terms, whose errors add up.
  for (double distance = 0.01; distance < 16; distance += 0.03) {
    this->expect_within_bound([=](std::int64_t i) { return i == 0 ? 0.0 : -distance; },
                              this->most_roundings);
  }
}

TYPED_TEST(RowOfExponentials, MayBeginWithWhatDoesNotCount) {
  for (const std::int64_t first : {100, 500, 1500, 2999}) {
    this->expect_within_bound([](std::int64_t i) { return static_cast<double>(i % 7); },
                              [=](std::int64_t i) { return i >= first; });
  }
}

TYPED_TEST(RowOfExponentials, ShowsInfinitiesAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  this->expect_within_bound([=](std::int64_t) { return -infinity; });
  for (const std::int64_t at : {0, 200, 1500, 2999}) {
    this->expect_within_bound([=](std::int64_t i) { return i == at ? 2.0 : -infinity; });
    this->expect_within_bound([=](std::int64_t i) { return i == at ? infinity : 2.0; });
    std::vector<TypeParam> x(length, this->element_of(3));
    x[static_cast<std::size_t>(at)] = this->element_of(std::nan(""));
    const std::vector<std::uint8_t> mask(length, 1);
    for_each_target([&] { EXPECT_TRUE(std::isnan(this->result(x, mask))) << at; });
  }
}

/// exp(x) as sums are made of it: columns of which the largest element so far is 0 and the sum 0
/// have it as their sum when x follows.
template <class T>
void expect_exponentials(const std::vector<T>& x) {
  const auto count = std::ssize(x);
  const auto& reducer = *kernels::find_reducer(kernels::ReduceOp::log_sum_exp, dtype_of<T>());
  for_each_target([&] {
    StateBuffer states(reducer, count);
    auto* const largest = static_cast<double*>(states.data());
    double* const sums = largest + count;
    std::fill_n(largest, 2 * count, 0.0);
    reducer.across(states.from(0), {x.data(), count, nullptr, 0, 0, 1, count});
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error =
          ulp_error(static_cast<T>(sums[i]), std::exp(static_cast<long double>(x[i])));
      if (error > worst) {
        worst = error;
        at = i;
      }
    }
    EXPECT_LE(worst, 1.1) << "for " << x[at] << ", which gave " << sums[at];
  });
}

TEST(Exponentials, OfFloatsAreExactFromTheLeastToTheLargestInSums) {
  std::vector<float> x;
  for (const float end : {-87.0F, 6.0F}) {
    const auto last = std::bit_cast<std::uint32_t>(end);
    const std::uint32_t sign = last & 0x80000000U;
    for (std::uint32_t bits = sign; bits <= last; bits += 4099)
      x.push_back(std::bit_cast<float>(bits));
  }
  expect_exponentials(x);
}

TEST(Exponentials, OfFloatsAreExactWhereSumsAreMadeOfThem) {
  Random random;
  std::vector<float> x(500'000);
  for (float& each : x) each = static_cast<float>(random.fraction() * -20);
  expect_exponentials(x);
}

TEST(Exponentials, OfDoublesAreExact) {
  Random random;
  std::vector<double> x;
  while (x.size() < 100'000) {
    x.push_back(random.fraction() * 714 - 708);
    x.push_back(random.fraction() * -20);
  }
  expect_exponentials(x);
}

}  // namespace
}  // namespace loup::test
