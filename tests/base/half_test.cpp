#include "loup/base/half.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace loup {
namespace {

template <class Half>
Half from_bits(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

/// What the bits mean, by the definition of the format.
double value_of(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const auto mantissa = static_cast<double>(bits & ((1U << mantissa_bits) - 1U));
  const auto exponent = static_cast<int>((bits & 0x7FFFU) >> mantissa_bits);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class Half>
struct Format;
template <>
struct Format<Float16> {
  static constexpr int exponent = 5;
  static constexpr int mantissa = 10;
};
template <>
struct Format<BFloat16> {
  static constexpr int exponent = 8;
  static constexpr int mantissa = 7;
};

template <class Half>
class EveryHalf : public testing::Test {
 protected:
  static double value(std::uint32_t bits) {
    return value_of(bits, Format<Half>::exponent, Format<Half>::mantissa);
  }
  static constexpr std::uint32_t infinity = ((1U << Format<Half>::exponent) - 1U)
                                            << Format<Half>::mantissa;
};
using Halves = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(EveryHalf, Halves);

TYPED_TEST(EveryHalf, WidensToItsExactValue) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto got = static_cast<double>(static_cast<float>(from_bits<TypeParam>(bits)));
    const double wanted = this->value(bits);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, wanted) << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(wanted)) << bits;
    }
  }
}

TYPED_TEST(EveryHalf, SurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const TypeParam back(static_cast<float>(from_bits<TypeParam>(bits)));
    // Signalling NaN may become quiet, but stays NaN of its sign.
    const std::uint32_t quiet =
        std::isnan(this->value(bits)) ? 1U << (Format<TypeParam>::mantissa - 1) : 0U;
    ASSERT_EQ(back.bits, bits | quiet) << bits;
  }
}

TYPED_TEST(EveryHalf, RoundsToTheNearestAndTiesToEven) {
  for (std::uint32_t bits = 0; bits + 1 < this->infinity; ++bits) {
    const auto low = static_cast<float>(this->value(bits));
    const auto high = static_cast<float>(this->value(bits + 1));
    // Exact: the middle of two neighbours needs one more bit than they have.
    const auto middle = static_cast<float>((this->value(bits) + this->value(bits + 1)) / 2);
    ASSERT_EQ(TypeParam(middle).bits, bits + (bits & 1U)) << bits;
    ASSERT_EQ(TypeParam(std::nextafter(middle, low)).bits, bits);
    ASSERT_EQ(TypeParam(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(TypeParam(-middle).bits, 0x8000U | (bits + (bits & 1U))) << bits;
  }
}

TYPED_TEST(EveryHalf, RoundsDoublesOnce) {
  for (std::uint32_t bits = 0; bits + 1 < this->infinity; ++bits) {
    const double middle = (this->value(bits) + this->value(bits + 1)) / 2;
    ASSERT_EQ(TypeParam(middle).bits, bits + (bits & 1U)) << bits;
    // No float lies between these and the middle.
    ASSERT_EQ(TypeParam(std::nextafter(middle, 0.0)).bits, bits);
    ASSERT_EQ(TypeParam(std::nextafter(middle, INFINITY)).bits, bits + 1);
    ASSERT_EQ(TypeParam(-std::nextafter(middle, INFINITY)).bits, 0x8000U | (bits + 1)) << bits;
    ASSERT_EQ(TypeParam(this->value(bits)).bits, bits);
  }
}

TYPED_TEST(EveryHalf, RoundsDoublesBeyondTheLargestToInfinity) {
  const double largest = this->value(this->infinity - 1);
  const double limit = largest + (largest - this->value(this->infinity - 2)) / 2;
  EXPECT_EQ(TypeParam(limit).bits, this->infinity);
  EXPECT_EQ(TypeParam(std::nextafter(limit, 0.0)).bits, this->infinity - 1);
  EXPECT_EQ(TypeParam(std::nextafter(0x1p128, 0.0)).bits, this->infinity);
  EXPECT_EQ(TypeParam(-1e300).bits, 0x8000U | this->infinity);
  EXPECT_EQ(TypeParam(-static_cast<double>(INFINITY)).bits, 0x8000U | this->infinity);
}

TYPED_TEST(EveryHalf, RoundsTheSmallestDoublesToZero) {
  const double limit = this->value(1) / 2;
  EXPECT_EQ(TypeParam(limit).bits, 0U);
  EXPECT_EQ(TypeParam(std::nextafter(limit, 1.0)).bits, 1U);
  EXPECT_EQ(TypeParam(-0x1p-1074).bits, 0x8000U);
  EXPECT_EQ(TypeParam(-0.0).bits, 0x8000U);
}

TYPED_TEST(EveryHalf, KeepsNanOfADoubleAndItsSign) {
  EXPECT_GT(TypeParam(std::nan("")).bits, this->infinity);
  EXPECT_LT(TypeParam(std::nan("")).bits, 0x8000U);
  EXPECT_GT(TypeParam(-std::nan("")).bits, 0x8000U | this->infinity);
  // The payload of this NaN lies in bits that not even a float has.
  EXPECT_GT(TypeParam(std::bit_cast<double>(0x7FF0000000000001U)).bits, this->infinity);
}

TYPED_TEST(EveryHalf, OverflowsToInfinityHalfAStepBeyondTheLargest) {
  const double largest = this->value(this->infinity - 1);
  const double step = largest - this->value(this->infinity - 2);
  const auto limit = static_cast<float>(largest + step / 2);
  EXPECT_EQ(TypeParam(limit).bits, this->infinity);
  EXPECT_EQ(TypeParam(std::nextafter(limit, 0.0F)).bits, this->infinity - 1);
  EXPECT_EQ(TypeParam(-limit).bits, 0x8000U | this->infinity);
  EXPECT_EQ(TypeParam(INFINITY).bits, this->infinity);
}

TYPED_TEST(EveryHalf, KeepsNanAndItsSign) {
  EXPECT_GT(TypeParam(std::nanf("")).bits, this->infinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(-std::nanf("")))));
  EXPECT_NE(TypeParam(-std::nanf("")).bits & 0x8000U, 0U);
  // The payload of this NaN lies in bits that a half does not have.
  const float low_payload = std::bit_cast<float>(0x7F800001U);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(low_payload))));
}

TEST(Float16, RoundsTheSmallestFloatsToZero) {
  EXPECT_EQ(Float16(0x1p-25F).bits, 0U);
  EXPECT_EQ(Float16(-0x1p-26F).bits, 0x8000U);
  EXPECT_EQ(Float16(std::nextafter(0x1p-25F, 1.0F)).bits, 1U);
  EXPECT_EQ(Float16(0x1p-149F).bits, 0U);
}

}  // namespace
}  // namespace loup
