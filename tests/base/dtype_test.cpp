#include "loup/base/dtype.h"

#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace loup {
namespace {

TEST(DType, HasTheNameUsersKnow) {
  const char* const names[] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                               "int64", "float16", "bfloat16", "float32", "float64"};
  for (int i = 0; i < dtype_count; ++i) {
    EXPECT_EQ(name(static_cast<DType>(i)), names[i]);
    EXPECT_EQ(fmt::format("{}", static_cast<DType>(i)), names[i]);
  }
}

TEST(DType, KnowsTheSizeOfItsElements) {
  for (int i = 0; i < dtype_count; ++i) {
    visit_dtype(static_cast<DType>(i), [i]<class T>(std::type_identity<T>) {
      EXPECT_EQ(item_bytes(static_cast<DType>(i)), static_cast<std::int64_t>(sizeof(T)));
      EXPECT_EQ(dtype_of<T>(), static_cast<DType>(i));
    });
  }
}

TEST(DType, IsComputedWithInOneOfFourTypes) {
  EXPECT_EQ(compute_type(DType::boolean), ComputeType::i32);
  EXPECT_EQ(compute_type(DType::i16), ComputeType::i32);
  EXPECT_EQ(compute_type(DType::i64), ComputeType::i64);
  EXPECT_EQ(compute_type(DType::bf16), ComputeType::f32);
  EXPECT_EQ(compute_type(DType::f64), ComputeType::f64);
  for (const ComputeType type :
       {ComputeType::i32, ComputeType::i64, ComputeType::f32, ComputeType::f64}) {
    EXPECT_EQ(compute_type(storage_type(type)), type);
  }
}

/// The smallest and the largest value of an integer type.
std::pair<std::int64_t, std::int64_t> range_of(DType dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) {
    std::pair<std::int64_t, std::int64_t> range;
    if constexpr (std::is_integral_v<T>) {
      range = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    }
    return range;
  });
}

/// PyTorch's rules said another way: a higher kind wins; among integers the smallest type that
/// holds both; two different halves meet in float32.
DType promoted(DType a, DType b) {
  using enum DType;
  if (a == b) return a;
  const auto kind = [](DType t) { return t == boolean ? 0 : is_floating(t) ? 2 : 1; };
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  if (kind(a) == 2) {
    const bool both_half = item_bytes(a) == 2 && item_bytes(b) == 2;
    return both_half ? f32 : item_bytes(a) > item_bytes(b) ? a : b;
  }
  const auto holds = [](DType wide, DType narrow) {
    return range_of(wide).first <= range_of(narrow).first &&
           range_of(wide).second >= range_of(narrow).second;
  };
  for (const DType candidate : {u8, i8, i16, i32}) {
    if (holds(candidate, a) && holds(candidate, b)) return candidate;
  }
  return i64;
}

TEST(Promote, FollowsThePyTorchRulesForEveryPair) {
  for (int a = 0; a < dtype_count; ++a) {
    for (int b = 0; b < dtype_count; ++b) {
      const auto left = static_cast<DType>(a);
      const auto right = static_cast<DType>(b);
      EXPECT_EQ(name(promote(left, right)), name(promoted(left, right)))
          << name(left) << " with " << name(right);
    }
  }
}

TEST(Promote, TakesUint8WithInt8ToInt16) {
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Convert, TruncatesFloatsTowardsZero) {
  EXPECT_EQ(convert<std::int32_t>(2.9), 2);
  EXPECT_EQ(convert<std::int32_t>(-2.9F), -2);
  EXPECT_EQ(convert<std::uint8_t>(255.9), 255);
}

TEST(Convert, SaturatesFloatsBeyondInt64) {
  EXPECT_EQ(convert<std::int64_t>(1e300), INT64_MAX);
  EXPECT_EQ(convert<std::int64_t>(-1e300), INT64_MIN);
  EXPECT_EQ(convert<std::int64_t>(infinity), INT64_MAX);
  EXPECT_EQ(convert<std::int64_t>(-infinity), INT64_MIN);
  EXPECT_EQ(convert<std::int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(convert<std::int64_t>(-0x1p63F), INT64_MIN);
  EXPECT_EQ(convert<std::int64_t>(std::nextafter(0x1p63, 0.0)), INT64_MAX - 1023);
}

TEST(Convert, GivesZeroForNan) {
  EXPECT_EQ(convert<std::int64_t>(std::nan("")), 0);
  EXPECT_EQ(convert<std::uint8_t>(std::nanf("")), 0);
  EXPECT_EQ(convert<std::int32_t>(Float16(std::nanf(""))), 0);
}

TEST(Convert, WrapsIntegers) {
  EXPECT_EQ(convert<std::int8_t>(std::int32_t{200}), -56);
  EXPECT_EQ(convert<std::uint8_t>(std::int64_t{-1}), 255);
  EXPECT_EQ(convert<std::int8_t>(200.0), -56);
}

TEST(Convert, MakesEverythingButZeroTrue) {
  EXPECT_TRUE(convert<bool>(0.1));
  EXPECT_TRUE(convert<bool>(std::nan("")));
  EXPECT_TRUE(convert<bool>(std::int64_t{256}));
  EXPECT_TRUE(convert<bool>(Float16(0x1p-24F)));
  EXPECT_FALSE(convert<bool>(-0.0));
  EXPECT_FALSE(convert<bool>(BFloat16(-0.0F)));
}

TEST(Convert, MakesOneOfTrue) {
  EXPECT_EQ(convert<double>(true), 1.0);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(true)), 1.0F);
}

TEST(Convert, RoundsDoublesToHalvesOnce) {
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(1 + 0x1p-8 + 0x1p-40)), 1.0078125F);
  EXPECT_EQ(static_cast<float>(convert<Float16>(1 + 0x1p-11 + 0x1p-40)), 1 + 0x1p-10F);
}

TEST(Convert, RoundsIntegersToHalvesOnce) {
  const std::int64_t middle = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(middle)), 0x1p60F);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(middle + 1)), 0x1p60F + 0x1p53F);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(-middle - 1)), -0x1p60F - 0x1p53F);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>((1 << 30) + (1 << 22) + 1)), 0x1p30F + 0x1p23F);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(INT64_MAX)), 0x1p63F);
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(INT64_MIN)), -0x1p63F);
  EXPECT_EQ(static_cast<float>(convert<Float16>(std::int64_t{2049})), 2048.0F);
}

TEST(Convert, GoesFromHalfToHalf) {
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(Float16(1.5F))), 1.5F);
  EXPECT_TRUE(std::isinf(static_cast<float>(convert<Float16>(BFloat16(1e30F)))));
}

}  // namespace
}  // namespace loup
