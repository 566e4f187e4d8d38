#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "loup/kernels/elementwise.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/ulp.h"

namespace loup::kernels {
namespace {

using test::for_each_target;
using test::Guarded;
using test::Random;
using test::ulp_error;

constexpr BinaryOp ops[] = {BinaryOp::pow,      BinaryOp::fmod,      BinaryOp::remainder,
                            BinaryOp::atan2,    BinaryOp::logaddexp, BinaryOp::logaddexp2,
                            BinaryOp::nextafter};

template <class T>
const ElementwiseKernel* find(BinaryOp op) {
  return find_binary(op, compute_type(dtype_of<T>()));
}

template <class T>
std::vector<T> run_binary(BinaryOp op, const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<T> result(x.size());
  const void* const inputs[] = {x.data(), y.data()};
  find<T>(op)->run(inputs, result.data(), static_cast<std::int64_t>(x.size()), nullptr);
  return result;
}

/// Two vectors that hold every pair of `values`.
template <class T>
struct Pairs {
  explicit Pairs(const std::vector<T>& values) {
    for (const T a : values) {
      for (const T b : values) {
        x.push_back(a);
        y.push_back(b);
      }
    }
  }
  std::vector<T> x, y;
};

template <class T>
std::vector<T> special_operands() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result = {Limits::quiet_NaN()};
  for (const T v :
       {T{0}, Limits::denorm_min(), Limits::min(), T(0.3), T(0.5), T{1}, T(1.5), T{2}, T{3}, T{4},
        T{7}, T(1e9), T(1e10) + T{1024}, Limits::max(), Limits::infinity()}) {
    result.push_back(v);
    result.push_back(-v);
  }
  return result;
}

/// Expects an error of at most `bound` on every instruction set.
template <class T, class Reference>
void expect_exact(BinaryOp op, const std::vector<T>& x, const std::vector<T>& y,
                  Reference&& reference, double bound) {
  std::vector<long double> wanted;
  for (std::size_t i = 0; i < x.size(); ++i) wanted.push_back(reference(x[i], y[i]));
  for_each_target([&] {
    const std::vector<T> got = run_binary(op, x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulp_error(got[i], wanted[i]), bound)
          << "for " << x[i] << " and " << y[i] << ", which gave " << got[i] << " instead of "
          << wanted[i];
    }
  });
}

template <class T>
class BinarySpecial : public testing::Test {
 protected:
  static constexpr bool is_float = std::is_same_v<T, float>;

  /// Random numbers of moderate size and of both signs.
  static std::vector<T> numbers(int scale, std::int64_t count = 20'000) {
    Random random(static_cast<std::uint64_t>(scale));
    std::vector<T> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(static_cast<T>(random.real(scale)));
    return result;
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(BinarySpecial, Floats);

long double pow_of(long double x, long double y) { return std::pow(x, y); }

TYPED_TEST(BinarySpecial, PowKnowsItsLimits) {
  const Pairs pairs(special_operands<TypeParam>());
  expect_exact(BinaryOp::pow, pairs.x, pairs.y, pow_of, 1);
}

TYPED_TEST(BinarySpecial, PowIsExact) {
  auto x = this->numbers(8);
  const auto y = this->numbers(5);
  for (auto& v : x) v = std::abs(v);
  expect_exact(BinaryOp::pow, x, y, pow_of, this->is_float ? 1.2 : 1);
}

TYPED_TEST(BinarySpecial, PowIsExactUpToTheLargestAndLeastResults) {
  // Errors of the logarithm count most where the exponent of the result is large: x near 1 and far
  // from it, y such that x^y is anywhere between 0 and infinity.
  Random random(3);
  const double most = std::numeric_limits<TypeParam>::max_exponent * 1.1;
  const auto between = [&](double limit) { return (2 * random.fraction() - 1) * limit; };
  std::vector<TypeParam> x;
  std::vector<TypeParam> y;
  for (int i = 0; i < 50'000; ++i) {
    x.push_back(static_cast<TypeParam>(std::exp2(between(i % 2 == 0 ? 0.6 : 100))));
    y.push_back(static_cast<TypeParam>(between(most) / std::log2(x.back())));
  }
  expect_exact(BinaryOp::pow, x, y, pow_of, this->is_float ? 1.2 : 1);
}

TYPED_TEST(BinarySpecial, PowWithOneExponentForAllIsThatOfEachPair) {
  using T = TypeParam;
  std::vector<T> x = special_operands<T>();
  for (const T v : this->numbers(8, 1000)) x.push_back(v);
  for (const T exponent : {T{2}, T{3}, T(0.5), T{-1}, T{-2}, T{0}, T{1}, T(1.7)}) {
    SCOPED_TRACE(exponent);
    expect_exact(BinaryOp::pow, x, std::vector<T>(x.size(), exponent), pow_of, 1.5);
  }
}

TYPED_TEST(BinarySpecial, FmodIsExact) {
  const auto reference = [](TypeParam x, TypeParam y) { return std::fmod(x, y); };
  const Pairs pairs(special_operands<TypeParam>());
  expect_exact(BinaryOp::fmod, pairs.x, pairs.y, reference, 0);
  expect_exact(BinaryOp::fmod, this->numbers(60), this->numbers(8), reference, 0);
}

TYPED_TEST(BinarySpecial, FmodOfMultiplesIsZero) {
  using T = TypeParam;
  std::vector<T> x;
  std::vector<T> y;
  for (int n = 1; n < 2000; ++n) {
    const T v = T{1} / static_cast<T>(n) + T(0.1);
    x.push_back(v * 3);
    y.push_back(v);
    x.push_back(static_cast<T>(n));
    y.push_back(T(0.1));
  }
  expect_exact(BinaryOp::fmod, x, y, [](T a, T b) { return std::fmod(a, b); }, 0);
}

TYPED_TEST(BinarySpecial, RemainderHasTheSignOfTheDivisor) {
  using T = TypeParam;
  const auto reference = [](T x, T y) {
    const T r = std::fmod(x, y);
    if (r == 0) return std::copysign(T{0}, y);
    return std::isnan(r) || (r < 0) == (y < 0) ? r : r + y;
  };
  const Pairs pairs(special_operands<T>());
  expect_exact(BinaryOp::remainder, pairs.x, pairs.y, reference, 0);
  expect_exact(BinaryOp::remainder, this->numbers(60), this->numbers(8), reference, 0);
}

TYPED_TEST(BinarySpecial, Atan2IsExactInAllQuadrants) {
  const auto reference = [](long double y, long double x) { return std::atan2(y, x); };
  const double bound = this->is_float ? 1.6 : 1;
  const Pairs pairs(special_operands<TypeParam>());
  expect_exact(BinaryOp::atan2, pairs.x, pairs.y, reference, bound);
  expect_exact(BinaryOp::atan2, this->numbers(8), this->numbers(5), reference, bound);
}

long double logaddexp_of(long double x, long double y) {
  if (x == y) return x + std::log(2.0L);
  return std::fmax(x, y) + std::log1p(std::exp(-std::abs(x - y))) + (x + y) * 0;
}
long double logaddexp2_of(long double x, long double y) {
  if (x == y) return x + 1;
  return std::fmax(x, y) + std::log2(1 + std::exp2(-std::abs(x - y))) + (x + y) * 0;
}

TYPED_TEST(BinarySpecial, LogaddexpIsExact) {
  auto x = this->numbers(6);
  auto y = this->numbers(5);
  // Of negative numbers the result may be the small difference of two large parts.
  for (auto& v : x) v = std::abs(v);
  for (auto& v : y) v = std::abs(v);
  expect_exact(BinaryOp::logaddexp, x, y, logaddexp_of, 1.5);
  expect_exact(BinaryOp::logaddexp2, x, y, logaddexp2_of, 1.5);
}

TYPED_TEST(BinarySpecial, LogaddexpKnowsInfinities) {
  using T = TypeParam;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x = {inf, -inf, inf, -inf, inf, nan, 1, -inf, nan};
  const std::vector<T> y = {inf, -inf, -inf, 3, 3, 1, nan, nan, inf};
  const std::vector<T> wanted = {inf, -inf, inf, 3, inf, nan, nan, nan, nan};
  for (const BinaryOp op : {BinaryOp::logaddexp, BinaryOp::logaddexp2}) {
    for_each_target([&] {
      const std::vector<T> got = run_binary(op, x, y);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(ulp_error(got[i], wanted[i]), 0) << "for " << x[i] << " and " << y[i];
      }
    });
  }
}

TYPED_TEST(BinarySpecial, NextafterIsThatOfTheStandardLibrary) {
  const auto reference = [](TypeParam x, TypeParam y) { return std::nextafter(x, y); };
  const Pairs pairs(special_operands<TypeParam>());
  expect_exact(BinaryOp::nextafter, pairs.x, pairs.y, reference, 0);
  expect_exact(BinaryOp::nextafter, this->numbers(60), this->numbers(60), reference, 0);
}

TYPED_TEST(BinarySpecial, TouchesNothingBeyondTheElementsAndNoNeighbours) {
  using T = TypeParam;
  for (const BinaryOp op : ops) {
    for_each_target([&] {
      for (std::size_t count = 0; count <= 35; ++count) {
        std::vector<T> x(count);
        std::vector<T> y(count);
        const std::vector<T> values = special_operands<T>();
        for (std::size_t i = 0; i < count; ++i) {
          x[i] = values[(i * 7) % values.size()];
          y[i] = values[(i * 11 + 3) % values.size()];
        }
        const Guarded<T> a(x);
        const Guarded<T> b(y);
        const Guarded<T> out(x);
        const void* const inputs[] = {a.data(), b.data()};
        find<T>(op)->run(inputs, out.data(), static_cast<std::int64_t>(count), nullptr);
        for (std::size_t i = 0; i < count; ++i) {
          const T alone = run_binary<T>(op, {x[i]}, {y[i]})[0];
          ASSERT_EQ(std::memcmp(&alone, out.data() + i, sizeof(T)), 0)
              << static_cast<int>(op) << " of " << x[i] << " and " << y[i];
        }
      }
    });
  }
}

template <class T>
class BinarySpecialOfIntegers : public testing::Test {
 protected:
  static constexpr T min = std::numeric_limits<T>::min();
  static constexpr T max = std::numeric_limits<T>::max();
};
using Integers = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(BinarySpecialOfIntegers, Integers);

TYPED_TEST(BinarySpecialOfIntegers, PowWrapsAndRoundsTowardsZero) {
  using T = TypeParam;
  const T wrapped = static_cast<T>(std::uint64_t{1'594'323} * 1'594'323 * 1'594'323 * 1'594'323);
  EXPECT_EQ(run_binary<T>(BinaryOp::pow, {2, -3, 0, 0, 7, 3, 2, -1, -1, 1, 0},
                          {10, 3, 0, 5, 1, 52, -1, -3, -4, -9, -1}),
            (std::vector<T>{1024, -27, 1, 0, 7, wrapped, 0, -1, 1, 1, 0}));
}

TYPED_TEST(BinarySpecialOfIntegers, RemaindersNeverTrap) {
  using T = TypeParam;
  const std::vector<T> x = {7, -7, 7, -7, 5, this->min, this->min, this->max, 0};
  const std::vector<T> y = {3, 3, -3, -3, 0, -1, 0, this->min, 9};
  EXPECT_EQ(run_binary<T>(BinaryOp::fmod, x, y),
            (std::vector<T>{1, -1, 1, -1, 0, 0, 0, this->max, 0}));
  EXPECT_EQ(run_binary<T>(BinaryOp::remainder, x, y),
            (std::vector<T>{1, 2, -2, -1, 0, 0, 0, -1, 0}));
}

TYPED_TEST(BinarySpecialOfIntegers, HaveNoAngles) {
  EXPECT_EQ(find<TypeParam>(BinaryOp::atan2), nullptr);
  EXPECT_EQ(find<TypeParam>(BinaryOp::nextafter), nullptr);
}

}  // namespace
}  // namespace loup::kernels
