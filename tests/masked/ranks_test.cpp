#include "loup/masked/ranks.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::bits_of;
using test::elements;
using test::expect_error;
using test::grad_of;
using test::leaf;
using test::Random;

using Reals = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
const Tensor data = tensor({{3.0, 1.0, 2.0, 4.0}, {8.0, 5.0, 7.0, 6.0}});
const Tensor mask = tensor({{true, false, true, true}, {true, true, true, true}});

// --- values ---

TEST(MaskedMedian, IsTheLowerMiddleOfWhatCounts) {
  EXPECT_EQ(elements<double>(median(data, -1, {.mask = mask})), (Reals{3, 6}));
  EXPECT_EQ(elements<double>(median(data)), (Reals{2, 6}));
  EXPECT_EQ(elements<double>(median(data, 0, {.mask = mask})), (Reals{3, 5, 2, 4}));
}

TEST(MaskedMedian, IsNaNWhereOneThatCountsIs) {
  const Tensor x = tensor({{1.0, nan, 2.0}, {1.0, nan, 2.0}});
  const Tensor m = tensor({{true, true, true}, {true, false, true}});
  const auto got = elements<double>(median(x, 1, {.mask = m}));
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 1);
}

TEST(MaskedMedian, IsExactOnLargeIntegers) {
  const Tensor x =
      tensor({std::int64_t{(1LL << 60) + 1}, std::int64_t{1LL << 60}, std::int64_t{0}});
  EXPECT_EQ(median(x).item<std::int64_t>(), 1LL << 60);
  EXPECT_EQ(median(tensor({(1 << 24) + 1, 1 << 24, (1 << 24) + 2})).item<int>(), (1 << 24) + 1);
}

TEST(MaskedMedian, OfANumberIsThatNumber) {
  const Tensor x = full({}, 3.0, DType::f64);
  EXPECT_EQ(median(x).item<double>(), 3);
  EXPECT_EQ(median(x, 0, {.keepdim = true}).shape(), Shape{});
  EXPECT_TRUE(std::isnan(median(x, -1, {.mask = zeros({}, DType::boolean)}).item<double>()));
}

TEST(MaskedMedian, ConvertsFirst) {
  EXPECT_EQ(median(tensor({1.9, 2.9, 0.2}), -1, {.dtype = DType::i32}).item<int>(), 1);
  EXPECT_EQ(median(tensor({1.9, 2.9, 0.2}), -1, {.dtype = DType::i32}).dtype(), DType::i32);
}

TEST(MaskedMedian, OfIntegersOfWhichNoneCountsIsAnErrorOrMasked) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  const Tensor m = tensor({{true, false}, {false, false}});
  expect_error<ValueError>([&] { median(x, 1, {.mask = m}); },
                           "median: expected an element that counts in every line of int32",
                           "got a line that is fully masked");
  const MaskedTensor got = median(as_masked_tensor(x, m), 1);
  EXPECT_EQ(elements<int>(got.get_data()), (std::vector<int>{1, 0}));
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, false}));
}

TEST(MaskedMedian, RefusesLinesWithoutElements) {
  expect_error<IndexError>([] { median(zeros({2, 0}), 1); },
                           "median: expected elements along dim 1", "got shape [2, 0]");
  EXPECT_EQ(median(zeros({0, 2}), 1).shape(), Shape{0});
}

TEST(MaskedMedian, RefusesBadArguments) {
  expect_error<IndexError>([] { median(data, 2); }, "median: expected a dim from -2 to 1", "got 2");
  expect_error<DTypeError>([] { median(data, 1, {.mask = data}); },
                           "median: expected a mask of bool or integers", "got float64");
  EXPECT_THROW(median(data, 1, {.mask = ones({3}, DType::boolean)}), ShapeError);
  EXPECT_THROW(median(data, 1, {.mask = ones({1, 2, 4}, DType::boolean)}), IndexError);
}

TEST(MaskedQuantile, StandsBetweenElements) {
  EXPECT_EQ(quantile(data, 0.5).item<double>(), 4.5);
  EXPECT_EQ(elements<double>(quantile(data, 0.25, -1, {.mask = mask})), (Reals{2.5, 5.75}));
  const Tensor several = quantile(data, std::array{0.0, 1.0}, 0);
  EXPECT_EQ(several.shape(), (Shape{2, 4}));
  EXPECT_EQ(elements<double>(several), (Reals{3, 1, 2, 4, 8, 5, 7, 6}));
}

TEST(MaskedQuantile, KnowsEveryInterpolation) {
  const Tensor x = tensor({0.0, 10.0, 20.0, 40.0});  // place 0.7 * 3 = 2.1
  const auto at = [&](Interpolation way) {
    return quantile(x, 0.7, 0, {.interpolation = way}).item<double>();
  };
  EXPECT_NEAR(at(Interpolation::linear), 22, 1e-12);
  EXPECT_EQ(at(Interpolation::lower), 20);
  EXPECT_EQ(at(Interpolation::higher), 40);
  EXPECT_EQ(at(Interpolation::midpoint), 30);
  EXPECT_EQ(at(Interpolation::nearest), 20);
}

TEST(MaskedQuantile, StaysExactBetweenEqualAndInfiniteElements) {
  EXPECT_EQ(quantile(tensor({infinity, infinity}), 0.5).item<double>(), infinity);
  EXPECT_EQ(quantile(tensor({-infinity, 1.0}), 0.5).item<double>(), -infinity);
  EXPECT_EQ(quantile(tensor({1.0, infinity}), 0.25).item<double>(), infinity);
  EXPECT_TRUE(std::isnan(quantile(tensor({-infinity, infinity}), 0.5).item<double>()));
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(quantile(tensor({-huge, huge}), 0.5).item<double>(), 0);
}

TEST(MaskedQuantile, KeepsTheDimsOfAsManyAsThereMayBe) {
  const Shape shape = Dims::filled(8, 2);
  const Tensor x = ones(shape, DType::f32);
  Shape kept = shape;
  kept[3] = 1;
  EXPECT_EQ(quantile(x, 0.5, 3, {.keepdim = true}).shape(), kept);
  EXPECT_EQ(quantile(x, 0.5, -5, {.keepdim = true}).shape(), kept);
  EXPECT_EQ(quantile(x, 0.5, {}, {.keepdim = true}).shape(), Dims::filled(8, 1));
  EXPECT_EQ(quantile(MaskedTensor(x, ones(shape, DType::boolean)), 0.5, 3, {.keepdim = true})
                .get_data()
                .shape(),
            kept);
}

TEST(MaskedQuantile, OfIntegersIsAFloat) {
  EXPECT_EQ(quantile(tensor({1, 2}), 0.5).dtype(), DType::f32);
  EXPECT_EQ(quantile(tensor({1, 2}), 0.5).item<float>(), 1.5F);
  EXPECT_EQ(quantile(tensor({std::int64_t{1}}), 0.5).dtype(), DType::f64);
  EXPECT_EQ(quantile(tensor({true, false}), 0.5).item<float>(), 0.5F);
}

TEST(MaskedQuantile, IsNaNWhereNothingCountsOrOneIsNaN) {
  const Tensor x = tensor({{1.0, nan}, {1.0, 2.0}});
  const Tensor m = tensor({{true, true}, {false, false}});
  for (const double value : elements<double>(quantile(x, 0.5, 1, {.mask = m}))) {
    EXPECT_TRUE(std::isnan(value));
  }
  const MaskedTensor got = quantile(as_masked_tensor(x, m), std::array{0.1, 0.5}, 1);
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, false, true, false}));
}

TEST(MaskedQuantile, RefusesBadArguments) {
  expect_error<ValueError>([] { quantile(data, 1.5); }, "quantile: expected q from 0 to 1",
                           "got 1.5");
  expect_error<ValueError>([] { quantile(data, nan); }, "quantile: expected q from 0 to 1",
                           "got nan");
  expect_error<ValueError>([] { quantile(data, 0.5, 0, {.dtype = DType::i32}); },
                           "quantile: expected a floating dtype", "got int32");
  expect_error<IndexError>([] { quantile(zeros({0}), 0.5); },
                           "quantile: expected elements to choose from", "got shape [0]");
  expect_error<ValueError>(
      [] { ops::interpolation_of("cubic"); },
      "quantile: expected interpolation as one of linear, lower, higher, midpoint, nearest",
      "got 'cubic'");
}

TEST(MaskedMedian, CountsWhereBothMasksLetSomethingThrough) {
  const MaskedTensor x =
      as_masked_tensor(tensor({{1.0, 2.0}, {3.0, 4.0}}), tensor({{true, false}, {true, true}}));
  const MaskedTensor got = median(x, 1, {.mask = tensor({{false, true}, {true, true}})});
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{false, true}));
}

TEST(MaskedHistogram, CountsWhatCounts) {
  const BinCounts got = histogram(data, 2, {.range = std::pair(1.0, 8.0), .mask = mask});
  EXPECT_EQ(elements<std::int64_t>(got.counts), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(elements<double>(got.edges), (Reals{1, 4.5, 8}));
  const BinCounts whole = histogram(as_masked_tensor(data, mask), 2);
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
  EXPECT_EQ(elements<std::int64_t>(histogram(data, edges).counts),
            (std::vector<std::int64_t>{1, 0, 7}));
  const BinCounts weighted = histogram(data, edges, {.weight = data, .mask = mask});
  EXPECT_EQ(elements<double>(weighted.counts), (Reals{0, 0, 35}));
  const BinCounts density = histogram(data, tensor({0.0, 4.0, 8.0}), {.density = true});
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
  expect_error<ValueError>([] { histogram(data, 0); }, "histogram: expected at least 1 bin",
                           "got 0");
  expect_error<ValueError>([] { histogram(data, 2, {.range = std::pair(2.0, 1.0)}); },
                           "histogram: expected a range that does not fall", "got (2, 1)");
  expect_error<ValueError>([] { histogram(tensor({nan, 1.0}), 2); },
                           "histogram: expected a finite range", "got (nan, nan)");
  expect_error<ValueError>([] { histogram(data, tensor({1.0, 0.0})); },
                           "histogram: expected edges that do not fall", "got 1 before 0");
  expect_error<ShapeError>([] { histogram(data, tensor({1.0})); },
                           "histogram: expected a vector of at least 2 edges", "got shape [1]");
  expect_error<ShapeError>([] { histogram(data, 2, {.weight = ones({3})}); },
                           "histogram: expected weights of shape [2, 4]", "got [3]");
  expect_error<ValueError>(
      [] { histogram(data, tensor({0.0, 1.0}), {.range = std::pair(0.0, 1.0)}); },
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
  expect_error<DTypeError>([] { cov(data, {.fweights = ones({4})}); },
                           "cov: expected fweights of an integer dtype", "got float32");
  expect_error<ShapeError>([] { cov(data, {.aweights = ones({3})}); },
                           "cov: expected aweights of shape [4]", "got [3]");
  expect_error<ValueError>([] { cov(data, {.aweights = full({4}, -1.0)}); },
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
  EXPECT_EQ(elements<double>(weighted_mean(data, weights, 1, {.mask = mask})),
            (Reals{13.0 / 4, 52.0 / 9}));
  EXPECT_EQ(weighted_mean(data, ones({}, DType::f64)).item<double>(), 4.5);
  EXPECT_EQ(weighted_mean(tensor({1, 2}), tensor({1, 1})).dtype(), DType::f32);
  EXPECT_TRUE(std::isnan(
      weighted_mean(data, weights, {}, {.mask = zeros({}, DType::boolean)}).item<double>()));
}

TEST(MaskedWeightedMean, RefusesBadArguments) {
  expect_error<ValueError>([] { weighted_mean(data, data, {}, {.dtype = DType::i32}); },
                           "weighted_mean: expected a floating dtype", "got int32");
  EXPECT_THROW(weighted_mean(data, ones({3})), ShapeError);
  EXPECT_THROW(weighted_mean(data, data, 2), IndexError);
  EXPECT_THROW(weighted_mean(data, data, 1, {.mask = data}), DTypeError);
}

// --- gradients ---

using Function = std::function<Tensor(const Tensor& x, const std::optional<Tensor>& mask)>;
struct Differentiable {
  const char* name;
  Function call;
};

std::ostream& operator<<(std::ostream& stream, const Differentiable& op) {
  return stream << op.name;
}

std::vector<Differentiable> differentiable() {
  return {
      {"median", [](const Tensor& x, const auto& m) { return median(x, -1, {.mask = m}); }},
      {"median_across",
       [](const Tensor& x, const auto& m) { return median(x, 0, {.mask = m, .keepdim = true}); }},
      {"quantile",
       [](const Tensor& x, const auto& m) {
         return quantile(x, std::array{0.3, 0.0, 0.77}, -1, {.mask = m});
       }},
      {"quantile_of_all",
       [](const Tensor& x, const auto& m) { return quantile(x, 0.4, {}, {.mask = m}); }},
      {"quantile_midpoint",
       [](const Tensor& x, const auto& m) {
         return quantile(x, 0.6, 0, {.mask = m, .interpolation = Interpolation::midpoint});
       }},
      {"cov", [](const Tensor& x, const auto& m) { return cov(x, {.mask = m}); }},
      {"cov_weighted",
       [](const Tensor& x, const auto& m) {
         return cov(x, {.correction = 0,
                        .aweights = tensor({0.5, 1.0, 2.0, 1.0, 1.5, 0.25, 1.0}),
                        .mask = m});
       }},
      {"corrcoef", [](const Tensor& x, const auto& m) { return corrcoef(x, {.mask = m}); }},
      {"weighted_mean",
       [](const Tensor& x, const auto& m) {
         return weighted_mean(x, tensor({0.5, 1.0, 2.0, 1.0, 1.5, 0.25, 1.0}), 1, {.mask = m});
       }},
      {"weighted_mean_of_weights",
       [](const Tensor& x, const auto& m) {
         return weighted_mean(full({3, 7}, 2.0, DType::f64) * data.at<double>({0, 0}), x * x, 1,
                              {.mask = m});
       }},
  };
}

constexpr double step = 1e-5;

class EveryRankGradient : public testing::TestWithParam<Differentiable> {
 protected:
  /// Rows of 7 with at least four that count in common, so that pairs have a covariance.
  static Tensor values(std::uint64_t stream) {
    Random random(stream);
    Tensor x = empty({3, 7}, DType::f64);
    for (double& value : x.data<double>()) {
      value = (0.5 + 1.5 * random.fraction()) * (random.chance(0.5) ? 1 : -1);
    }
    return x;
  }
  static Tensor valid() {
    return tensor({{true, true, false, true, true, true, true},
                   {true, true, true, true, false, true, true},
                   {true, false, true, true, true, true, true}});
  }
  static Tensor weights_for(const Tensor& y, std::uint64_t stream) {
    Random random(stream);
    return test::random_tensor(random, y.shape(), DType::f64);
  }
  static Reals gradient(const Tensor& x, const std::optional<Tensor>& m, const Tensor& weights) {
    const Tensor own = leaf(ops::clone(x));
    autograd::backward(GetParam().call(own, m), {.gradient = weights});
    return grad_of(own);
  }
  static double inner(const Reals& a, const Tensor& b) {
    const auto other = elements<double>(b);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * other[i];
    return sum;
  }
  template <class F>
  static double difference(const Tensor& x, const Dims& index, F&& f) {
    const Tensor moved = ops::clone(x);
    const auto value = moved.at<double>(index);
    moved.set(index, value + step);
    const double above = f(moved);
    moved.set(index, value - step);
    return (above - f(moved)) / (2 * step);
  }
};

TEST_P(EveryRankGradient, AgreesWithFiniteDifferences) {
  for (const bool is_masked : {false, true}) {
    const std::optional<Tensor> m = is_masked ? std::optional(valid()) : std::nullopt;
    const Tensor x = values(3);
    const Tensor weights = weights_for(GetParam().call(x, m), 4);
    const Reals got = gradient(x, m, weights);
    std::size_t at = 0;
    test::for_each_index(x.shape(), [&](const Dims& index) {
      const double wanted = difference(x, index, [&](const Tensor& moved) {
        return inner(elements<double>(GetParam().call(moved, m)), weights);
      });
      EXPECT_NEAR(got[at++], wanted, 1e-6 * (1 + std::abs(wanted)))
          << fmt::format("{} masked {}", index, is_masked);
    });
  }
}

TEST_P(EveryRankGradient, OfItsGradientAgreesWithFiniteDifferences) {
  const std::optional<Tensor> m = valid();
  const Tensor x = values(3);
  const Tensor given = weights_for(GetParam().call(x, m), 4);
  const Tensor direction = weights_for(x, 5);
  const Tensor own = leaf(ops::clone(x));
  const Tensor weights = leaf(ops::clone(given));
  autograd::backward(GetParam().call(own, m), {.gradient = weights, .create_graph = true});
  const Tensor first = *autograd::grad(own);
  ASSERT_TRUE(first.requires_grad());
  autograd::set_grad(own, std::nullopt);
  autograd::backward(first, {.gradient = direction});
  const Reals by_weights = grad_of(weights);
  const auto by_x = autograd::grad(own);
  std::size_t at = 0;
  test::for_each_index(given.shape(), [&](const Dims& index) {
    const double wanted = difference(
        given, index, [&](const Tensor& moved) { return inner(gradient(x, m, moved), direction); });
    EXPECT_NEAR(by_weights[at++], wanted, 1e-6 * (1 + std::abs(wanted))) << "weights";
  });
  test::for_each_index(x.shape(), [&](const Dims& index) {
    const double wanted = difference(
        x, index, [&](const Tensor& moved) { return inner(gradient(moved, m, given), direction); });
    EXPECT_NEAR(by_x ? by_x->at<double>(index) : 0, wanted, 1e-5 * (1 + std::abs(wanted))) << "x";
  });
}

TEST_P(EveryRankGradient, NeitherDependsOnGarbageUnderTheMaskNorReachesIt) {
  const Tensor m = valid();
  const Tensor x = values(3);
  const Tensor weights = weights_for(GetParam().call(x, m), 4);
  const Reals clean = gradient(x, m, weights);
  for (int trial = 0; trial < 20; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const Tensor poisoned = ops::clone(x);
    test::poison(poisoned, m, random);
    EXPECT_EQ(gradient(poisoned, m, weights), clean);
  }
  std::size_t at = 0;
  for (const bool counts : elements<bool>(m)) {
    if (!counts) {
      EXPECT_EQ(clean[at], 0);
    }
    ++at;
  }
}

TEST_P(EveryRankGradient, NeverReadsAnArrivingGradientThatIsMasked) {
  const Tensor x = values(3);
  const Tensor y = GetParam().call(x, {});
  Random random(9);
  const Tensor shown = test::random_mask(random, y.shape());
  const auto grad_with = [&](double hidden) {
    const Tensor own = leaf(ops::clone(x));
    const Tensor weights = ops::filled(weights_for(y, 4), shown, hidden);
    autograd::backward(ops::filled(GetParam().call(own, {}), shown, 0), {.gradient = weights});
    return grad_of(own);
  };
  EXPECT_EQ(grad_with(nan), grad_with(0));
}

TEST_P(EveryRankGradient, StaysZeroWhereNothingCounts) {
  const Tensor x = full({3, 7}, nan, DType::f64);
  const Tensor nothing = zeros({}, DType::boolean);
  const Tensor weights = ops::clone(GetParam().call(x, nothing));
  EXPECT_EQ(gradient(x, nothing, full(weights.shape(), 1.0, DType::f64)), Reals(21, 0));
}

INSTANTIATE_TEST_SUITE_P(Masked, EveryRankGradient, testing::ValuesIn(differentiable()),
                         [](const auto& op) { return op.param.name; });

TEST(MedianGradient, GoesToTheFirstOfEqualElements) {
  const Tensor x = leaf(tensor({{2.0, 1.0, 1.0, 1.0}, {0.0, -0.0, 5.0, -1.0}}));
  autograd::backward(median(x, 1), {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(grad_of(x), (Reals{0, 3, 0, 0, 4, 0, 0, 0}));
}

TEST(MedianGradient, GoesToTheFirstNaNThatCounts) {
  const Tensor x = leaf(tensor({nan, 1.0, nan, nan}));
  autograd::backward(median(x, 0, {.mask = tensor({false, true, true, true})}), {});
  EXPECT_EQ(grad_of(x), (Reals{0, 0, 1, 0}));
}

TEST(MedianGradient, IsAStructuralZeroWhereItDoesNotGo) {
  const Tensor x = leaf(tensor({1.0, 2.0, 3.0}));
  const Tensor y = x / tensor({0.0, 1.0, 0.0});
  autograd::backward(median(y, 0, {.mask = tensor({false, true, false})}), {});
  EXPECT_EQ(grad_of(x), (Reals{0, 1, 0}));
  const Tensor z = leaf(tensor({1.0, 2.0, 3.0}));
  autograd::backward(median(z / tensor({-0.0, 1.0, 0.0}), 0), {});
  EXPECT_EQ(grad_of(z), (Reals{0, 1, 0}));
}

TEST(RankGradients, HaveTheDTypeOfTheInput) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const std::optional<DType> cast : {std::optional<DType>(), std::optional(DType::f64)}) {
      for (int op = 0; op < 3; ++op) {
        Tensor x = ones({2, 3}, dtype);
        autograd::set_requires_grad(x, true);
        const Tensor y = op == 0   ? median(x, 1, {.dtype = cast})
                         : op == 1 ? quantile(x, 0.3, 1, {.dtype = cast})
                                   : weighted_mean(x, ones({3}), 1, {.dtype = cast});
        autograd::backward(y, {.gradient = ones({2}, y.dtype())});
        EXPECT_EQ(autograd::grad(x).value().dtype(), dtype) << name(dtype) << op;
      }
    }
  }
}

}  // namespace
}  // namespace loup::masked
