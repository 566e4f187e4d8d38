#include "loup/ops/cross_entropy.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::bits_of;
using test::expect_error;
using test::expect_near;
using test::grad_of;
using test::leaf;
using test::nan;
using test::Random;

/// Probabilities 1/2, 1/4 and 1/4.
Tensor input() { return tensor({{std::log(2.0), 0.0, 0.0}, {0.0, 0.0, std::log(2.0)}}); }

CrossEntropyOptions with(LossReduction reduction) { return {.reduction = reduction}; }

TEST(CrossEntropy, IsTheLogarithmOfTheProbabilityOfTheTarget) {
  const Tensor target = tensor({0, 1});
  const double half = std::log(2.0);
  expect_near(cross_entropy(input(), target, with(LossReduction::none)), {half, 2 * half});
  expect_near(cross_entropy(input(), target, with(LossReduction::sum)), {3 * half});
  expect_near(cross_entropy(input(), target), {1.5 * half});
  expect_near(cross_entropy(select(input(), 0, 0), full({}, 2, DType::i64)), {2 * half});
}

TEST(CrossEntropy, HasClassesInTheSecondDim) {
  const Tensor x = reshape(transpose(input(), 0, 1), {1, 3, 2});
  const Tensor result = cross_entropy(x, tensor({{0, 1}}), with(LossReduction::none));
  EXPECT_EQ(result.shape(), (Shape{1, 2}));
  expect_near(result, {std::log(2.0), std::log(4.0)});
}

TEST(CrossEntropy, WeighsItsMean) {
  const Tensor weight = tensor({2.0, 0.5, 1.0});
  const double half = std::log(2.0);
  expect_near(cross_entropy(input(), tensor({0, 1}), {.weight = weight}),
              {(2 * half + 0.5 * 2 * half) / 2.5});
}

TEST(CrossEntropy, SmoothsTargets) {
  const double half = std::log(2.0);
  const double all = half + 2 * half + 2 * half;
  expect_near(cross_entropy(input(), tensor({0, 1}),
                            {.reduction = LossReduction::none, .label_smoothing = 0.3}),
              {0.7 * half + 0.1 * all, 0.7 * 2 * half + 0.1 * all});
}

TEST(CrossEntropy, TakesProbabilities) {
  const double half = std::log(2.0);
  const Tensor target = tensor({{1.0F, 0.0F, 0.0F}, {0.5F, 0.0F, 0.5F}});
  expect_near(cross_entropy(input(), target, with(LossReduction::none)), {half, 1.5 * half});
  expect_near(cross_entropy(input(), target, {.weight = tensor({2.0, 1.0, 4.0})}),
              {(2 * half + 2 * half + 2 * half) / 2});
}

TEST(CrossEntropy, DoesNotLookAtWhatIsIgnored) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {nan, nan}, {3.0, 0.0}}));
  const Tensor target = tensor({0, -100, 1});
  const Tensor each = cross_entropy(x, target, with(LossReduction::none));
  EXPECT_EQ(each.at<double>({1}), 0);
  const Tensor mean = cross_entropy(x, target);
  expect_near(mean, {(each.at<double>({0}) + each.at<double>({2})) / 2});
  autograd::backward(mean);
  const auto gradient = grad_of(x);
  EXPECT_EQ(gradient[2], 0);
  EXPECT_EQ(gradient[3], 0);
  for (const double value : gradient) EXPECT_TRUE(std::isfinite(value));
}

TEST(CrossEntropy, OfNothingIsNanOrZeroWithoutAGradient) {
  const Tensor x = leaf(tensor({{1.0, 2.0}}));
  const Tensor target = tensor({7});
  for (const auto& weight : {std::optional<Tensor>(), std::optional(tensor({1.0, 2.0}))}) {
    autograd::set_grad(x, {});
    const Tensor mean = cross_entropy(x, target, {.weight = weight, .ignore_index = 7});
    EXPECT_TRUE(std::isnan(mean.item<double>()));
    autograd::backward(mean);
    EXPECT_EQ(grad_of(x), (std::vector<double>{0, 0}));
    EXPECT_EQ(cross_entropy(x, target,
                            {.weight = weight, .ignore_index = 7, .reduction = LossReduction::sum})
                  .item<double>(),
              0);
  }
  EXPECT_TRUE(std::isnan(cross_entropy(zeros({0, 3}), zeros({0}, DType::i64)).item<float>()));
}

TEST(CrossEntropy, OfHalfTypesIsRoundedOnce) {
  Random random;
  const Tensor x = test::random_tensor(random, {40, 9}, DType::bf16);
  Tensor target = zeros({40}, DType::u8);
  for (std::int64_t i = 0; i < 40; ++i) target.set({i}, random.integer(0, 8));
  const Tensor loss = cross_entropy(x, target);
  EXPECT_EQ(loss.dtype(), DType::bf16);
  EXPECT_EQ(bits_of(loss), bits_of(to(cross_entropy(to(x, DType::f32), target), DType::bf16)));
}

TEST(CrossEntropy, DoesNotDependOnThreads) {
  Random random;
  const Tensor x = test::random_tensor(random, {503, 301}, DType::f32);
  const Tensor target = zeros({503}, DType::i64);
  for (std::int64_t i = 0; i < 503; ++i) target.set({i}, random.integer(0, 300));
  const auto run = [&] {
    const Tensor y = leaf(clone(x));
    const Tensor loss = cross_entropy(y, target, {.label_smoothing = 0.1});
    autograd::backward(loss);
    return std::pair(bits_of(loss), bits_of(*autograd::grad(y)));
  };
  const auto wanted = run();
  test::with_threads({1, 2, 7}, [&] { EXPECT_EQ(run(), wanted); });
}

TEST(CrossEntropy, RefusesWhatDoesNotFit) {
  const Tensor x = ones({2, 3});
  const Tensor target = tensor({0, 1});
  expect_error<DTypeError>([&] { cross_entropy(ones({2, 3}, DType::i32), target); },
                           "cross_entropy: expected an input of floats", "got int32");
  expect_error<ShapeError>(
      [&] { cross_entropy(ones({}), target); },
      "cross_entropy: expected an input with classes, as its only or second dim", "got shape []");
  expect_error<ShapeError>(
      [&] { cross_entropy(ones({2, 0}), target); },
      "cross_entropy: expected an input with classes, as its only or second dim",
      "got shape [2, 0]");
  expect_error<ShapeError>([&] { cross_entropy(x, tensor({0, 1, 2})); },
                           "cross_entropy: expected a target of shape [2]", "got [3]");
  expect_error<ShapeError>([&] { cross_entropy(x, ones({3})); },
                           "cross_entropy: expected a target of shape [2, 3]", "got [3]");
  expect_error<DTypeError>([&] { cross_entropy(x, ones({2}, DType::boolean)); },
                           "cross_entropy: expected a target of integers or floats", "got bool");
  expect_error<IndexError>([&] { cross_entropy(x, tensor({0, 3})); },
                           "cross_entropy: expected targets from 0 to 2, or ignore_index", "got 3");
  expect_error<IndexError>([&] { cross_entropy(x, tensor({-1, 0})); },
                           "cross_entropy: expected targets from 0 to 2, or ignore_index",
                           "got -1");
  expect_error<ShapeError>([&] { cross_entropy(x, target, {.weight = ones({2})}); },
                           "cross_entropy: expected a weight of shape [3]", "got [2]");
  expect_error<ValueError>([&] { cross_entropy(x, target, {.label_smoothing = 1.5}); },
                           "cross_entropy: expected label_smoothing in [0, 1]", "got 1.5");
  expect_error<ValueError>([&] { cross_entropy(x, target, {.label_smoothing = nan}); },
                           "cross_entropy: expected label_smoothing in [0, 1]", "got nan");
  expect_error<ValueError>([&] { cross_entropy(x, ones({2, 3}), {.ignore_index = 1}); },
                           "cross_entropy: expected no ignore_index beside a target of floats",
                           "got 1");
}

}  // namespace
}  // namespace loup::ops
