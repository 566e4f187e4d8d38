#include "loup/masked/losses.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/masking.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using ops::LossReduction;
using test::bits_of;
using test::elements;
using test::expect_error;
using test::nan_f32;
using test::Random;

TEST(MaskedLosses, CountWhereBothOperandsDo) {
  const MaskedTensor x(tensor({1.0F, nan_f32, 3.0F, 5.0F}), tensor({true, false, true, true}));
  const MaskedTensor y(tensor({3.0F, 1.0F, nan_f32, 2.0F}), tensor({true, true, false, true}));
  const MaskedTensor each = mse_loss(x, y, LossReduction::none);
  EXPECT_EQ(elements<bool>(each.get_mask()), (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(elements<float>(each.get_data()), (std::vector<float>{4, 0, 0, 9}));
  EXPECT_EQ(mse_loss(x, y).item<float>(), 6.5F);
  EXPECT_EQ(l1_loss(x, y, LossReduction::sum).item<float>(), 5);
}

TEST(MaskedLosses, TakePlainOperandsAndNumbers) {
  const MaskedTensor x(tensor({{1.0F, nan_f32}, {3.0F, 5.0F}}),
                       tensor({{true, false}, {true, true}}));
  EXPECT_EQ(l1_loss(x, tensor({1.0F, 2.0F})).item<float>(), 5.0F / 3);
  EXPECT_EQ(l1_loss(tensor({1.0F, 2.0F}), x).item<float>(), 5.0F / 3);
  EXPECT_EQ(mse_loss(x, 1, LossReduction::sum).item<float>(), 20);
}

TEST(MaskedLosses, WhereNothingCountsAreMasked) {
  const MaskedTensor x(tensor({nan_f32, 1.0F}), tensor({false, false}), true);
  const MaskedTensor mean = mse_loss(x, ones({2}));
  EXPECT_FALSE(mean.get_mask().item<bool>());
  EXPECT_TRUE(std::isnan(mean.get_data().item<float>()));
  const MaskedTensor sum = l1_loss(x, ones({2}), LossReduction::sum);
  EXPECT_FALSE(sum.get_mask().item<bool>());
  EXPECT_EQ(sum.get_data().item<float>(), 0);
  autograd::backward(mean.get_data());
  EXPECT_EQ(elements<float>(x.grad()->get_data()), (std::vector<float>{0, 0}));
}

TEST(MaskedLosses, ObeyStrictMasks) {
  const MaskedTensor x(ones({2}), tensor({true, false}));
  const MaskedTensor y(ones({2}), tensor({true, true}));
  const StrictMasks strict;
  expect_error<ValueError>([&] { mse_loss(x, y); },
                           "mse_loss: expected masked tensors with equal masks",
                           "got masks that differ");
}

TEST(MaskedLosses, HiddenElementsChangeNoBitOfResultsAndGradients) {
  Random random;
  const Tensor data = test::random_tensor(random, {7, 11}, DType::f32);
  const Tensor mask = test::random_mask(random, {7, 11});
  const Tensor target = test::random_tensor(random, {11}, DType::f32);
  for (const auto loss : {mse_loss, l1_loss}) {
    const Tensor values = ops::clone(data);
    const auto run = [&] {
      const MaskedTensor x(values, mask, true);
      const Tensor y = test::leaf(ops::clone(target));
      const MaskedTensor result = loss(x, y, LossReduction::mean);
      autograd::backward(result.get_data());
      return std::vector{bits_of(result.get_data()), bits_of(x.grad()->get_data()),
                         bits_of(*autograd::grad(y))};
    };
    const auto clean = run();
    test::poison(values, mask, random);
    EXPECT_EQ(run(), clean);
  }
}

/// The classes that count, as a tensor of their own.
Tensor what_counts(const Tensor& row, const Tensor& mask) { return ops::masked_select(row, mask); }

TEST(MaskedCrossEntropy, LeavesOutMaskedClasses) {
  Random random;
  const Tensor data = test::random_tensor(random, {8, 6}, DType::f64);
  Tensor mask = test::random_mask(random, {8, 6}, 0.7);
  ops::fill_(ops::select(mask, 1, 2), true);
  const Tensor target = full({8}, 2, DType::i64);
  const Tensor weight = tensor({1.0, 2.0, 0.5, 3.0, 1.5, 0.25});
  for (const double smoothing : {0.0, 0.3}) {
    const MaskedTensor result = cross_entropy(
        as_masked_tensor(data, mask), target,
        {.weight = weight, .reduction = LossReduction::none, .label_smoothing = smoothing});
    for (std::int64_t i = 0; i < 8; ++i) {
      const Tensor counts = ops::select(mask, 0, i);
      const auto place = elements<bool>(counts);
      const Tensor wanted = ops::cross_entropy(what_counts(ops::select(data, 0, i), counts),
                                               full({}, place[0] + place[1], DType::i64),
                                               {.weight = what_counts(weight, counts),
                                                .reduction = LossReduction::none,
                                                .label_smoothing = smoothing});
      EXPECT_NEAR(result.get_data().at<double>({i}), wanted.item<double>(), 1e-12);
      EXPECT_TRUE(result.get_mask().at<bool>({i}));
    }
  }
}

TEST(MaskedCrossEntropy, CountsWhereTheTargetAndItsClassDo) {
  const MaskedTensor x(
      tensor({{1.0F, nan_f32}, {nan_f32, 0.0F}, {nan_f32, nan_f32}, {1.0F, 1.0F}, {0.0F, 0.0F}}),
      tensor({{true, false}, {false, true}, {false, false}, {true, true}, {true, true}}));
  // 99 is no class, but masked.
  const MaskedTensor target(tensor({0, 0, 1, 99, -100}), tensor({true, true, true, false, true}));
  const MaskedTensor each = cross_entropy(x, target, {.reduction = LossReduction::none});
  EXPECT_EQ(elements<bool>(each.get_mask()), (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(elements<float>(each.get_data()), (std::vector<float>{0, 0, 0, 0, 0}));
  EXPECT_EQ(cross_entropy(x, target).item<float>(), 0);
  const MaskedTensor plain = cross_entropy(zeros({5, 2}), target, {.weight = tensor({2.0F, 1.0F})});
  EXPECT_FLOAT_EQ(plain.item<float>(), std::log(2.0F));
}

TEST(MaskedCrossEntropy, WhereNothingCountsIsMasked) {
  const MaskedTensor x(tensor({{1.0F, nan_f32}}), tensor({{true, false}}), true);
  for (const auto& weight : {std::optional<Tensor>(), std::optional(ones({2}))}) {
    const MaskedTensor mean = cross_entropy(x, tensor({1}), {.weight = weight});
    EXPECT_FALSE(mean.get_mask().item<bool>());
    EXPECT_TRUE(std::isnan(mean.get_data().item<float>()));
    autograd::backward(mean.get_data());
    EXPECT_EQ(elements<float>(x.grad()->get_data()), (std::vector<float>{0, 0}));
  }
  const MaskedTensor sum = cross_entropy(x, tensor({1}), {.reduction = LossReduction::sum});
  EXPECT_EQ(sum.get_data().item<float>(), 0);
  EXPECT_FALSE(sum.get_mask().item<bool>());
}

TEST(MaskedCrossEntropy, OfProbabilitiesAddsWhatCountsInBoth) {
  const MaskedTensor x(tensor({{0.0, 0.0, std::nan("")}, {1.0, 2.0, 3.0}}),
                       tensor({{true, true, false}, {true, true, true}}));
  const MaskedTensor target(tensor({{0.25, std::nan(""), 1.0}, {1.0, 1.0, 1.0}}),
                            tensor({{true, false, true}, {false, false, false}}));
  const MaskedTensor each = cross_entropy(x, target, {.reduction = LossReduction::none});
  EXPECT_EQ(elements<bool>(each.get_mask()), (std::vector<bool>{true, false}));
  EXPECT_NEAR(each.get_data().at<double>({0}), 0.25 * std::log(2.0), 1e-15);
  EXPECT_NEAR(cross_entropy(x, target).item<double>(), 0.25 * std::log(2.0), 1e-15);
  const Tensor plain = tensor({{0.5, 0.5, 7.0}, {0.0, 0.0, 0.0}});
  EXPECT_NEAR(cross_entropy(x, plain).item<double>(), std::log(2.0) / 2, 1e-15);
  EXPECT_TRUE(cross_entropy(plain, plain).get_mask().item<bool>());
}

TEST(MaskedCrossEntropy, HiddenElementsChangeNoBitOfResultsAndGradients) {
  Random random;
  const Tensor data = test::random_tensor(random, {9, 5, 4}, DType::f32);
  const Tensor mask = test::random_mask(random, {9, 5, 4});
  const Tensor target = zeros({9, 4}, DType::i64);
  test::for_each_index({9, 4}, [&](const Dims& at) { target.set(at, random.integer(0, 4)); });
  const Tensor target_mask = test::random_mask(random, {9, 4});
  const auto run = [&] {
    const MaskedTensor x(data, mask, true);
    const MaskedTensor result =
        cross_entropy(x, as_masked_tensor(target, target_mask), {.label_smoothing = 0.2});
    autograd::backward(result.get_data());
    return std::vector{bits_of(result.get_data()), bits_of(x.grad()->get_data())};
  };
  const auto clean = run();
  test::poison(data, mask, random);
  test::poison(target, target_mask, random);
  EXPECT_EQ(run(), clean);
}

TEST(MaskedCrossEntropy, RefusesTargetsThatCountAndAreNoClass) {
  const MaskedTensor x(ones({1, 2}), ones({1, 2}, DType::boolean));
  expect_error<IndexError>([&] { cross_entropy(x, tensor({2})); },
                           "cross_entropy: expected targets from 0 to 1, or ignore_index", "got 2");
}

}  // namespace
}  // namespace loup::masked
