#include "loup/kernels/reduce.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/kernels/blocks.h"
#include "tests/support/settings.h"

namespace loup::test {
namespace {

template <class T>
class EverySum : public testing::Test {};
using Elements = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(EverySum, Elements);

enum class Direction { along, across };

/// Compares a kernel with the model on many blocks, on every instruction set.
template <class T>
void expect_as_modelled(Direction direction, const std::vector<TestBlock<T>>& blocks) {
  const bool is_along = direction == Direction::along;
  std::vector<std::vector<typename SumModel<T>::Result>> wanted;
  for (const auto& block : blocks) {
    wanted.push_back(is_along ? model_along(block) : model_across(block));
  }
  for_each_target([&] {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const kernels::Block block = blocks[i].block();
      const auto got = is_along ? sum_along<T>(block) : sum_across<T>(block);
      ASSERT_TRUE(same_bits(wanted[i], got)) << blocks[i].text();
    }
  });
}

/// Every number of columns with some numbers of rows, and the other way round.
template <class T>
std::vector<TestBlock<T>> blocks_of_every_size(MaskForm form) {
  Random random;
  std::vector<TestBlock<T>> blocks;
  for (std::int64_t cols = 0; cols <= 700; ++cols) {
    for (const std::int64_t rows : {1, 3, 9}) blocks.emplace_back(random, rows, cols, form);
  }
  for (std::int64_t rows = 1; rows <= 20; ++rows) {
    for (const std::int64_t cols : {1, 5, 8, 31, 64, 257, 513, 544}) {
      blocks.emplace_back(random, rows, cols, form);
    }
  }
  return blocks;
}

TYPED_TEST(EverySum, FollowsTheDocumentedTreeAlongRows) {
  expect_as_modelled(Direction::along, blocks_of_every_size<TypeParam>(MaskForm::none));
}

TYPED_TEST(EverySum, FollowsTheDocumentedTreeAlongRowsUnderAByteMask) {
  expect_as_modelled(Direction::along, blocks_of_every_size<TypeParam>(MaskForm::bytes));
}

TYPED_TEST(EverySum, SkipsWholeRowsUnderAMaskOfRows) {
  expect_as_modelled(Direction::along, blocks_of_every_size<TypeParam>(MaskForm::per_row));
}

TYPED_TEST(EverySum, ReusesOneMaskRowForAllRows) {
  expect_as_modelled(Direction::along, blocks_of_every_size<TypeParam>(MaskForm::one_row));
}

TYPED_TEST(EverySum, FollowsTheDocumentedTreeAcrossRows) {
  expect_as_modelled(Direction::across, blocks_of_every_size<TypeParam>(MaskForm::none));
}

TYPED_TEST(EverySum, FollowsTheDocumentedTreeAcrossRowsUnderAByteMask) {
  expect_as_modelled(Direction::across, blocks_of_every_size<TypeParam>(MaskForm::bytes));
}

TYPED_TEST(EverySum, SkipsWholeRowsAcrossUnderAMaskOfRows) {
  expect_as_modelled(Direction::across, blocks_of_every_size<TypeParam>(MaskForm::per_row));
}

TYPED_TEST(EverySum, ReusesOneMaskRowForAllRowsAcross) {
  expect_as_modelled(Direction::across, blocks_of_every_size<TypeParam>(MaskForm::one_row));
}

TYPED_TEST(EverySum, IgnoresWhatLiesBetweenRowsThatAreApart) {
  Random random;
  std::vector<TestBlock<TypeParam>> blocks;
  for (const MaskForm form : mask_forms) {
    for (std::int64_t gap = 1; gap <= 40; gap += 3) {
      blocks.emplace_back(random, 11, 45, form, gap);
      blocks.back().poison([] { return std::numeric_limits<TypeParam>::max(); });
    }
  }
  expect_as_modelled(Direction::along, blocks);
  expect_as_modelled(Direction::across, blocks);
}

TYPED_TEST(EverySum, CountsAnyNonzeroMaskByte) {
  const std::vector<TypeParam> x = {1, 2, 4, 8};
  const std::vector<std::uint8_t> mask = {255, 0, 128, 2};
  for_each_target([&] {
    EXPECT_EQ(sum_along<TypeParam>({x.data(), 4, mask.data(), 4, 1, 1, 4})[0], 13);
    EXPECT_EQ(sum_along<TypeParam>({x.data(), 1, mask.data(), 1, 0, 4, 1})[3], 8);
  });
}

TYPED_TEST(EverySum, AddsEveryRowIntoOneSharedState) {
  Random random;
  const TestBlock<TypeParam> block(random, 19, 70, MaskForm::bytes);
  SumModel<TypeParam> model;
  for (std::int64_t r = 0; r < 19; ++r) model.add_row(block.row(r));
  using Result = typename SumModel<TypeParam>::Result;
  for_each_target([&] {
    StateBuffer states(sum_reducer<TypeParam>(), 1);
    sum_reducer<TypeParam>().along(states.from(0), true, block.block());
    EXPECT_EQ(states.finish<Result>(), std::vector<Result>{model.finish()});
  });
}

TYPED_TEST(EverySum, LeavesTheStatesBesideItsOwnAlone) {
  Random random;
  const TestBlock<TypeParam> block(random, 9, 9, MaskForm::bytes);
  using Result = typename SumModel<TypeParam>::Result;
  std::vector<Result> along(4);
  for (const Result& r : model_along(block)) along.push_back(r);
  along.resize(16);
  std::vector<Result> across(4);
  for (const Result& r : model_across(block)) across.push_back(r);
  across.resize(16);
  for_each_target([&] {
    StateBuffer rows(sum_reducer<TypeParam>(), 16);
    sum_reducer<TypeParam>().along(rows.from(4), false, block.block());
    EXPECT_EQ(rows.finish<Result>(), along);
    StateBuffer cols(sum_reducer<TypeParam>(), 16);
    sum_reducer<TypeParam>().across(cols.from(4), block.block());
    EXPECT_EQ(cols.finish<Result>(), across);
  });
}

TYPED_TEST(EverySum, ContinuesFromTheStatesOfAnEarlierBlock) {
  Random random;
  const TestBlock<TypeParam> first(random, 10, 33, MaskForm::bytes);
  const TestBlock<TypeParam> second(random, 10, 77, MaskForm::none);
  using Result = typename SumModel<TypeParam>::Result;
  std::vector<Result> wanted;
  for (std::int64_t r = 0; r < 10; ++r) {
    SumModel<TypeParam> model;
    model.add_row(first.row(r));
    model.add_row(second.row(r));
    wanted.push_back(model.finish());
  }
  for_each_target([&] {
    StateBuffer states(sum_reducer<TypeParam>(), 10);
    sum_reducer<TypeParam>().along(states.from(0), false, first.block());
    sum_reducer<TypeParam>().along(states.from(0), false, second.block());
    EXPECT_EQ(states.finish<Result>(), wanted);
  });
}

TYPED_TEST(EverySum, MergesPartsInOrder) {
  Random random;
  using Result = typename SumModel<TypeParam>::Result;
  std::vector<TestBlock<TypeParam>> parts;
  for (int i = 0; i < 3; ++i) parts.emplace_back(random, 7, 100 + i, MaskForm::bytes);
  std::vector<SumModel<TypeParam>> models(7);
  for (const auto& part : parts) {
    for (std::size_t r = 0; r < 7; ++r) {
      SumModel<TypeParam> model;
      model.add_row(part.row(static_cast<std::int64_t>(r)));
      models[r].merge(model);
    }
  }
  std::vector<Result> wanted;
  for (const auto& model : models) wanted.push_back(model.finish());
  for_each_target([&] {
    StateBuffer whole(sum_reducer<TypeParam>(), 7);
    for (const auto& part : parts) {
      StateBuffer states(sum_reducer<TypeParam>(), 7);
      sum_reducer<TypeParam>().along(states.from(0), false, part.block());
      sum_reducer<TypeParam>().merge(whole.data(), states.data(), 7);
    }
    EXPECT_EQ(whole.finish<Result>(), wanted);
  });
}

TYPED_TEST(EverySum, GivesARowTheSameBitsWhateverRowsAreAroundIt) {
  Random random;
  const TestBlock<TypeParam> block(random, 17, 333, MaskForm::bytes);
  for_each_target([&] {
    const auto together = sum_along<TypeParam>(block.block());
    for (std::int64_t r = 0; r < 17; ++r) {
      kernels::Block alone = block.block();
      alone.x = static_cast<const TypeParam*>(alone.x) + r * alone.x_row;
      alone.mask += r * alone.mask_row;
      alone.rows = 1;
      EXPECT_EQ(sum_along<TypeParam>(alone)[0], together[static_cast<std::size_t>(r)])
          << "row " << r;
    }
  });
}

TYPED_TEST(EverySum, GivesTheIdentityForAFreshState) {
  for_each_target([&] {
    const StateBuffer states(sum_reducer<TypeParam>(), 3);
    using Result = typename SumModel<TypeParam>::Result;
    EXPECT_EQ(states.finish<Result>(), (std::vector<Result>{0, 0, 0}));
  });
}

TYPED_TEST(EverySum, AcceptsRowsThatRunBackwards) {
  Random random;
  const TestBlock<TypeParam> block(random, 5, 40, MaskForm::none);
  const auto wanted = model_along(block);
  kernels::Block backwards = block.block();
  backwards.x = static_cast<const TypeParam*>(backwards.x) + 4 * backwards.x_row;
  backwards.x_row = -backwards.x_row;
  for_each_target([&] {
    auto got = sum_along<TypeParam>(backwards);
    std::reverse(got.begin(), got.end());
    EXPECT_EQ(got, wanted);
  });
}

}  // namespace
}  // namespace loup::test
