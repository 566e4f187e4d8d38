#include "loup/base/axes.h"

#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace loup {
namespace {

using test::Random;

template <std::size_t K>
Axes<K> random_axes(Random& random, int count) {
  Axes<K> axes;
  for (int i = 0; i < count; ++i) {
    Axis<K> axis{random.integer(1, 4), {}};
    for (std::int64_t& step : axis.step) step = random.integer(-8, 8);
    axes.push(axis);
  }
  return axes;
}

/// Where each operand stands in every iteration, by nested counting.
template <std::size_t K>
std::vector<Offsets<K>> enumerated(const Axes<K>& axes, int axis = 0, Offsets<K> at = {}) {
  if (axis == axes.size()) return {at};
  std::vector<Offsets<K>> result;
  for (std::int64_t i = 0; i < axes[axis].size; ++i) {
    for (const auto& inner : enumerated(axes, axis + 1, at)) result.push_back(inner);
    for (std::size_t k = 0; k < K; ++k) at[k] += axes[axis].step[k];
  }
  return result;
}

template <std::size_t K>
std::vector<Offsets<K>> advanced(const Axes<K>& axes) {
  std::vector<Offsets<K>> result;
  for (std::int64_t i = 0; i < axes.iterations(); ++i) {
    result.push_back({});
    axes.advance(i, result.back());
  }
  return result;
}

TEST(Axes, AdvanceToEveryIterationInOrder) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    const auto axes = random_axes<3>(random, static_cast<int>(random.integer(0, 5)));
    ASSERT_EQ(advanced(axes), enumerated(axes)) << "run " << i;
  }
}

TEST(Axes, AdvanceAddsToWhereTheOperandsStood) {
  Axes<1> axes;
  axes.push({3, {10}});
  Offsets<1> at = {7};
  axes.advance(2, at);
  EXPECT_EQ(at[0], 27);
}

TEST(Axes, TakeRemovesAnAxisAndKeepsTheOthersInOrder) {
  Axes<1> axes;
  for (const std::int64_t size : {2, 3, 4}) axes.push({size, {size * 10}});
  EXPECT_EQ(axes.take(1).size, 3);
  ASSERT_EQ(axes.size(), 2);
  EXPECT_EQ(axes[0].step[0], 20);
  EXPECT_EQ(axes[1].step[0], 40);
  EXPECT_EQ(axes.take(1).size, 4);
  EXPECT_EQ(axes.take(0).size, 2);
  EXPECT_TRUE(axes.empty());
}

TEST(Axes, LeaveOutSizesOfOne) {
  Axes<1> axes;
  axes.push({1, {5}});
  axes.push({2, {5}});
  axes.push({1, {5}});
  EXPECT_EQ(axes.size(), 1);
  EXPECT_EQ(axes.iterations(), 2);
}

TEST(Axes, MergeKeepsEveryIterationAndItsOrder) {
  Random random;
  for (int i = 0; i < 500; ++i) {
    // Steps that often follow each other.
    Axes<2> axes;
    std::vector<Axis<2>> inner_first;
    std::int64_t steps[2] = {1, random.integer(0, 2)};
    for (int a = 0; a < 4; ++a) {
      const std::int64_t size = random.integer(1, 3);
      inner_first.push_back({size, {steps[0], steps[1]}});
      steps[0] *= size + (random.chance(0.2) ? 1 : 0);
      steps[1] *= size + (random.chance(0.2) ? 1 : 0);
    }
    for (std::size_t a = inner_first.size(); a-- > 0;) axes.push(inner_first[a]);
    const auto before = enumerated(axes);
    axes.merge();
    ASSERT_EQ(enumerated(axes), before) << "run " << i;
  }
}

TEST(Axes, MergeJoinsWhatFollowsInEveryOperand) {
  Axes<2> axes;
  axes.push({2, {12, 0}});
  axes.push({3, {4, 0}});
  axes.push({4, {1, 0}});
  axes.merge();
  ASSERT_EQ(axes.size(), 1);
  EXPECT_EQ(axes[0].size, 24);
  EXPECT_EQ(axes[0].step[0], 1);
}

TEST(Axes, MergeLeavesApartWhatOneOperandTellsApart) {
  Axes<2> axes;
  axes.push({3, {4, 0}});
  axes.push({4, {1, 1}});
  axes.merge();
  EXPECT_EQ(axes.size(), 2);
}

TEST(Axes, SortPutsTheSmallestStepInnermostAndStillAxesOutermost) {
  Axes<1> axes;
  axes.push({2, {1}});
  axes.push({3, {0}});
  axes.push({4, {-8}});
  axes.push({5, {4}});
  axes.sort_by_step(0);
  EXPECT_EQ(axes[0].size, 3);
  EXPECT_EQ(axes[1].size, 4);
  EXPECT_EQ(axes[2].size, 5);
  EXPECT_EQ(axes[3].size, 2);
}

TEST(Axes, SortKeepsTheOrderOfEqualSteps) {
  Axes<1> axes;
  axes.push({2, {3}});
  axes.push({5, {-3}});
  axes.sort_by_step(0);
  EXPECT_EQ(axes[0].size, 2);
  EXPECT_EQ(axes[1].size, 5);
}

TEST(Axes, PopTakesTheInnermostAndThenNothing) {
  Axes<1> axes;
  axes.push({2, {3}});
  axes.push({4, {1}});
  EXPECT_EQ(axes.innermost().size, 4);
  EXPECT_EQ(axes.pop().size, 4);
  EXPECT_EQ(axes.pop().size, 2);
  EXPECT_TRUE(axes.empty());
  EXPECT_EQ(axes.pop().size, 1);
  EXPECT_EQ(axes.iterations(), 1);
}

}  // namespace
}  // namespace loup
