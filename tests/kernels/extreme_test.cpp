#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "tests/kernels/blocks.h"
#include "tests/support/settings.h"

namespace loup::test {
namespace {

using kernels::ReduceOp;

template <class T>
class EveryExtreme : public testing::Test {};
using FloatElements = testing::Types<float, double>;
TYPED_TEST_SUITE(EveryExtreme, FloatElements);

/// Elements of a line; none where one does not count.
template <class T>
using Line = std::vector<std::optional<T>>;

template <class T>
Line<T> line(const TestBlock<T>& block, std::int64_t r) {
  const std::vector<T> elements = block.row(r);
  Line<T> result(elements.begin(), elements.end());
  for (std::size_t c = 0; c < result.size(); ++c) {
    if (!block.counts(r, static_cast<std::int64_t>(c))) result[c].reset();
  }
  return result;
}

/// Which of the elements that count is the extreme; the first NaN if there is one.
template <class T>
std::optional<std::size_t> place_of_extreme(bool is_largest, const Line<T>& elements) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i]) continue;
    const T x = *elements[i];
    if (best && std::isnan(*elements[*best])) break;
    if (!best || std::isnan(x) || (is_largest ? x > *elements[*best] : x < *elements[*best])) {
      best = i;
    }
  }
  return best;
}

template <class T>
struct Extremes {
  std::vector<T> values;
  std::vector<std::int64_t> places;

  void add(bool is_largest, const Line<T>& elements) {
    const auto place = place_of_extreme(is_largest, elements);
    const T infinite = std::numeric_limits<T>::infinity();
    values.push_back(place ? *elements[*place] : is_largest ? -infinite : infinite);
    places.push_back(place ? static_cast<std::int64_t>(*place) : 0);
  }
};

template <class T>
void expect_equal(const std::vector<T>& wanted, const std::vector<T>& got) {
  ASSERT_EQ(wanted.size(), got.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
    } else {
      ASSERT_EQ(wanted[i], got[i]) << i;
    }
  }
}

/// Compares the kernels with the model along and across rows, on every instruction set.
template <class T>
void expect_extremes(const TestBlock<T>& elements) {
  SCOPED_TRACE(elements.text());
  kernels::Block block = elements.block();
  for (const bool is_largest : {true, false}) {
    Extremes<T> rows;
    Extremes<T> columns;
    std::vector<Line<T>> across(static_cast<std::size_t>(block.cols));
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const Line<T> row = line(elements, r);
      for (std::size_t c = 0; c < row.size(); ++c) across[c].push_back(row[c]);
      rows.add(is_largest, row);
    }
    for (const Line<T>& column : across) columns.add(is_largest, column);
    const auto type = compute_type(dtype_of<T>());
    const auto& values = kernels::reducer(is_largest ? ReduceOp::amax : ReduceOp::amin, type);
    const auto& places = kernels::reducer(is_largest ? ReduceOp::argmax : ReduceOp::argmin, type);
    for_each_target([&] {
      StateBuffer of_rows(values, block.rows);
      values.along(of_rows.from(0), false, block);
      expect_equal(rows.values, of_rows.template finish<T>());
      StateBuffer of_columns(values, block.cols);
      values.across(of_columns.from(0), block);
      expect_equal(columns.values, of_columns.template finish<T>());
      block.index_row = 0;
      block.index_col = 1;
      StateBuffer in_rows(places, block.rows);
      places.along(in_rows.from(0), false, block);
      EXPECT_EQ(rows.places, in_rows.template finish<std::int64_t>());
      block.index_row = 1;
      block.index_col = 0;
      StateBuffer in_columns(places, block.cols);
      places.across(in_columns.from(0), block);
      EXPECT_EQ(columns.places, in_columns.template finish<std::int64_t>());
    });
  }
}

/// Blocks of every mask form and of short, middling and long rows, whose elements `fill` picks,
/// with NaN wherever they do not count.
template <class T, class Fill>
void expect_extremes_with(Fill&& fill) {
  Random random;
  for (const MaskForm form : mask_forms) {
    for (const std::int64_t cols : {1, 7, 16, 31, 64, 100, 200, 513, 1100}) {
      for (const std::int64_t rows : {1, 8, 19, 40}) {
        TestBlock<T> block(random, rows, cols, form, cols % 3);
        block.refill([&] { return fill(random); });
        block.poison([] { return std::numeric_limits<T>::quiet_NaN(); });
        expect_extremes(block);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(EveryExtreme, FindsTheFirstOfManyEqualNumbers) {
  expect_extremes_with<TypeParam>(
      [](Random& random) { return static_cast<TypeParam>(random.integer(-2, 2)); });
}

TYPED_TEST(EveryExtreme, FindsTheExtremeOfDistinctNumbers) {
  expect_extremes_with<TypeParam>(
      [](Random& random) { return static_cast<TypeParam>(random.real()); });
}

TYPED_TEST(EveryExtreme, ShowsAFewNaNs) {
  expect_extremes_with<TypeParam>([](Random& random) {
    const auto nan = std::numeric_limits<TypeParam>::quiet_NaN();
    if (random.chance(0.003)) return random.chance(0.5) ? nan : -nan;
    return static_cast<TypeParam>(random.real());
  });
}

TYPED_TEST(EveryExtreme, TakesInfinitiesOfBothSignsForNumbers) {
  using Limits = std::numeric_limits<TypeParam>;
  expect_extremes_with<TypeParam>([](Random& random) {
    return random.pick<TypeParam>(
        {Limits::infinity(), -Limits::infinity(), Limits::max(), Limits::lowest(), 1, -0.0});
  });
}

TYPED_TEST(EveryExtreme, TakesSumsThatOverflowForNumbers) {
  using Limits = std::numeric_limits<TypeParam>;
  expect_extremes_with<TypeParam>([](Random& random) {
    if (random.chance(0.01)) return -Limits::infinity();
    return random.pick<TypeParam>({Limits::max(), Limits::max() / 2});
  });
}

TYPED_TEST(EveryExtreme, FindsInfinitiesThatAreTheExtremeOfNothing) {
  using Limits = std::numeric_limits<TypeParam>;
  expect_extremes_with<TypeParam>([](Random&) { return -Limits::infinity(); });
  expect_extremes_with<TypeParam>([](Random&) { return Limits::infinity(); });
}

TYPED_TEST(EveryExtreme, FindsTheLeastIndexInRowsThatAreNumberedBackwards) {
  Random random;
  TestBlock<TypeParam> elements(random, 21, 40, MaskForm::none);
  elements.refill([] { return TypeParam{1}; });
  kernels::Block block = elements.block();
  block.index = 120;
  block.index_row = -6;
  const auto& places = kernels::reducer(ReduceOp::argmax, compute_type(dtype_of<TypeParam>()));
  for_each_target([&] {
    StateBuffer states(places, 40);
    places.across(states.from(0), block);
    EXPECT_EQ(states.finish<std::int64_t>(), std::vector<std::int64_t>(40, 0));
  });
}

}  // namespace
}  // namespace loup::test
