#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/unary_cases.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"

namespace loup::test {
namespace {

using kernels::ElementwiseKernel;
using kernels::UnaryOp;

constexpr auto last_op = UnaryOp::i1;
constexpr ComputeType types[] = {ComputeType::i32, ComputeType::i64, ComputeType::f32,
                                 ComputeType::f64};
// Whatever the operator, it finds all parameters it reads.
const std::vector<double> parameters = {1, 20, 3};

/// Calls `f(op, type, kernel)` for every kernel there is, on every instruction set.
template <class F>
void for_each_kernel(F&& f) {
  for_each_target([&] {
    for (int op = 0; op <= static_cast<int>(last_op); ++op) {
      for (const ComputeType type : types) {
        const ElementwiseKernel* const kernel = unary(static_cast<UnaryOp>(op), type);
        if (kernel == nullptr) continue;
        SCOPED_TRACE("operator " + std::to_string(op) + " of type " +
                     std::to_string(static_cast<int>(type)));
        f(*kernel, type);
      }
    }
  });
}

/// Values of every kind, as bytes of the type that a kernel reads.
std::vector<std::byte> values(ComputeType type, std::size_t count) {
  Random random;
  std::vector<std::byte> result(count * static_cast<std::size_t>(item_bytes(storage_type(type))));
  visit_dtype(storage_type(type), [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, bool>) {
      for (std::size_t i = 0; i < count; ++i) {
        T v = random.value<T>();
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          const T odd[] = {0,
                           -T{0},
                           std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           T(1e7),
                           T(0.5),
                           T(1e-30)};
          if (i % 3 == 0) v = odd[i / 3 % std::size(odd)];
        }
        std::memcpy(result.data() + i * sizeof(T), &v, sizeof(T));
      }
    }
  });
  return result;
}

TEST(Unary, KernelsSayWhatTheyReadAndWrite) {
  for_each_kernel([](const ElementwiseKernel& kernel, ComputeType type) {
    EXPECT_EQ(kernel.inputs[0], storage_type(type));
    EXPECT_TRUE(kernel.output == storage_type(type) || kernel.output == DType::boolean);
    EXPECT_GE(kernel.cost, 1);
  });
}

TEST(Unary, FunctionsOfRealNumbersAreNotThereForIntegers) {
  EXPECT_EQ(unary(UnaryOp::exp, ComputeType::i32), nullptr);
  EXPECT_EQ(unary(UnaryOp::sin, ComputeType::i64), nullptr);
  EXPECT_EQ(unary(UnaryOp::erf, ComputeType::i32), nullptr);
  EXPECT_EQ(unary(UnaryOp::sqrt, ComputeType::i64), nullptr);
  EXPECT_EQ(unary(UnaryOp::bitwise_not, ComputeType::f32), nullptr);
}

TEST(Unary, TouchNothingBeyondTheElements) {
  for_each_kernel([](const ElementwiseKernel& kernel, ComputeType type) {
    const auto in_bytes = static_cast<std::size_t>(item_bytes(storage_type(type)));
    const auto out_bytes = static_cast<std::size_t>(item_bytes(kernel.output));
    for (std::size_t count = 0; count <= 35; ++count) {
      const Guarded<std::byte> x(values(type, count));
      const Guarded<std::byte> y(std::vector<std::byte>(count * out_bytes));
      ASSERT_EQ(values(type, count).size(), count * in_bytes);
      const void* const inputs[] = {x.data()};
      kernel.run(inputs, y.data(), static_cast<std::int64_t>(count), parameters.data());
    }
  });
}

TEST(Unary, ResultsDependNeitherOnNeighboursNorOnPosition) {
  for_each_kernel([](const ElementwiseKernel& kernel, ComputeType type) {
    constexpr std::size_t count = 101;
    const auto in_bytes = static_cast<std::size_t>(item_bytes(storage_type(type)));
    const auto out_bytes = static_cast<std::size_t>(item_bytes(kernel.output));
    const std::vector<std::byte> x = values(type, count);
    std::vector<std::byte> together(count * out_bytes);
    std::vector<std::byte> alone(count * out_bytes);
    const void* const inputs[] = {x.data()};
    kernel.run(inputs, together.data(), count, parameters.data());
    for (std::size_t i = 0; i < count; ++i) {
      const void* const one[] = {x.data() + i * in_bytes};
      kernel.run(one, alone.data() + i * out_bytes, 1, parameters.data());
    }
    EXPECT_EQ(together, alone);
  });
}

TEST(Unary, MayWriteOverTheInput) {
  for_each_kernel([](const ElementwiseKernel& kernel, ComputeType type) {
    if (kernel.output != storage_type(type)) return;
    constexpr std::size_t count = 101;
    std::vector<std::byte> x = values(type, count);
    std::vector<std::byte> apart(x.size());
    const void* const inputs[] = {x.data()};
    kernel.run(inputs, apart.data(), count, parameters.data());
    kernel.run(inputs, x.data(), count, parameters.data());
    EXPECT_EQ(x, apart);
  });
}

/// The results of a kernel on every instruction set, which must agree, NaN with NaN.
template <class Out, class In>
void expect(UnaryOp op, const std::vector<In>& x, const std::vector<Out>& wanted,
            const std::vector<double>& given = {}) {
  for_each_target([&] {
    const ElementwiseKernel* const kernel = unary(op, compute_type(dtype_of<In>()));
    ASSERT_NE(kernel, nullptr);
    const std::vector<Out> got = run<Out>(*kernel, std::span<const In>(x), given);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_floating_point_v<Out>) {
        if (std::isnan(wanted[i]) && std::isnan(got[i])) continue;
        EXPECT_EQ(std::signbit(got[i]), std::signbit(wanted[i])) << "for " << +x[i];
      }
      EXPECT_EQ(got[i], wanted[i]) << "for " << +x[i];
    }
  });
}

using Byte = std::uint8_t;  // what bool is in memory

template <class T>
class UnaryOfFloats : public testing::Test {
 protected:
  static constexpr T inf = std::numeric_limits<T>::infinity();
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T max = std::numeric_limits<T>::max();
  static constexpr T pi = static_cast<T>(3.14159265358979323846L);
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(UnaryOfFloats, Floats);

TYPED_TEST(UnaryOfFloats, SignsKeepNanAndForgetTheSignOfZero) {
  using T = TypeParam;
  const std::vector<T> x = {2, -2, 0, -T{0}, this->inf, -this->inf, this->nan};
  expect<T, T>(UnaryOp::abs, x, {2, 2, 0, 0, this->inf, this->inf, this->nan});
  expect<T, T>(UnaryOp::neg, x, {-2, 2, -T{0}, 0, -this->inf, this->inf, this->nan});
  expect<T, T>(UnaryOp::sign, x, {1, -1, 0, 0, 1, -1, this->nan});
  expect<T, T>(UnaryOp::relu, x, {2, 0, 0, -T{0}, this->inf, 0, this->nan});
  expect<T, T>(UnaryOp::angle, x, {0, this->pi, 0, 0, 0, this->pi, this->nan});
  expect<T, T>(UnaryOp::square, x, {4, 4, 0, 0, this->inf, this->inf, this->nan});
}

TYPED_TEST(UnaryOfFloats, RoundingKeepsTheSignOfZero) {
  using T = TypeParam;
  const std::vector<T> x = {0.5, 1.5, 2.5, -0.5, -1.75, -T{0}, T(1e30), -this->inf, this->nan};
  expect<T, T>(UnaryOp::floor, x, {0, 1, 2, -1, -2, -T{0}, T(1e30), -this->inf, this->nan});
  expect<T, T>(UnaryOp::ceil, x, {1, 2, 3, -T{0}, -1, -T{0}, T(1e30), -this->inf, this->nan});
  expect<T, T>(UnaryOp::trunc, x, {0, 1, 2, -T{0}, -1, -T{0}, T(1e30), -this->inf, this->nan});
  expect<T, T>(UnaryOp::round, x, {0, 2, 2, -T{0}, -2, -T{0}, T(1e30), -this->inf, this->nan}, {0});
  expect<T, T>(UnaryOp::frac, {1.75, -1.75, 3, this->inf, this->nan},
               {0.75, -0.75, 0, this->nan, this->nan});
}

TYPED_TEST(UnaryOfFloats, RoundToDecimalsOnEitherSideOfThePoint) {
  using T = TypeParam;
  expect<T, T>(UnaryOp::round, {T(1.2345), T(-2.5), T(1e30), this->max, this->inf, this->nan},
               {T(1.23), T(-2.5), T(1e30), this->max, this->inf, this->nan}, {2});
  expect<T, T>(UnaryOp::round, {1250, 1350, -1449, 49, this->inf},
               {1200, 1400, -1400, 0, this->inf}, {-2});
}

TYPED_TEST(UnaryOfFloats, NanToNumReplacesWhatIsNotFinite) {
  using T = TypeParam;
  expect<T, T>(UnaryOp::nan_to_num, {this->nan, this->inf, -this->inf, 7, -T{0}},
               {1, 2, 3, 7, -T{0}}, {1, 2, 3});
}

TYPED_TEST(UnaryOfFloats, TestsGiveZerosAndOnes) {
  using T = TypeParam;
  const std::vector<T> x = {0,         -T{0},      2,         -2,
                            this->inf, -this->inf, this->nan, std::numeric_limits<T>::denorm_min()};
  expect<Byte, T>(UnaryOp::isnan, x, {0, 0, 0, 0, 0, 0, 1, 0});
  expect<Byte, T>(UnaryOp::isinf, x, {0, 0, 0, 0, 1, 1, 0, 0});
  expect<Byte, T>(UnaryOp::isfinite, x, {1, 1, 1, 1, 0, 0, 0, 1});
  expect<Byte, T>(UnaryOp::signbit, x, {0, 1, 0, 1, 0, 1, 0, 0});
  expect<Byte, T>(UnaryOp::logical_not, x, {1, 1, 0, 0, 0, 0, 0, 0});
}

TYPED_TEST(UnaryOfFloats, RsqrtOfZeroHasItsSign) {
  using T = TypeParam;
  expect<T, T>(UnaryOp::rsqrt, {4, 0, -T{0}, -1, this->inf},
               {0.5, this->inf, -this->inf, this->nan, 0});
}

TYPED_TEST(UnaryOfFloats, LogitClampsUnlessEpsIsNegative) {
  using T = TypeParam;
  const std::vector<T> x = {0, 1, -1, 2, 0.5};
  expect<T, T>(UnaryOp::logit, x, {-this->inf, this->inf, this->nan, this->nan, 0}, {-1});
  expect<T, T>(UnaryOp::logit, x, {0, 0, 0, 0, 0}, {0.5});
}

TYPED_TEST(UnaryOfFloats, SoftplusIsTheIdentityAboveTheThreshold) {
  using T = TypeParam;
  expect<T, T>(UnaryOp::softplus, {5, this->inf, -this->inf, this->nan},
               {5, this->inf, 0, this->nan}, {2, 4});
}

TYPED_TEST(UnaryOfFloats, ActivationsVanishAtMinusInfinity) {
  using T = TypeParam;
  const std::vector<T> x = {-this->inf, -this->max, this->inf, this->max, this->nan, -T{0}};
  const std::vector<T> wanted = {-T{0}, -T{0}, this->inf, this->max, this->nan, -T{0}};
  expect<T, T>(UnaryOp::silu, x, wanted);
  expect<T, T>(UnaryOp::gelu, x, wanted);
  expect<T, T>(UnaryOp::gelu_tanh, x, wanted);
}

TYPED_TEST(UnaryOfFloats, SincIsZeroAtWholeNumbers) {
  using T = TypeParam;
  expect<T, T>(UnaryOp::sinc, {0, -T{0}, 1, 2, -3, this->inf}, {1, 1, -T{0}, 0, 0, this->nan});
}

TYPED_TEST(UnaryOfFloats, PowersOfTwoAndTenHaveExactLogarithms) {
  using T = TypeParam;
  std::vector<T> powers;
  std::vector<T> exponents;
  for (int n = std::numeric_limits<T>::min_exponent; n < std::numeric_limits<T>::max_exponent;
       ++n) {
    powers.push_back(std::ldexp(T{1}, n));
    exponents.push_back(static_cast<T>(n));
  }
  expect<T, T>(UnaryOp::log2, powers, exponents);
  expect<T, T>(UnaryOp::exp2, exponents, powers);
  expect<T, T>(UnaryOp::log10, {1, 10, 100, 1000, 10000, T(1e5), T(1e6), T(1e7), T(1e8), T(1e9)},
               {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

template <class T>
class UnaryOfIntegers : public testing::Test {};
using Integers = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(UnaryOfIntegers, Integers);

TYPED_TEST(UnaryOfIntegers, ArithmeticWraps) {
  using T = TypeParam;
  constexpr T min = std::numeric_limits<T>::min();
  constexpr T max = std::numeric_limits<T>::max();
  const std::vector<T> x = {0, 5, -5, max, min};
  expect<T, T>(UnaryOp::abs, x, {0, 5, 5, max, min});
  expect<T, T>(UnaryOp::neg, x, {0, -5, 5, -max, min});
  expect<T, T>(UnaryOp::sign, x, {0, 1, -1, 1, -1});
  expect<T, T>(UnaryOp::square, x, {0, 25, 25, 1, 0});
  expect<T, T>(UnaryOp::relu, x, {0, 5, 0, max, 0});
  expect<T, T>(UnaryOp::bitwise_not, x, {-1, -6, 4, min, max});
}

TYPED_TEST(UnaryOfIntegers, RoundingDoesNothing) {
  using T = TypeParam;
  const std::vector<T> x = {0, 5, -5, std::numeric_limits<T>::max()};
  expect<T, T>(UnaryOp::floor, x, x);
  expect<T, T>(UnaryOp::ceil, x, x);
  expect<T, T>(UnaryOp::trunc, x, x);
  expect<T, T>(UnaryOp::round, x, x, {0});
}

TYPED_TEST(UnaryOfIntegers, AreFiniteNumbers) {
  using T = TypeParam;
  const std::vector<T> x = {0, 5, std::numeric_limits<T>::min()};
  expect<Byte, T>(UnaryOp::isnan, x, {0, 0, 0});
  expect<Byte, T>(UnaryOp::isinf, x, {0, 0, 0});
  expect<Byte, T>(UnaryOp::isfinite, x, {1, 1, 1});
  expect<Byte, T>(UnaryOp::signbit, x, {0, 0, 1});
  expect<Byte, T>(UnaryOp::logical_not, x, {1, 0, 0});
}

}  // namespace
}  // namespace loup::test
