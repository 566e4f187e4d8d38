#include "loup/ops/weighted_mean.h"

#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/views.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::ops {
namespace {

using test::bits_of;
using test::elements;
using test::Random;

Tensor repeated_to(const Tensor& x, const Shape& shape) {
  return x.with_layout(broadcast("test", "", x.layout(), shape));
}

/// Rows, columns or all of a matrix, by plain loops; and how much their elements weigh.
struct Naive {
  std::vector<double> means, sizes;

  Naive(const Tensor& x, const Tensor& weight, std::optional<int> dim, const Tensor& mask) {
    const Tensor weights = repeated_to(weight, x.shape());
    const Tensor counts = repeated_to(mask, x.shape());
    const auto outputs = static_cast<std::size_t>(dim ? x.shape()[1 - *dim] : 1);
    means.resize(outputs);
    sizes.resize(outputs);
    std::vector<double> totals(outputs);
    test::for_each_index(x.shape(), [&](const Dims& index) {
      if (!counts.at<bool>(index)) return;
      const auto at = static_cast<std::size_t>(dim ? index[1 - *dim] : 0);
      means[at] += weights.at<double>(index) * x.at<double>(index);
      sizes[at] += std::abs(weights.at<double>(index) * x.at<double>(index));
      totals[at] += weights.at<double>(index);
    });
    for (std::size_t i = 0; i < outputs; ++i) {
      means[i] /= totals[i];
      sizes[i] /= totals[i];
    }
  }
};

void expect_means(const Tensor& x, const Tensor& weight, const Tensor& mask) {
  for (const std::optional<int> dim : {std::optional<int>(), {0}, {1}}) {
    const Tensor got = weighted_mean_of(x, weight, dim ? Dims{*dim} : Dims{}, false, {}, &mask);
    const Naive wanted(x, weight, dim, mask);
    const auto means = elements<double>(got);
    ASSERT_EQ(means.size(), wanted.means.size());
    for (std::size_t i = 0; i < means.size(); ++i) {
      const double slack = 3 * test::tolerance(got.dtype(), x.size()) * wanted.sizes[i];
      if (std::isnan(wanted.means[i])) {
        EXPECT_TRUE(std::isnan(means[i]));
      } else {
        EXPECT_NEAR(means[i], wanted.means[i], slack)
            << fmt::format("{} {} strides {} {} dim {} of {}", x.dtype(), x.shape(), x.strides(),
                           weight.strides(), dim.value_or(-1), i);
      }
    }
  }
}

/// Positive, so that sums of weights are not near 0.
Tensor random_weights(Random& random, const Shape& shape, DType dtype) {
  const Tensor result = empty(shape, dtype);
  test::for_each_index(shape,
                       [&](const Dims& index) { result.set(index, 1 + 7 * random.fraction()); });
  return result;
}

Tensor moderate(Random& random, const Shape& shape, DType dtype) {
  const Tensor result = empty(shape, dtype);
  test::for_each_index(shape, [&](const Dims& index) { result.set(index, random.integer(0, 99)); });
  return result;
}

TEST(WeightedMean, IsRightAtTheEdgesOfPieces) {
  Random random;
  for (const Shape& shape :
       {Shape{1, 31}, Shape{3, 32}, Shape{9, 33}, Shape{2, 2047}, Shape{3, 2048}, Shape{2, 2049},
        Shape{70, 255}, Shape{17, 257}, Shape{3000, 3}, Shape{2, 70'000}, Shape{70'000, 2}}) {
    const Tensor x = test::random_tensor(random, shape, DType::f32);
    const Tensor weights = random_weights(random, shape, DType::f32);
    const Tensor mask = test::random_mask(random, shape);
    test::poison(x, mask, random);
    test::poison(weights, mask, random);
    expect_means(x, weights, mask);
  }
}

TEST(WeightedMean, TakesElementsAndWeightsOfEveryDType) {
  Random random;
  const Tensor mask = test::random_mask(random, {40, 70});
  for (const DType dtype : test::all_dtypes()) {
    expect_means(moderate(random, {40, 70}, dtype), random_weights(random, {40, 70}, DType::f32),
                 mask);
    expect_means(moderate(random, {40, 70}, DType::f64), random_weights(random, {40, 70}, dtype),
                 mask);
  }
}

TEST(WeightedMean, TakesEveryLayout) {
  Random random;
  const Shape shape{120, 90};
  const auto layouts = [&](const auto& make) {
    const Tensor wide = make(Shape{240, 180});
    const Tensor stepped =
        wide.with_layout(loup::slice(loup::slice(wide.layout(), 0, 0, 240, 2), 1, 0, 180, 2));
    return std::vector<Tensor>{make(shape), transpose(make(Shape{90, 120}), 0, 1), stepped,
                               repeated_to(make(Shape{90}), shape),
                               repeated_to(make(Shape{120, 1}), shape)};
  };
  const auto xs =
      layouts([&](const Shape& s) { return test::random_tensor(random, s, DType::f32); });
  const auto weights =
      layouts([&](const Shape& s) { return random_weights(random, s, DType::f32); });
  const auto masks = layouts([&](const Shape& s) { return test::random_mask(random, s); });
  for (const Tensor& x : xs) {
    for (const Tensor& weight : weights) {
      for (const Tensor& mask : masks) expect_means(x, weight, mask);
    }
  }
}

TEST(WeightedMean, HasTheSameBitsForEveryNumberOfThreads) {
  Random random;
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const Shape& shape : {Shape{300, 2049}, Shape{3, 200'000}, Shape{200'000, 3}}) {
      const Tensor x = test::random_tensor(random, shape, dtype);
      const Tensor weights = random_weights(random, shape, dtype);
      const Tensor mask = test::random_mask(random, shape);
      for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}}) {
        std::vector<std::byte> wanted;
        test::with_threads({1, 2, 7}, [&] {
          // Means are rounded; those of doubles show how they were added.
          const auto got = bits_of(weighted_mean_of(x, weights, dims, false, DType::f64, &mask));
          if (wanted.empty()) wanted = got;
          EXPECT_EQ(got, wanted) << fmt::format("{} {} {}", dtype, shape, dims);
        });
      }
    }
  }
}

TEST(WeightedMean, IsNaNOfNothing) {
  const Tensor nothing = zeros({}, DType::boolean);
  const Tensor x = full({3, 5000}, std::nan(""));
  for (const float mean : elements<float>(weighted_mean_of(x, x, {1}, false, {}, &nothing))) {
    EXPECT_TRUE(std::isnan(mean));
  }
  const Tensor empty_rows = weighted_mean_of(ones({2, 0}), ones({}), {1}, true, {}, nullptr);
  EXPECT_EQ(empty_rows.shape(), (Shape{2, 1}));
  EXPECT_TRUE(std::isnan(empty_rows.at<double>({0, 0})));
}

TEST(WeightedMean, ConvertsElementsFirst) {
  const Tensor x = tensor({0.1, 0.2});
  const Tensor got = weighted_mean_of(x, ones({2}), {}, false, DType::bf16, nullptr);
  EXPECT_EQ(got.dtype(), DType::bf16);
  const Tensor rounded = to(x, DType::bf16);
  EXPECT_EQ(got.item<float>(),
            weighted_mean_of(rounded, ones({2}), {}, false, {}, nullptr).item<float>());
}

TEST(WeightedMeanGradient, OfRepeatedWeightsIsSummed) {
  Random random;
  const Tensor x = test::random_tensor(random, {40, 300}, DType::f64);
  const Tensor mask = test::random_mask(random, {40, 300});
  test::poison(x, mask, random);
  const Tensor g = test::random_tensor(random, {40}, DType::f64);
  const auto gradient = [&](const Tensor& weights, const Tensor& leaf) {
    autograd::backward(weighted_mean_of(x, weights, {1}, false, {}, &mask), {.gradient = g});
    return test::grad_of(leaf);
  };
  const Tensor values = random_weights(random, {300}, DType::f64);
  const Tensor direct = test::leaf(clone(values));
  const Tensor expanded = test::leaf(clone(values));
  const auto got = gradient(direct, direct);
  const auto wanted = gradient(expand(expanded, {40, 300}), expanded);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], 1e-12 * (1 + std::abs(wanted[i])));
  }
}

}  // namespace
}  // namespace loup::ops
