#include <cmath>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/masked/ranks.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/masked/samples.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::bits_of;
using test::data_2x4;
using test::elements;
using test::expect_error;
using test::mask_2x4;
using test::nan;
using test::Random;

using Reals = std::vector<double>;

TEST(MaskedHistogram, CountsWhatCounts) {
  const BinCounts got = histogram(data_2x4, 2, {.range = std::pair(1.0, 8.0), .mask = mask_2x4});
  EXPECT_EQ(elements<std::int64_t>(got.counts), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(elements<double>(got.edges), (Reals{1, 4.5, 8}));
  const BinCounts whole = histogram(as_masked_tensor(data_2x4, mask_2x4), 2);
  EXPECT_EQ(elements<double>(whole.edges), (Reals{2, 5, 8}));
  EXPECT_EQ(elements<std::int64_t>(whole.counts), (std::vector<std::int64_t>{3, 4}));
}

TEST(MaskedHistogram, HasTheRangeOfWhatCounts) {
  const Tensor x = tensor({-90.0, 1.0, 3.0, 90.0});
  const BinCounts got = histogram(x, 2, {.mask = tensor({false, true, true, false})});
  EXPECT_EQ(elements<double>(got.edges), (Reals{1, 2, 3}));
}

TEST(MaskedHistogram, TakesEdgesAndWeightsAndDensities) {
  const Tensor edges = tensor({0.0, 2.0, 2.0, 10.0});
  EXPECT_EQ(elements<std::int64_t>(histogram(data_2x4, edges).counts),
            (std::vector<std::int64_t>{1, 0, 7}));
  const BinCounts weighted = histogram(data_2x4, edges, {.weight = data_2x4, .mask = mask_2x4});
  EXPECT_EQ(elements<double>(weighted.counts), (Reals{0, 0, 35}));
  const BinCounts density = histogram(data_2x4, tensor({0.0, 4.0, 8.0}), {.density = true});
  EXPECT_EQ(elements<double>(density.counts), (Reals{3.0 / 8 / 4, 5.0 / 8 / 4}));
}

TEST(MaskedHistogram, HasARangeForEverything) {
  EXPECT_EQ(elements<double>(histogram(zeros({0}), 1).edges), (Reals{0, 1}));
  EXPECT_EQ(elements<double>(histogram(full({3}, 2.0, DType::f64), 1).edges), (Reals{1.5, 2.5}));
  EXPECT_EQ(elements<std::int64_t>(
                histogram(tensor({nan, 0.5, 3.0}), 1, {.range = std::pair(0.0, 1.0)}).counts),
            (std::vector<std::int64_t>{1}));
}

TEST(MaskedHistogram, GivesTheSameBitsOnEveryNumberOfThreads) {
  Random random;
  // Doubles: sums of floats would be rounded to the same bits.
  const Tensor x = test::random_tensor(random, {300, 1001}, DType::f64);
  const Tensor m = test::random_mask(random, {300, 1001});
  std::vector<std::byte> wanted;
  test::with_threads({1, 2, 7}, [&] {
    const auto got =
        bits_of(histogram(ops::transpose(x, 0, 1), 50,
                          {.weight = ops::transpose(x, 0, 1), .mask = ops::transpose(m, 0, 1)})
                    .counts);
    if (wanted.empty()) wanted = got;
    EXPECT_EQ(got, wanted);
  });
}

TEST(MaskedHistogram, RefusesBadArguments) {
  expect_error<ValueError>([] { histogram(data_2x4, 0); }, "histogram: expected at least 1 bin",
                           "got 0");
  expect_error<ValueError>([] { histogram(data_2x4, 2, {.range = std::pair(2.0, 1.0)}); },
                           "histogram: expected a range that does not fall", "got (2, 1)");
  expect_error<ValueError>([] { histogram(tensor({nan, 1.0}), 2); },
                           "histogram: expected a finite range", "got (nan, nan)");
  expect_error<ValueError>([] { histogram(data_2x4, tensor({1.0, 0.0})); },
                           "histogram: expected edges that do not fall", "got 1 before 0");
  expect_error<ShapeError>([] { histogram(data_2x4, tensor({1.0})); },
                           "histogram: expected a vector of at least 2 edges", "got shape [1]");
  expect_error<ShapeError>([] { histogram(data_2x4, 2, {.weight = ones({3})}); },
                           "histogram: expected weights of shape [2, 4]", "got [3]");
  expect_error<ValueError>(
      [] { histogram(data_2x4, tensor({0.0, 1.0}), {.range = std::pair(0.0, 1.0)}); },
      "histogram: expected a range or edges of bins", "got both");
}

/// Pair (i, j) by plain loops over the observations that both have.
double covariance_of(const Tensor& x, const Tensor& m, std::int64_t i, std::int64_t j,
                     double correction, const Reals& weights, const Reals& squares) {
  double total = 0;
  double total_squares = 0;
  double mean_i = 0;
  double mean_j = 0;
  const auto for_each = [&](auto&& f) {
    for (std::int64_t k = 0; k < x.shape()[1]; ++k) {
      if (m.at<bool>({i, k}) && m.at<bool>({j, k})) f(static_cast<std::size_t>(k), k);
    }
  };
  for_each([&](std::size_t w, std::int64_t k) {
    total += weights[w];
    total_squares += squares[w];
    mean_i += weights[w] * x.at<double>({i, k});
    mean_j += weights[w] * x.at<double>({j, k});
  });
  mean_i /= total;
  mean_j /= total;
  double sum = 0;
  for_each([&](std::size_t w, std::int64_t k) {
    sum += weights[w] * (x.at<double>({i, k}) - mean_i) * (x.at<double>({j, k}) - mean_j);
  });
  return sum / std::max(total - correction * total_squares / total, 0.0);
}

TEST(MaskedCovariance, UsesTheObservationsThatBothVariablesHave) {
  Random random;
  const Tensor x = test::random_tensor(random, {5, 40}, DType::f64);
  const Tensor valid = test::random_mask(random, {5, 40});
  const Tensor often = empty({40}, DType::i64);
  const Tensor much = empty({40}, DType::f64);
  for (std::int64_t k = 0; k < 40; ++k) {
    often.set({k}, random.integer(0, 3));
    much.set({k}, random.fraction());
  }
  for (const bool is_weighted : {false, true}) {
    Reals weights(40, 1);
    Reals squares(40, 1);
    CovarianceOptions options{.correction = 0.5, .mask = valid};
    if (is_weighted) {
      options.fweights = often;
      options.aweights = much;
      for (std::int64_t k = 0; k < 40; ++k) {
        const auto at = static_cast<std::size_t>(k);
        weights[at] = often.at<double>({k}) * much.at<double>({k});
        squares[at] = weights[at] * much.at<double>({k});
      }
    }
    for (const bool is_masked : {true, false}) {
      if (!is_masked) options.mask = std::nullopt;
      const Tensor counts = is_masked ? valid : ones({5, 40}, DType::boolean);
      const Tensor got = cov(x, options);
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 5; ++j) {
          const double wanted = covariance_of(x, counts, i, j, 0.5, weights, squares);
          EXPECT_NEAR(got.at<double>({i, j}), wanted, 1e-10 * (1 + std::abs(wanted)));
        }
      }
    }
  }
}

TEST(MaskedCovariance, SurvivesLargeMeans) {
  Random random;
  Tensor x = empty({2, 1000}, DType::f32);
  for (std::int64_t k = 0; k < 1000; ++k) {
    x.set({0, k}, 1e6 + static_cast<double>(k % 8));
    x.set({1, k}, -1e6 - static_cast<double>(k % 8));
  }
  const Tensor valid = test::random_mask(random, {2, 1000});
  const Reals ones_of(1000, 1);
  const Tensor got = cov(x, {.mask = valid});
  for (std::int64_t i = 0; i < 2; ++i) {
    const double wanted = covariance_of(x, valid, i, 1, 1, ones_of, ones_of);
    EXPECT_NEAR(got.at<double>({i, 1}), wanted, 1e-4 * std::abs(wanted));
  }
}

TEST(MaskedCovariance, IsNaNForPairsThatHaveNothingInCommon) {
  const Tensor x = tensor({{1.0, 2.0, nan, nan}, {nan, nan, 1.0, 3.0}});
  const Tensor m = tensor({{true, true, false, false}, {false, false, true, true}});
  const auto got = elements<double>(cov(x, {.mask = m}));
  EXPECT_EQ(got[0], 0.5);
  EXPECT_TRUE(std::isnan(got[1]));
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_EQ(got[3], 2);
  EXPECT_EQ(elements<bool>(cov(as_masked_tensor(x, m)).get_mask()),
            (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(elements<bool>(corrcoef.output_mask(x, {.mask = m})),
            (std::vector<bool>{true, false, false, true}));
}

TEST(MaskedCovariance, OfAVectorIsANumber) {
  EXPECT_EQ(cov(tensor({1.0, 2.0, 3.0})).shape(), Shape{});
  EXPECT_EQ(cov(tensor({1.0, 2.0, 3.0})).item<double>(), 1);
  EXPECT_EQ(cov(tensor({1, 2, 3})).dtype(), DType::f32);
  EXPECT_NEAR(corrcoef(tensor({1.0, 2.0, 3.0})).item<double>(), 1, 1e-15);
  EXPECT_TRUE(std::isnan(cov(tensor({1.0})).item<double>()));
}

TEST(MaskedCovariance, RefusesBadArguments) {
  expect_error<ShapeError>([] { cov(zeros({2, 2, 2})); },
                           "cov: expected variables as rows of a matrix", "got shape [2, 2, 2]");
  expect_error<ShapeError>([] { corrcoef(zeros({2, 2, 2})); },
                           "corrcoef: expected variables as rows of a matrix",
                           "got shape [2, 2, 2]");
  expect_error<DTypeError>([] { cov(data_2x4, {.fweights = ones({4})}); },
                           "cov: expected fweights of an integer dtype", "got float32");
  expect_error<ShapeError>([] { cov(data_2x4, {.aweights = ones({3})}); },
                           "cov: expected aweights of shape [4]", "got [3]");
  expect_error<ValueError>([] { cov(data_2x4, {.aweights = full({4}, -1.0)}); },
                           "cov: expected aweights that are not negative", "got -1");
}

TEST(MaskedCorrelation, IsOneForWhatMovesTogether) {
  const Tensor x = tensor({{1.0, 2.0, 4.0, nan}, {2.0, 4.0, 8.0, 1.0}, {-1.0, -2.0, nan, -3.0}});
  const Tensor m =
      tensor({{true, true, true, false}, {true, true, true, true}, {true, true, false, true}});
  const auto got = elements<double>(corrcoef(x, {.mask = m}));
  EXPECT_NEAR(got[1], 1, 1e-12);
  EXPECT_NEAR(got[2], -1, 1e-12);
  EXPECT_LE(got[1], 1);
  EXPECT_GE(got[2], -1);
}

TEST(MaskedWeightedMean, DividesByTheWeightsThatCount) {
  const Tensor weights = tensor({1.0, 5.0, 1.0, 2.0});
  EXPECT_EQ(elements<double>(weighted_mean(data_2x4, weights, 1, {.mask = mask_2x4})),
            (Reals{13.0 / 4, 52.0 / 9}));
  EXPECT_EQ(weighted_mean(data_2x4, ones({}, DType::f64)).item<double>(), 4.5);
  EXPECT_EQ(weighted_mean(tensor({1, 2}), tensor({1, 1})).dtype(), DType::f32);
  EXPECT_TRUE(std::isnan(
      weighted_mean(data_2x4, weights, {}, {.mask = zeros({}, DType::boolean)}).item<double>()));
}

TEST(MaskedWeightedMean, RefusesBadArguments) {
  expect_error<ValueError>([] { weighted_mean(data_2x4, data_2x4, {}, {.dtype = DType::i32}); },
                           "weighted_mean: expected a floating dtype", "got int32");
  EXPECT_THROW(weighted_mean(data_2x4, ones({3})), ShapeError);
  EXPECT_THROW(weighted_mean(data_2x4, data_2x4, 2), IndexError);
  EXPECT_THROW(weighted_mean(data_2x4, data_2x4, 1, {.mask = data_2x4}), DTypeError);
}

}  // namespace
}  // namespace loup::masked
