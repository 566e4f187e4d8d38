// How exact the functions of real numbers are, on every instruction set.

#include <bit>
#include <cmath>
#include <ostream>

#include <gtest/gtest.h>

#include "tests/kernels/unary_cases.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/ulp.h"

namespace loup::test {

// GoogleTest finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const RealFunction& function, std::ostream* out) { *out << function.name; }

namespace {

class EveryRealFunction : public testing::TestWithParam<RealFunction> {
 protected:
  /// Expects errors of at most `bound` for all elements of x, on every instruction set.
  template <class T>
  void expect_exact(const std::vector<T>& x, double bound) const {
    const RealFunction& function = GetParam();
    std::vector<long double> wanted;
    for (const T v : x) wanted.push_back(function.reference(v));
    for_each_target([&] {
      const auto* const kernel = unary(function.op, compute_type(dtype_of<T>()));
      ASSERT_NE(kernel, nullptr);
      const std::vector<T> got = run<T>(*kernel, std::span<const T>(x), function.parameters);
      double worst = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulp_error(got[i], wanted[i]);
        if (error > worst) {
          worst = error;
          at = i;
        }
      }
      EXPECT_LE(worst, bound) << "for " << x[at] << ", which gave " << got[at] << " instead of "
                              << wanted[at];
    });
  }
  bool holds(double x) const { return x >= GetParam().low && x <= GetParam().high; }
};

TEST_P(EveryRealFunction, IsExactForFloatsOfAllSizes) {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 8209) {
    const float v = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(v) || holds(v)) x.push_back(v);
  }
  expect_exact(x, GetParam().f32_bound);
}

TEST_P(EveryRealFunction, IsExactForUsualFloats) {
  Random random;
  std::vector<float> x;
  while (x.size() < 300'000) {
    const auto v = static_cast<float>(random.real(8));
    if (holds(v)) x.push_back(v);
    const auto fraction = static_cast<float>(random.fraction() * 2 - 1);
    if (holds(fraction)) x.push_back(fraction);
  }
  expect_exact(x, GetParam().f32_bound);
}

TEST_P(EveryRealFunction, IsExactForDoubles) {
  Random random;
  std::vector<double> x;
  while (x.size() < 30'000) {
    for (const double v : {random.real(8), random.real(1000), random.fraction() * 2 - 1,
                           (random.fraction() - 0.5) * 1500}) {
      if (holds(v)) x.push_back(v);
    }
  }
  expect_exact(x, GetParam().f64_bound);
}

template <class T>
std::vector<T> special_arguments() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result = {Limits::quiet_NaN()};
  for (const T v : {T{0}, Limits::denorm_min(), Limits::min(), Limits::epsilon(), T{0.5}, T{1},
                    std::nextafter(T{1}, T{0}), std::nextafter(T{1}, T{2}), T{2}, T{3}, T{100},
                    Limits::max(), Limits::infinity()}) {
    result.push_back(v);
    result.push_back(-v);
  }
  return result;
}

TEST_P(EveryRealFunction, KnowsItsLimits) {
  std::vector<float> floats;
  std::vector<double> doubles;
  for (const float v : special_arguments<float>()) {
    if (std::isnan(v) || holds(v)) floats.push_back(v);
  }
  for (const double v : special_arguments<double>()) {
    if (std::isnan(v) || holds(v)) doubles.push_back(v);
  }
  expect_exact(floats, GetParam().f32_bound);
  expect_exact(doubles, GetParam().f64_bound);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryRealFunction, testing::ValuesIn(real_functions()),
                         [](const auto& case_info) { return case_info.param.name; });

}  // namespace
}  // namespace loup::test
