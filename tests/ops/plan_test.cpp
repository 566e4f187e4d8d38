#include "loup/ops/plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/tensor/views.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::Random;
using Walk = ReducePlan::Walk;

/// A reduction to be planned: an input of any layout, a mask perhaps, some dims.
struct Problem {
  Layout x;
  std::optional<Layout> mask;
  std::uint32_t reduced = 0;
  std::int64_t state_bytes = 8;
  bool has_index = false;
  std::optional<Layout> weight = {};  // excludes an index

  bool is_reduced(int i) const { return (reduced >> static_cast<unsigned>(i) & 1U) != 0; }

  /// Row-major strides of the output, seen from the dims of x.
  Strides out() const {
    Strides result = Dims::filled(x.shape.size(), 0);
    std::int64_t step = 1;
    for (int i = x.shape.size(); i-- > 0;) {
      if (is_reduced(i)) continue;
      result[i] = step;
      step *= x.shape[i];
    }
    return result;
  }
  ReducePlan plan() const {
    return make_plan(x, mask ? &*mask : nullptr, out(), reduced, state_bytes, has_index,
                     weight ? &*weight : nullptr);
  }
  std::string text() const {
    return fmt::format("shape {}, strides {}, reduced {:b}, mask strides {}", x.shape, x.strides,
                       reduced, mask ? fmt::format("{}", mask->strides) : "none");
  }
};

/// Strides of a random order of dims, of which some stand still.
Layout random_layout(Random& random, const Shape& shape, double stands_still) {
  Layout layout{shape, Dims::filled(shape.size(), 0), 0};
  std::vector<int> order;
  for (int i = 0; i < shape.size(); ++i) order.insert(order.begin() + random.integer(0, i), i);
  std::int64_t step = random.integer(1, 2);
  for (const int dim : order) {
    if (random.chance(stands_still)) continue;
    layout.strides[dim] = step;
    step *= shape[dim] + (random.chance(0.3) ? 1 : 0);
  }
  return layout;
}

Problem random_problem(Random& random, std::int64_t most_elements) {
  Shape shape;
  const auto ndim = random.integer(0, 8);
  std::int64_t room = most_elements;
  for (std::int64_t i = 0; i < ndim; ++i) {
    const std::int64_t size = std::max<std::int64_t>(
        1, std::min(room, random.chance(0.3) ? random.integer(1, room) : random.integer(1, 6)));
    shape.push_back(size);
    room /= size;
  }
  Problem problem{random_layout(random, shape, 0.15), {}, 0};
  if (random.chance(0.6)) problem.mask = random_layout(random, shape, 0.4);
  problem.reduced = static_cast<std::uint32_t>(random.integer(0, (1 << ndim) - 1));
  problem.state_bytes = random.integer(1, 4) * 8;
  problem.has_index = random.chance(0.5);
  if (!problem.has_index && random.chance(0.5)) problem.weight = random_layout(random, shape, 0.4);
  return problem;
}

/// The positions (in x, in the mask, in the output, among those reduced or in the weights) that a
/// problem pairs up, naively.
std::vector<PlanOffsets> wanted_visits(const Problem& problem) {
  std::vector<PlanOffsets> visits;
  const Strides out = problem.out();
  test::for_each_index(problem.x.shape, [&](const Dims& index) {
    PlanOffsets at{};
    for (int i = 0; i < index.size(); ++i) {
      at[operand_x] += index[i] * problem.x.strides[i];
      if (problem.mask) at[operand_mask] += index[i] * problem.mask->strides[i];
      at[operand_out] += index[i] * out[i];
      if (problem.weight) at[operand_weight] += index[i] * problem.weight->strides[i];
      if (problem.has_index && problem.is_reduced(i))
        at[operand_index] = at[operand_index] * problem.x.shape[i] + index[i];
    }
    visits.push_back(at);
  });
  std::sort(visits.begin(), visits.end());
  return visits;
}

/// The same as the plan walks it.
std::vector<PlanOffsets> planned_visits(const ReducePlan& plan) {
  std::vector<PlanOffsets> visits;
  for (std::int64_t tile = 0; tile < plan.tiles; ++tile) {
    const BlockRange outputs = tile_range(plan, tile);
    for (std::int64_t step = 0; step < plan.steps; ++step) {
      const BlockRange block = block_range(plan, outputs, step);
      for (std::int64_t r = 0; r < block.rows; ++r) {
        for (std::int64_t c = 0; c < block.cols; ++c) {
          PlanOffsets at = block.offsets;
          for (std::size_t k = 0; k < at.size(); ++k)
            at[k] += r * plan.rows.step[k] + c * plan.cols.step[k];
          visits.push_back(at);
        }
      }
    }
  }
  std::sort(visits.begin(), visits.end());
  return visits;
}

/// How often the tiles of a plan claim each output.
std::vector<int> claims(const ReducePlan& plan, std::int64_t outputs) {
  std::vector<int> count(static_cast<std::size_t>(outputs));
  for (std::int64_t tile = 0; tile < plan.tiles; ++tile) {
    const BlockRange range = tile_range(plan, tile);
    const bool is_across = plan.walk == Walk::across;
    const std::int64_t n = is_across ? range.cols : range.rows;
    const std::int64_t step = (is_across ? plan.cols : plan.rows).step[operand_out];
    for (std::int64_t i = 0; i < n; ++i) {
      ++count.at(static_cast<std::size_t>(range.offsets[operand_out] + i * step));
    }
  }
  return count;
}

std::int64_t output_count(const Problem& problem) {
  std::int64_t count = 1;
  for (int i = 0; i < problem.x.shape.size(); ++i) {
    if (!problem.is_reduced(i)) count *= problem.x.shape[i];
  }
  return count;
}

TEST(Plan, VisitsEveryElementOnceWithItsMaskAndItsOutput) {
  Random random;
  for (int i = 0; i < 1500; ++i) {
    const Problem problem = random_problem(random, 3000);
    ASSERT_EQ(planned_visits(problem.plan()), wanted_visits(problem)) << problem.text();
  }
}

TEST(Plan, VisitsEveryElementOnceOfLargeInput) {
  Random random;
  for (int i = 0; i < 25; ++i) {
    const Problem problem = random_problem(random, 400'000);
    ASSERT_EQ(planned_visits(problem.plan()), wanted_visits(problem)) << problem.text();
  }
}

TEST(Plan, GivesEveryOutputToOneTile) {
  Random random;
  for (int i = 0; i < 1500; ++i) {
    const Problem problem = random_problem(random, 3000);
    const std::vector<int> once(static_cast<std::size_t>(output_count(problem)), 1);
    ASSERT_EQ(claims(problem.plan(), output_count(problem)), once) << problem.text();
  }
}

TEST(Plan, CutsTheStepsOfATileIntoPartsWithoutGaps) {
  Random random;
  for (int i = 0; i < 500; ++i) {
    const Problem problem = random_problem(random, 1'000'000'000);
    const ReducePlan plan = problem.plan();
    ASSERT_GE(plan.parts * plan.part_steps, plan.steps) << problem.text();
    ASSERT_LT((plan.parts - 1) * plan.part_steps, plan.steps) << problem.text();
  }
}

TEST(Plan, KeepsBlocksWithinTheirLimits) {
  Random random;
  for (int i = 0; i < 500; ++i) {
    const Problem problem = random_problem(random, 1'000'000'000);
    const ReducePlan plan = problem.plan();
    ASSERT_LE(plan.block_rows * plan.block_cols, 64 * 64 * 1024) << problem.text();
    ASSERT_GE(plan.block_rows, 1) << problem.text();
    ASSERT_GE(plan.block_cols, 1) << problem.text();
  }
}

TEST(Plan, DoesNotDependOnTheNumberOfThreads) {
  const Problem problem{Layout::contiguous({3, 1'000'000}), {}, 2};
  const ReducePlan one = problem.plan();
  test::with_threads({1, 2, 7}, [&] {
    const ReducePlan plan = problem.plan();
    EXPECT_EQ(plan.tiles, one.tiles);
    EXPECT_EQ(plan.parts, one.parts);
    EXPECT_EQ(plan.part_steps, one.part_steps);
    EXPECT_EQ(plan.block_cols, one.block_cols);
  });
}

TEST(Plan, WalksAlongContiguousReducedDims) {
  EXPECT_EQ((Problem{Layout::contiguous({100, 50}), {}, 2}.plan().walk), Walk::along);
}

TEST(Plan, WalksAcrossContiguousKeptDims) {
  EXPECT_EQ((Problem{Layout::contiguous({100, 50}), {}, 1}.plan().walk), Walk::across);
}

TEST(Plan, WalksAlongATransposedInputReducedInItsFirstDim) {
  const Layout x = loup::transpose(Layout::contiguous({100, 50}), 0, 1);
  EXPECT_EQ((Problem{x, {}, 1}.plan().walk), Walk::along);
}

TEST(Plan, FoldsManyShortRowsThatAllAreReduced) {
  const Layout x = loup::narrow(Layout::contiguous({1000, 8}), 1, 0, 5);
  EXPECT_EQ((Problem{x, {}, 3}.plan().walk), Walk::fold);
}

TEST(Plan, SplitsALongRowIntoParts) {
  const ReducePlan plan = Problem{Layout::contiguous({1'000'000}), {}, 1}.plan();
  EXPECT_GT(plan.parts, 1);
  EXPECT_LE(plan.block_cols, 65536);
}

TEST(Plan, MergesDimsThatFollowEachOther) {
  const ReducePlan plan = Problem{Layout::contiguous({4, 5, 6, 7}), {}, 0b1100}.plan();
  EXPECT_EQ(plan.cols.size, 42);
  EXPECT_EQ(plan.rows.size, 20);
}

TEST(Plan, DoesNotMergeDimsThatTheMaskTellsApart) {
  const Layout mask = loup::expand(Layout::contiguous({4, 5, 1, 7}), {4, 5, 6, 7});
  const ReducePlan plan = Problem{Layout::contiguous({4, 5, 6, 7}), mask, 0b1100}.plan();
  EXPECT_EQ(plan.cols.size, 7);
}

}  // namespace
}  // namespace loup::ops
