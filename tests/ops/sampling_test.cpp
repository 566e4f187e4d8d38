#include "loup/ops/sampling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/random.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/errors.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::elements;
using test::expect_error;

TEST(Randperm, HoldsEveryNumberOnce) {
  for (const std::int64_t n : {0, 1, 2, 3, 1000, 32768, 32769, 100000, 1000003}) {
    auto order = elements<std::int64_t>(randperm(n, Generator(1)));
    std::sort(order.begin(), order.end());
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(n));
    std::iota(wanted.begin(), wanted.end(), 0);
    ASSERT_EQ(order, wanted) << n;
  }
}

TEST(Randperm, TakesEveryOrderEquallyOften) {
  const Generator generator(2);
  std::map<std::vector<std::int64_t>, int> counts;
  constexpr int runs = 24000;
  for (int i = 0; i < runs; ++i) ++counts[elements<std::int64_t>(randperm(4, generator))];
  EXPECT_EQ(counts.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : counts) chi_square += std::pow(count - 1000, 2) / 1000;
  EXPECT_LT(chi_square, 50);  // 23 degrees of freedom
}

TEST(Randperm, SpreadsNumbersEvenlyWhereItUsesBuckets) {
  // Where 0 … 99 and the last hundred of a large permutation land, in eighths.
  constexpr std::int64_t n = 200000;
  std::vector<int> first(8);
  std::vector<int> last(8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto order = elements<std::int64_t>(randperm(n, Generator(seed)));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t value = order[static_cast<std::size_t>(i)];
      if (value < 100) ++first[static_cast<std::size_t>(i * 8 / n)];
      if (value >= n - 100) ++last[static_cast<std::size_t>(i * 8 / n)];
    }
  }
  for (const auto& counts : {first, last}) {
    double chi_square = 0;
    for (const int count : counts) chi_square += std::pow(count - 250, 2) / 250;
    EXPECT_LT(chi_square, 25);  // 7 degrees of freedom
  }
}

TEST(Randperm, DependsNeitherOnThreadsNorOnTheTarget) {
  const auto wanted = elements<std::int64_t>(randperm(300000, Generator(3)));
  const auto run = [&] {
    ASSERT_EQ(elements<std::int64_t>(randperm(300000, Generator(3))), wanted);
  };
  test::with_threads({1, 2, 7}, run);
  test::for_each_target(run);
}

TEST(Randperm, RefusesANegativeNumber) {
  expect_error<ValueError>([] { randperm(-1); }, "randperm: expected n of at least 0", "got -1");
}

TEST(Multinomial, DrawsInProportionToTheWeights) {
  const Tensor weights = tensor({0.0, 1.0, 2.0, 0.0, 5.0, 0.0});
  std::vector<int> counts(6);
  for (const auto i : elements<std::int64_t>(
           multinomial(weights, 80000, {.replacement = true, .generator = Generator(4)}))) {
    ++counts[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(counts[0] + counts[3] + counts[5], 0);
  EXPECT_NEAR(counts[1], 10000, 500);
  EXPECT_NEAR(counts[2], 20000, 650);
  EXPECT_NEAR(counts[4], 50000, 750);
}

TEST(Multinomial, DrawsNothingTwiceWithoutReplacement) {
  const Generator generator(5);
  const Tensor weights = rand({50, 37}, {.generator = generator});
  const Tensor drawn = multinomial(weights, 37, {.generator = generator});
  EXPECT_EQ(drawn.shape(), (Shape{50, 37}));
  for (std::int64_t r = 0; r < 50; ++r) {
    auto row = elements<std::int64_t>(select(drawn, 0, r));
    std::sort(row.begin(), row.end());
    for (std::size_t i = 0; i < row.size(); ++i) {
      ASSERT_EQ(row[i], static_cast<std::int64_t>(i)) << "row " << r;
    }
  }
}

TEST(Multinomial, DrawsWithoutReplacementAsOneByOne) {
  // P(first = 2, second = 1) = 5/8 * 2/3.
  const Tensor weights = expand(tensor({{1.0F, 2.0F, 5.0F}}), {30000, 3});
  const auto pairs = elements<std::int64_t>(multinomial(weights, 2, {.generator = Generator(6)}));
  int count = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    count += pairs[i] == 2 && pairs[i + 1] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(count, 12500, 5 * std::sqrt(30000 * 0.4167 * 0.5833));
}

TEST(Multinomial, DependsNeitherOnThreadsNorStrides) {
  const Tensor weights = transpose(rand({17, 400}, {.generator = Generator(7)}), 0, 1);
  const auto draw = [&](const Tensor& x) {
    return elements<std::int64_t>(multinomial(x, 5, {.generator = Generator(8)}));
  };
  const auto wanted = draw(contiguous(weights));
  test::with_threads({1, 2, 7}, [&] { EXPECT_EQ(draw(weights), wanted); });
}

TEST(Multinomial, RefusesWeightsThatAreNone) {
  expect_error<ValueError>([] { multinomial(tensor({1.0, -1.0}), 1); },
                           "multinomial: expected weights that are finite and not negative",
                           "got -1");
  expect_error<ValueError>([] { multinomial(tensor({1.0, std::nan("")}), 1); },
                           "multinomial: expected weights that are finite and not negative",
                           "got nan");
  expect_error<ValueError>([] { multinomial(tensor({0.0, 0.0}), 1, {.replacement = true}); },
                           "multinomial: expected at least 1 weights above 0 in a row", "got 0");
  expect_error<ValueError>([] { multinomial(tensor({0.0, 1.0}), 2); },
                           "multinomial: expected at least 2 weights above 0 in a row", "got 1");
  expect_error<ValueError>([] { multinomial(tensor({1e308, 1e308}), 1); },
                           "multinomial: expected weights with a finite sum", "got inf");
  expect_error<ValueError>([] { multinomial(tensor({1.0}), 0); },
                           "multinomial: expected at least 1 sample", "got 0");
  expect_error<DTypeError>([] { multinomial(tensor({1}), 1); },
                           "multinomial: expected weights of a floating dtype", "got int32");
  expect_error<ShapeError>([] { multinomial(ones({}), 1); },
                           "multinomial: expected weights with 1 or 2 dims", "got shape []");
}

}  // namespace
}  // namespace loup::ops
