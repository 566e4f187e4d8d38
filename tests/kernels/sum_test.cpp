#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/kernels/reducers.h"
#include "tests/kernels/blocks.h"
#include "tests/support/settings.h"
#include "tests/support/tolerance.h"

namespace loup::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
kernels::Block row_of(const std::vector<T>& x) {
  return {x.data(), 0, nullptr, 0, 0, 1, std::ssize(x)};
}

TEST(SumKernels, AnswerToTheirComputeType) {
  EXPECT_EQ(kernels::sum_f32()->result, DType::f32);
  EXPECT_EQ(kernels::sum_f64()->result, DType::f64);
  EXPECT_EQ(kernels::sum_int(DType::i32)->result, DType::i64);
  EXPECT_EQ(kernels::sum_int(DType::i64)->result, DType::i64);
}

TEST(SumOfInt32, DoesNotOverflowInsideOfARow) {
  const std::vector<std::int32_t> x(1000, std::numeric_limits<std::int32_t>::max());
  for_each_target([&] { EXPECT_EQ(sum_along<std::int32_t>(row_of(x))[0], 1000LL * 0x7FFFFFFF); });
}

TEST(SumOfInt32, DoesNotOverflowAcrossRows) {
  const std::vector<std::int32_t> x(24 * 5, std::numeric_limits<std::int32_t>::min());
  for_each_target([&] {
    EXPECT_EQ(sum_across<std::int32_t>({x.data(), 5, nullptr, 0, 0, 24, 5}),
              std::vector<std::int64_t>(5, -24LL * 0x80000000LL));
  });
}

TEST(SumOfInt64, WrapsAround) {
  const std::vector<std::int64_t> x = {std::numeric_limits<std::int64_t>::max(), 1, 5};
  for_each_target([&] {
    EXPECT_EQ(sum_along<std::int64_t>(row_of(x))[0], std::numeric_limits<std::int64_t>::min() + 5);
    EXPECT_EQ(sum_across<std::int64_t>({x.data(), 1, nullptr, 0, 0, 3, 1})[0],
              std::numeric_limits<std::int64_t>::min() + 5);
  });
}

TEST(SumOfFloat32, KeepsASmallElementBesideALargeOneInAnotherBlock) {
  std::vector<float> x(1024, 0.0F);
  x[0] = 0x1p40F;
  x[512] = 1.0F;
  for_each_target([&] {
    StateBuffer states(sum_reducer<float>(), 1);
    sum_reducer<float>().along(states.from(0), false, row_of(x));
    const std::vector<float> minus(1, -0x1p40F);
    sum_reducer<float>().along(states.from(0), false, row_of(minus));
    EXPECT_EQ(states.finish<float>()[0], 1.0F);
  });
}

TEST(SumOfFloat64, RecoversWhatRoundingLosesBetweenBlocks) {
  std::vector<double> x(3 * 256, 0.0);
  x[0] = 1e16;
  x[256] = 1;
  x[512] = -1e16;
  for_each_target([&] { EXPECT_EQ(sum_along<double>(row_of(x))[0], 1.0); });
}

TEST(SumOfFloat64, RecoversWhatRoundingLosesBetweenStates) {
  for_each_target([&] {
    StateBuffer whole(sum_reducer<double>(), 1);
    for (const double part : {1e16, 1.0, -1e16}) {
      StateBuffer states(sum_reducer<double>(), 1);
      sum_reducer<double>().along(states.from(0), false, row_of(std::vector<double>{part}));
      sum_reducer<double>().merge(whole.data(), states.data(), 1);
    }
    EXPECT_EQ(whole.finish<double>()[0], 1.0);
  });
}

TEST(SumOfFloat64, RecoversWhatRoundingLosesAcrossTiles) {
  std::vector<double> x(24, 0.0);
  x[0] = 1e16;
  x[8] = 1;
  x[16] = -1e16;
  for_each_target(
      [&] { EXPECT_EQ(sum_across<double>({x.data(), 1, nullptr, 0, 0, 24, 1})[0], 1.0); });
}

TEST(SumOfFloat64, StaysWithinToleranceOnALongRow) {
  Random random;
  const auto x = random.values<double>(1000003);
  long double exact = 0;
  long double magnitude = 0;
  for (const double value : x) {
    exact += value;
    magnitude += std::abs(value);
  }
  const auto got = static_cast<long double>(sum_along<double>(row_of(x))[0]);
  EXPECT_LE(std::abs(got - exact), tolerance(DType::f64, std::ssize(x)) * magnitude);
}

template <class T>
class FloatSum : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatSum, Floats);

/// Where in a row of 70 elements something special stands: in full vectors and in the tail.
constexpr std::size_t special_positions[] = {0, 17, 31, 32, 63, 64, 69};

TYPED_TEST(FloatSum, PropagatesNanThatCounts) {
  for (const std::size_t position : special_positions) {
    std::vector<TypeParam> x(70, 1);
    x[position] = quiet_nan;
    for_each_target([&] {
      EXPECT_TRUE(std::isnan(sum_along<TypeParam>(row_of(x))[0])) << position;
      const auto columns = sum_across<TypeParam>({x.data(), 7, nullptr, 0, 0, 10, 7});
      for (std::size_t c = 0; c < 7; ++c) EXPECT_EQ(std::isnan(columns[c]), c == position % 7);
    });
  }
}

TYPED_TEST(FloatSum, PropagatesInfinityThatCounts) {
  for (const std::size_t position : special_positions) {
    std::vector<TypeParam> x(70, 1);
    x[position] = -infinity;
    for_each_target([&] {
      EXPECT_EQ(sum_along<TypeParam>(row_of(x))[0], -infinity) << position;
      EXPECT_EQ(sum_across<TypeParam>({x.data(), 7, nullptr, 0, 0, 10, 7})[position % 7],
                -infinity);
    });
  }
}

TYPED_TEST(FloatSum, GivesNanForInfinitiesOfBothSigns) {
  std::vector<TypeParam> x(70, 1);
  x[3] = infinity;
  x[66] = -infinity;
  for_each_target([&] { EXPECT_TRUE(std::isnan(sum_along<TypeParam>(row_of(x))[0])); });
}

TYPED_TEST(FloatSum, NeverUsesGarbageUnderAMask) {
  Random random;
  const std::vector<TypeParam> garbage = {quiet_nan, infinity, -infinity,
                                          std::numeric_limits<TypeParam>::max(),
                                          std::numeric_limits<TypeParam>::lowest()};
  for (const MaskForm form : {MaskForm::per_row, MaskForm::bytes, MaskForm::one_row}) {
    for (const std::int64_t cols : {1, 7, 16, 31, 32, 45, 512, 530}) {
      TestBlock<TypeParam> block(random, 13, cols, form, cols % 5);
      const auto along = model_along(block);
      const auto across = model_across(block);
      block.poison([&] { return random.pick(garbage); });
      for_each_target([&] {
        ASSERT_TRUE(same_bits(along, sum_along<TypeParam>(block.block()))) << block.text();
        ASSERT_TRUE(same_bits(across, sum_across<TypeParam>(block.block()))) << block.text();
      });
    }
  }
}

}  // namespace
}  // namespace loup::test
