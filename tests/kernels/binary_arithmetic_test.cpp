#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/kernels/elementwise.h"
#include "tests/kernels/maps.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

using test::expect_kernel;
using test::is_nan;
using test::mapped;
using test::operands;

/// Integers wrap around.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
T wrapped(Wide<T> value) {
  return static_cast<T>(value);
}

template <class T>
T added(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x + y;
  return wrapped<T>(static_cast<Wide<T>>(x) + static_cast<Wide<T>>(y));
}
template <class T>
T subtracted(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x - y;
  return wrapped<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(y));
}
template <class T>
T multiplied(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x * y;
  return wrapped<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
}

/// The quotient of integers in 128 bits, where nothing overflows. By 0 it is 0.
template <class T>
__int128 exact_quotient(T x, T y, bool floors) {
  if (y == 0) return 0;
  const __int128 wide_x = x;
  const __int128 wide_y = y;
  const __int128 quotient = wide_x / wide_y;
  return floors && quotient * wide_y != wide_x && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

template <class T>
class BinaryArithmetic : public testing::Test {
 protected:
  static constexpr ComputeType type = compute_type(dtype_of<T>());

  /// On every instruction set.
  template <class F>
  void expect(BinaryOp op, const F& f) {
    test::Random random;
    const auto [x, y] = operands<T, 2>(random);
    const auto wanted = mapped<T>(f, x, y);
    test::for_each_target(
        [&, &a = x, &b = y] { expect_kernel(find_binary(op, type), wanted, a, b); });
  }
};

using Every = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(BinaryArithmetic, Every);

TYPED_TEST(BinaryArithmetic, AddsAndWrapsIntegers) {
  this->expect(BinaryOp::add, added<TypeParam>);
}
TYPED_TEST(BinaryArithmetic, SubtractsAndWrapsIntegers) {
  this->expect(BinaryOp::sub, subtracted<TypeParam>);
}
TYPED_TEST(BinaryArithmetic, MultipliesAndWrapsIntegers) {
  this->expect(BinaryOp::mul, multiplied<TypeParam>);
}

TYPED_TEST(BinaryArithmetic, TruncatesQuotients) {
  this->expect(BinaryOp::trunc_divide, [](TypeParam x, TypeParam y) {
    if constexpr (std::is_floating_point_v<TypeParam>) {
      return std::trunc(x / y);
    } else {
      return static_cast<TypeParam>(exact_quotient(x, y, false));
    }
  });
}

TYPED_TEST(BinaryArithmetic, FloorsQuotients) {
  this->expect(BinaryOp::floor_divide, [](TypeParam x, TypeParam y) {
    if constexpr (std::is_same_v<TypeParam, float>) {
      // The quotient of floats is near no integer in long double that it is not in truth.
      if (std::isinf(x) && y != 0) return std::numeric_limits<float>::quiet_NaN();
      if (std::isinf(y) && (x < 0) != (y < 0) && x != 0 && !std::isnan(x)) return -1.0F;
      return static_cast<float>(std::floor(static_cast<long double>(x) / y));
    } else if constexpr (std::is_same_v<TypeParam, double>) {
      // As Python does.
      if (y == 0) return x / y;
      const double rest = std::fmod(x, y);
      double quotient = (x - rest) / y;
      if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
      if (quotient == 0) return std::copysign(0.0, x / y);
      const double whole = std::floor(quotient);
      return quotient - whole > 0.5 ? whole + 1 : whole;
    } else {
      return static_cast<TypeParam>(exact_quotient(x, y, true));
    }
  });
}

TYPED_TEST(BinaryArithmetic, TakesTheLargerAndNaN) {
  this->expect(BinaryOp::maximum, [](TypeParam x, TypeParam y) {
    if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
    return x >= y ? x : y;
  });
}
TYPED_TEST(BinaryArithmetic, TakesTheSmallerAndNaN) {
  this->expect(BinaryOp::minimum, [](TypeParam x, TypeParam y) {
    if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
    return x <= y ? x : y;
  });
}
TYPED_TEST(BinaryArithmetic, TakesTheLargerNumber) {
  this->expect(BinaryOp::fmax, [](TypeParam x, TypeParam y) {
    if (is_nan(x) || is_nan(y)) return is_nan(y) ? x : y;
    return x >= y ? x : y;
  });
}
TYPED_TEST(BinaryArithmetic, TakesTheSmallerNumber) {
  this->expect(BinaryOp::fmin, [](TypeParam x, TypeParam y) {
    if (is_nan(x) || is_nan(y)) return is_nan(y) ? x : y;
    return x <= y ? x : y;
  });
}

template <class T>
class FloatArithmetic : public BinaryArithmetic<T> {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatArithmetic, Floats);

TYPED_TEST(FloatArithmetic, Divides) {
  this->expect(BinaryOp::div, [](TypeParam x, TypeParam y) { return x / y; });
}
TYPED_TEST(FloatArithmetic, HasNoBits) {
  for (const BinaryOp op : {BinaryOp::bitwise_and, BinaryOp::bitwise_or, BinaryOp::bitwise_xor,
                            BinaryOp::left_shift, BinaryOp::right_shift}) {
    EXPECT_EQ(find_binary(op, this->type), nullptr);
  }
}

template <class T>
class IntegerArithmetic : public BinaryArithmetic<T> {};
using Integers = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerArithmetic, Integers);

TYPED_TEST(IntegerArithmetic, HasNoExactQuotient) {
  EXPECT_EQ(find_binary(BinaryOp::div, this->type), nullptr);
}
TYPED_TEST(IntegerArithmetic, CombinesBits) {
  using T = TypeParam;
  this->expect(BinaryOp::bitwise_and, [](T x, T y) { return x & y; });
  this->expect(BinaryOp::bitwise_or, [](T x, T y) { return x | y; });
  this->expect(BinaryOp::bitwise_xor, [](T x, T y) { return x ^ y; });
}
TYPED_TEST(IntegerArithmetic, ShiftsOutWhatIsShiftedTooFarUp) {
  using T = TypeParam;
  constexpr T bits = 8 * sizeof(T);
  this->expect(BinaryOp::left_shift, [](T x, T y) {
    return y < 0 || y >= bits ? T(0) : wrapped<T>(static_cast<Wide<T>>(x) << y);
  });
}
TYPED_TEST(IntegerArithmetic, LeavesTheSignOfWhatIsShiftedTooFarDown) {
  using T = TypeParam;
  constexpr T bits = 8 * sizeof(T);
  this->expect(BinaryOp::right_shift, [](T x, T y) {
    if (y < 0 || y >= bits) return x < 0 ? T(-1) : T(0);
    return static_cast<T>(x >> y);
  });
}

TEST(Quotients, OfTheLeastIntegerByMinusOneWrap) {
  test::for_each_target([] {
    const std::vector<std::int32_t> least(40, INT32_MIN);
    const std::vector<std::int32_t> minus_one(40, -1);
    const void* const inputs[] = {least.data(), minus_one.data(), nullptr};
    std::vector<std::int32_t> out(40);
    for (const BinaryOp op : {BinaryOp::floor_divide, BinaryOp::trunc_divide}) {
      find_binary(op, ComputeType::i32)->run(inputs, out.data(), 40, nullptr);
      EXPECT_EQ(out, least);
    }
  });
}

TEST(Kernels, NameTheTypesTheyReadAndWrite) {
  for (const ComputeType type :
       {ComputeType::i32, ComputeType::i64, ComputeType::f32, ComputeType::f64}) {
    const ElementwiseKernel* const kernel = find_binary(BinaryOp::add, type);
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->inputs[0], storage_type(type));
    EXPECT_EQ(kernel->inputs[1], storage_type(type));
    EXPECT_EQ(kernel->output, storage_type(type));
    EXPECT_GE(kernel->cost, 1);
  }
}

}  // namespace
}  // namespace loup::kernels
