#include "loup/ops/layer_norm.h"

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
#include "tests/support/tolerance.h"

namespace loup::ops {
namespace {

using test::bits_of;
using test::elements;
using test::expect_error;
using test::expect_near;
using test::grad_of;
using test::leaf;
using test::nan;
using test::Random;

/// Rows less their mean and divided by their deviation, of what counts.
std::vector<double> reference(const Tensor& x, const Tensor& mask, double eps) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    double count = 0;
    double mean = 0;
    double square = 0;
    for (std::int64_t j = 0; j < x.size(1); ++j) {
      if (!mask.at<bool>({i, j})) continue;
      ++count;
      mean += x.at<double>({i, j});
    }
    mean /= count;
    for (std::int64_t j = 0; j < x.size(1); ++j) {
      if (mask.at<bool>({i, j})) square += std::pow(x.at<double>({i, j}) - mean, 2);
    }
    for (std::int64_t j = 0; j < x.size(1); ++j) {
      const double y = (x.at<double>({i, j}) - mean) / std::sqrt(square / count + eps);
      result.push_back(mask.at<bool>({i, j}) ? y : 0);
    }
  }
  return result;
}

TEST(LayerNorm, NormalizesTheLastDimsInEveryFloatingDType) {
  Random random;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = test::random_tensor(random, {5, 33}, dtype);
    const double rounding = 8 * test::unit_roundoff(dtype);
    const std::vector<double> wanted = reference(x, ones({5, 33}, DType::boolean), 1e-3);
    const Tensor result = layer_norm(x, {33}, {.eps = 1e-3});
    EXPECT_EQ(result.dtype(), dtype);
    expect_near(result, wanted, rounding);
    expect_near(reshape(layer_norm(reshape(x, {5, 3, 11}), {3, 11}, {.eps = 1e-3}), {5, 33}),
                wanted, rounding);
  }
}

TEST(LayerNorm, ScalesAndShifts) {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 6.0, 11.0}});
  const Tensor weight = tensor({2.0F, -1.0F, 0.5F});
  const Tensor bias = tensor({0.25, 1.0, -3.0});
  const Tensor plain = layer_norm(x, {3});
  EXPECT_EQ(bits_of(layer_norm(x, {3}, {.weight = weight})), bits_of(plain * weight));
  EXPECT_EQ(bits_of(layer_norm(x, {3}, {.weight = weight, .bias = bias})),
            bits_of(plain * weight + bias));
  EXPECT_EQ(layer_norm(to(x, DType::f16), {3}, {.weight = weight, .bias = bias}).dtype(),
            DType::f16);
}

TEST(LayerNorm, KnowsWhatAMaskHidesOnlyAsZeros) {
  Random random;
  const Tensor x = test::random_tensor(random, {6, 20}, DType::f64);
  Tensor mask = test::random_mask(random, {6, 20});
  fill_(select(mask, 0, 3), false);
  const Tensor weight = test::random_tensor(random, {20}, DType::f64);
  const Tensor before = layer_norm(x, {20}, {.mask = mask});
  std::vector<double> wanted = reference(x, mask, 1e-5);
  for (std::size_t j = 60; j < 80; ++j) wanted[j] = 0;
  expect_near(before, wanted, 1e-12);
  const Tensor affine = layer_norm(x, {20}, {.weight = weight, .bias = weight, .mask = mask});
  for (const double value : elements<double>(select(affine, 0, 3))) EXPECT_EQ(value, 0);
  test::poison(x, mask, random);
  EXPECT_EQ(bits_of(layer_norm(x, {20}, {.mask = mask})), bits_of(before));
}

TEST(LayerNorm, SendsNoGradientToOrThroughWhatIsHidden) {
  Random random;
  const Tensor values = test::random_tensor(random, {4, 7}, DType::f64);
  const Tensor factors = test::random_tensor(random, {4, 7}, DType::f64);
  Tensor mask = test::random_mask(random, {4, 7});
  fill_(select(mask, 0, 1), false);
  const auto gradients = [&](const Tensor& data) {
    const Tensor x = leaf(clone(data));
    const Tensor weight = leaf(ones({7}, DType::f64));
    const Tensor bias = leaf(ones({7}, DType::f64));
    const Tensor y = layer_norm(x, {7}, {.weight = weight, .bias = bias, .mask = mask});
    autograd::backward(test::sum(y * factors));
    return std::vector{grad_of(x), grad_of(weight), grad_of(bias)};
  };
  const auto clean = gradients(values);
  const Tensor dirty = filled(values, mask, nan);
  EXPECT_EQ(gradients(dirty), clean);
  const auto counts = elements<bool>(mask);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_TRUE(std::isfinite(clean[0][i])) << i;
    EXPECT_TRUE(counts[i] || clean[0][i] == 0) << i;
  }
}

TEST(LayerNorm, RoundsTheGradientOfHalfTypesOnce) {
  Random random;
  const Tensor values = test::random_tensor(random, {3, 50}, DType::f16);
  const Tensor factors = test::random_tensor(random, {3, 50}, DType::f16);
  const auto gradient = [&](DType dtype) {
    const Tensor x = leaf(clone(to(values, dtype)));
    autograd::backward(layer_norm(x, {50}), {.gradient = to(factors, dtype)});
    return *autograd::grad(x);
  };
  EXPECT_EQ(bits_of(gradient(DType::f16)), bits_of(to(gradient(DType::f32), DType::f16)));
}

TEST(LayerNorm, DependsNeitherOnStridesNorThreads) {
  Random random;
  const Tensor x = transpose(test::random_tensor(random, {257, 301}, DType::f32), 0, 1);
  const Tensor mask = test::random_mask(random, {301, 257});
  const auto wanted = bits_of(layer_norm(clone(x), {257}, {.mask = mask}));
  test::with_threads(
      {1, 2, 7}, [&] { EXPECT_EQ(bits_of(layer_norm(clone(x), {257}, {.mask = mask})), wanted); });
  expect_near(layer_norm(x, {257}, {.mask = mask}),
              elements<double>(layer_norm(clone(x), {257}, {.mask = mask})), 1e-6);
}

TEST(LayerNorm, LeavesItsArgumentsAsTheyAre) {
  const Tensor x = tensor({{1.0F, 2.0F}});
  const Tensor weight = tensor({3.0F, 4.0F});
  layer_norm(x, {2}, {.weight = weight, .bias = weight});
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements<float>(weight), (std::vector<float>{3, 4}));
}

TEST(LayerNorm, RefusesWhatDoesNotFit) {
  const Tensor x = ones({2, 3});
  expect_error<DTypeError>([&] { layer_norm(ones({3}, DType::i32), {3}); },
                           "layer_norm: expected floating elements", "got int32");
  expect_error<ShapeError>([&] { layer_norm(x, {}); },
                           "layer_norm: expected a normalized shape of at least one dim", "got []");
  expect_error<ShapeError>([&] { layer_norm(x, {2}); },
                           "layer_norm: expected an input whose last dims are [2]",
                           "got shape [2, 3]");
  expect_error<ShapeError>([&] { layer_norm(x, {1, 2, 3}); },
                           "layer_norm: expected an input whose last dims are [1, 2, 3]",
                           "got shape [2, 3]");
  expect_error<ShapeError>([&] { layer_norm(x, {3}, {.weight = ones({2, 3})}); },
                           "layer_norm: expected a weight of shape [3]", "got [2, 3]");
  expect_error<ShapeError>([&] { layer_norm(x, {3}, {.bias = ones({1})}); },
                           "layer_norm: expected a bias of shape [3]", "got [1]");
  expect_error<ShapeError>([&] { layer_norm(x, {3}, {.mask = ones({2}, DType::boolean)}); },
                           "layer_norm: expected a mask broadcastable to [2, 3]", "got shape [2]");
}

}  // namespace
}  // namespace loup::ops
