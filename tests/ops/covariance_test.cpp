#include "loup/ops/covariance.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

// Observations are taken in blocks: of 32768 elements, at least 256 observations, and at least as
// many as there are variables.

namespace loup::ops {
namespace {

using test::bits_of;
using test::Random;

/// Sums of a pair over the observations that both have, by plain loops.
struct Pair {
  double count = 0, covariance = 0, first = 0, second = 0;

  Pair(const Tensor& x, const Tensor& mask, std::int64_t i, std::int64_t j) {
    double mean_i = 0;
    double mean_j = 0;
    const auto for_each = [&](auto&& f) {
      for (std::int64_t k = 0; k < x.shape()[1]; ++k) {
        if (mask.at<bool>({i, k}) && mask.at<bool>({j, k})) {
          f(x.at<double>({i, k}), x.at<double>({j, k}));
        }
      }
    };
    for_each([&](double a, double b) {
      ++count;
      mean_i += a;
      mean_j += b;
    });
    mean_i /= count;
    mean_j /= count;
    for_each([&](double a, double b) {
      covariance += (a - mean_i) * (b - mean_j);
      first += (a - mean_i) * (a - mean_i);
      second += (b - mean_j) * (b - mean_j);
    });
  }
};

void expect_pairs(const Tensor& x, const Tensor& mask, bool is_masked, double slack) {
  const Tensor* const given = is_masked ? &mask : nullptr;
  const Tensor covariances = covariance(x, {.mask = given});
  const Tensor correlations = correlation(x, given);
  const std::int64_t last = x.shape()[0] - 1;
  for (const auto& [i, j] : {std::pair(std::int64_t{0}, last), {last, last}, {last / 2, 0}}) {
    const Pair wanted(x, mask, i, j);
    const double deviations = std::sqrt(wanted.first) * std::sqrt(wanted.second);
    EXPECT_NEAR(covariances.at<double>({i, j}), wanted.covariance / (wanted.count - 1),
                slack * deviations / (wanted.count - 1))
        << fmt::format("{} {} {} masked {}", x.shape(), i, j, is_masked);
    EXPECT_NEAR(correlations.at<double>({i, j}), wanted.covariance / deviations, slack)
        << fmt::format("{} {} {} masked {}", x.shape(), i, j, is_masked);
  }
}

/// Around a mean far from 0.
Tensor random_observations(Random& random, const Shape& shape, DType dtype, double mean) {
  const Tensor x = empty(shape, dtype);
  test::for_each_index(shape,
                       [&](const Dims& index) { x.set(index, mean + 8 * random.fraction()); });
  return x;
}

TEST(Covariance, IsRightAtTheEdgesOfBlocks) {
  Random random;
  for (const Shape& shape :
       {Shape{128, 255}, Shape{128, 256}, Shape{128, 257}, Shape{128, 513}, Shape{300, 299},
        Shape{300, 300}, Shape{300, 301}, Shape{3, 10'921}, Shape{3, 10'922}, Shape{3, 10'923},
        Shape{3, 21'845}, Shape{1, 32'768}, Shape{1, 32'769}}) {
    const Tensor x = random_observations(random, shape, DType::f64, 100);
    expect_pairs(x, ones(shape, DType::boolean), false, 1e-10);
    const Tensor mask = test::random_mask(random, shape);
    test::poison(x, mask, random);
    expect_pairs(x, mask, true, 1e-10);
  }
}

TEST(Covariance, IgnoresWhatIsMaskedAtTheEdgesOfBlocks) {
  Random random;
  const Tensor x = random_observations(random, {128, 600}, DType::f32, 0);
  const Tensor mask = ones({128, 600}, DType::boolean);
  for (const std::int64_t column : {0, 255, 256, 511, 512, 599}) {
    for (std::int64_t i = 0; i < 128; i += 3) mask.set({i, column}, false);
  }
  const auto clean = bits_of(covariance(x, {.mask = &mask}));
  const auto correlations = bits_of(correlation(x, &mask));
  for (int trial = 0; trial < 3; ++trial) {
    test::poison(x, mask, random);
    EXPECT_EQ(bits_of(covariance(x, {.mask = &mask})), clean);
    EXPECT_EQ(bits_of(correlation(x, &mask)), correlations);
  }
}

TEST(Covariance, OfAWholeBlockThatIsMaskedIsThatOfTheOthers) {
  Random random;
  const Tensor x = random_observations(random, {128, 768}, DType::f64, 5);
  const Tensor mask = ones({128, 768}, DType::boolean);
  fill_(narrow(mask, 1, 256, 256), 0);
  test::poison(x, mask, random);
  expect_pairs(x, mask, true, 1e-10);
  const Tensor nothing = zeros({}, DType::boolean);
  for (const double value : test::elements<double>(covariance(x, {.mask = &nothing}))) {
    EXPECT_TRUE(std::isnan(value));
  }
  for (const bool has : test::elements<bool>(pair_mask("cov", x, &nothing))) EXPECT_FALSE(has);
}

TEST(Covariance, SurvivesMeansOfAMillion) {
  Random random;
  for (const bool is_masked : {false, true}) {
    const Shape shape{3, 50'000};
    const Tensor x = random_observations(random, shape, DType::f32, 8e6);
    const Tensor mask = is_masked ? test::random_mask(random, shape) : ones(shape, DType::boolean);
    expect_pairs(x, mask, is_masked, 2e-6);
  }
}

TEST(Covariance, ForgetsObservationsWithoutWeight) {
  const Tensor x = tensor({{1.0, 2.0, 1e30, 4.0}, {2.0, -1.0, -1e30, 3.0}});
  const Tensor weights = tensor({1, 2, 0, 1});
  const Tensor others = tensor({{1.0, 2.0, 2.0, 4.0}, {2.0, -1.0, -1.0, 3.0}});
  const auto got = test::elements<double>(covariance(x, {.fweights = &weights}));
  const auto wanted = test::elements<double>(covariance(others));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12);
}

TEST(Covariance, HasTheSameBitsForEveryNumberOfThreads) {
  Random random;
  for (const Shape& shape : {Shape{20, 40'000}, Shape{5, 100'000}, Shape{400, 1000}}) {
    const Tensor x = random_observations(random, shape, DType::f64, 1);
    const Tensor mask = test::random_mask(random, shape);
    const Tensor weights = random_observations(random, {shape[1]}, DType::f64, 1);
    std::vector<std::byte> wanted;
    std::vector<std::byte> wanted_correlations;
    test::with_threads({1, 2, 7}, [&] {
      const auto got = bits_of(covariance(x, {.aweights = &weights, .mask = &mask}));
      const auto correlations = bits_of(correlation(x, &mask));
      if (wanted.empty()) {
        wanted = got;
        wanted_correlations = correlations;
      }
      EXPECT_EQ(got, wanted) << fmt::format("{}", shape);
      EXPECT_EQ(correlations, wanted_correlations) << fmt::format("{}", shape);
    });
  }
}

TEST(Covariance, TakesTransposedVariablesAndMasksOfIntegers) {
  Random random;
  const Tensor x = random_observations(random, {900, 40}, DType::f64, 3);
  const Tensor numbers = empty({900, 40}, DType::i64);
  const Tensor mask = test::random_mask(random, {900, 40});
  test::for_each_index(mask.shape(), [&](const Dims& index) {
    numbers.set(index, mask.at<bool>(index) ? random.integer(1, 1000) * 256 : 0);
  });
  const Tensor valid = transpose(mask, 0, 1);
  const Tensor counts = transpose(numbers, 0, 1);
  EXPECT_EQ(bits_of(covariance(transpose(x, 0, 1), {.mask = &counts})),
            bits_of(covariance(transpose(x, 0, 1), {.mask = &valid})));
  expect_pairs(transpose(x, 0, 1), valid, true, 1e-10);
}

TEST(CovarianceGradient, IsRightAcrossBlocks) {
  Random random;
  constexpr std::int64_t count = 40'000;
  const Tensor x = random_observations(random, {2, count}, DType::f64, 10);
  const Tensor g = tensor({{1.0, 0.5}, {-2.0, 3.0}});
  const Tensor leaf = test::leaf(clone(x));
  autograd::backward(covariance(leaf), {.gradient = g});
  double means[2] = {0, 0};
  for (std::int64_t k = 0; k < count; ++k) {
    for (int i = 0; i < 2; ++i) means[i] += x.at<double>({i, k}) / count;
  }
  const Tensor got = *autograd::grad(leaf);
  for (const std::int64_t k :
       {std::int64_t{0}, std::int64_t{16'383}, std::int64_t{16'384}, count - 1}) {
    const double a = x.at<double>({0, k}) - means[0];
    const double b = x.at<double>({1, k}) - means[1];
    EXPECT_NEAR(got.at<double>({0, k}) * (count - 1), 2 * a - 1.5 * b, 1e-9);
    EXPECT_NEAR(got.at<double>({1, k}) * (count - 1), -1.5 * a + 6 * b, 1e-9);
  }
}

}  // namespace
}  // namespace loup::ops
