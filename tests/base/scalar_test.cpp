#include "loup/base/scalar.h"

#include <cmath>

#include <gtest/gtest.h>

namespace loup {
namespace {

TEST(Scalar, HasTheDTypeOfItsKind) {
  EXPECT_EQ(Scalar(true).natural_dtype(), DType::boolean);
  EXPECT_EQ(Scalar(1).natural_dtype(), DType::i64);
  EXPECT_EQ(Scalar(std::uint8_t{1}).natural_dtype(), DType::i64);
  EXPECT_EQ(Scalar(1.0F).natural_dtype(), DType::f32);
  EXPECT_EQ(Scalar(1.0).natural_dtype(), DType::f32);
}

TEST(Scalar, KeepsEveryInteger) {
  EXPECT_EQ(Scalar(INT64_MAX).to<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(Scalar(INT64_MIN).to<std::int64_t>(), INT64_MIN);
}

TEST(Scalar, ConvertsAsElementsDo) {
  EXPECT_EQ(Scalar(2.9).to<int>(), 2);
  EXPECT_EQ(Scalar(300).to<std::uint8_t>(), 44);
  EXPECT_TRUE(Scalar(0.5).to<bool>());
  EXPECT_EQ(Scalar(true).to<double>(), 1.0);
  EXPECT_EQ(static_cast<float>(Scalar(1.5).to<Float16>()), 1.5F);
}

TEST(Scalar, RoundsToHalvesOnce) {
  EXPECT_EQ(static_cast<float>(Scalar(1 + 0x1p-11 + 0x1p-40).to<Float16>()), 1 + 0x1p-10F);
  EXPECT_EQ(static_cast<float>(Scalar((1 << 30) + (1 << 22) + 1).to<BFloat16>()),
            0x1p30F + 0x1p23F);
}

TEST(Scalar, KeepsTheFullPrecisionOfADouble) { EXPECT_EQ(Scalar(0.1).to<double>(), 0.1); }

}  // namespace
}  // namespace loup
