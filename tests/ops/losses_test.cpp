#include "loup/ops/losses.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::bits_of;
using test::elements;
using test::expect_error;
using test::grad_of;
using test::leaf;
using test::Random;

TEST(Losses, AreMeansSumsOrEachDistance) {
  const Tensor x = tensor({{1.0F, 2.0F}, {3.0F, 5.0F}});
  const Tensor y = tensor({1.0F, 4.0F});
  EXPECT_EQ(elements<float>(mse_loss(x, y, {.reduction = LossReduction::none})),
            (std::vector<float>{0, 4, 4, 1}));
  EXPECT_EQ(elements<float>(l1_loss(x, y, {.reduction = LossReduction::none})),
            (std::vector<float>{0, 2, 2, 1}));
  EXPECT_EQ(mse_loss(x, y).item<float>(), 2.25F);
  EXPECT_EQ(l1_loss(x, y).item<float>(), 1.25F);
  EXPECT_EQ(mse_loss(x, y, {.reduction = LossReduction::sum}).item<float>(), 9);
  EXPECT_EQ(l1_loss(x, y, {.reduction = LossReduction::sum}).item<float>(), 5);
}

TEST(Losses, LeaveOutWhatAMaskHides) {
  const Tensor x = tensor({1.0, std::nan(""), 4.0});
  const Tensor y = tensor({0.0, 1.0, 2.0});
  const Tensor mask = tensor({true, false, true});
  EXPECT_EQ(elements<double>(mse_loss(x, y, {.reduction = LossReduction::none, .mask = mask})),
            (std::vector<double>{1, 0, 4}));
  EXPECT_EQ(mse_loss(x, y, {.mask = mask}).item<double>(), 2.5);
  EXPECT_EQ(l1_loss(x, y, {.reduction = LossReduction::sum, .mask = mask}).item<double>(), 3);
}

TEST(Losses, OfNothingAreNanOrZero) {
  EXPECT_TRUE(std::isnan(mse_loss(zeros({0}), zeros({0})).item<float>()));
  EXPECT_EQ(l1_loss(zeros({0}), zeros({0}), {.reduction = LossReduction::sum}).item<float>(), 0);
}

TEST(Losses, OfHalfTypesAreRoundedOnce) {
  // 300² is no float16, the mean of it and zeros is.
  Tensor x = zeros({4}, DType::f16);
  x.set({0}, 300);
  const Tensor loss = mse_loss(x, zeros({4}, DType::f16));
  EXPECT_EQ(loss.dtype(), DType::f16);
  EXPECT_EQ(loss.item<double>(), 22496);  // 22500 to eleven bits
}

TEST(Losses, PromoteAsDifferencesDo) {
  EXPECT_EQ(mse_loss(ones({2}, DType::f64), ones({2})).dtype(), DType::f64);
  EXPECT_EQ(mse_loss(ones({2}, DType::f16), ones({2}, DType::i64)).dtype(), DType::f16);
  EXPECT_EQ(l1_loss(ones({2}), ones({}, DType::f64)).dtype(), DType::f32);
}

TEST(Losses, SendGradientsToBothOperands) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 5.0}}));
  const Tensor y = leaf(tensor({1.5, 4.0}));
  autograd::backward(mse_loss(x, y));
  EXPECT_EQ(grad_of(x), (std::vector<double>{-0.25, -1, 0.75, 0.5}));
  EXPECT_EQ(grad_of(y), (std::vector<double>{-0.5, 0.5}));
}

TEST(Losses, DoNotDependOnThreads) {
  Random random;
  const Tensor x = test::random_tensor(random, {301, 703}, DType::f32);
  const Tensor y = test::random_tensor(random, {703}, DType::f32);
  const Tensor mask = test::random_mask(random, {301, 703});
  const auto wanted = bits_of(mse_loss(x, y, {.mask = mask}));
  test::with_threads({1, 2, 7},
                     [&] { EXPECT_EQ(bits_of(mse_loss(x, y, {.mask = mask})), wanted); });
}

TEST(Losses, RefuseWhatDoesNotFit) {
  expect_error<DTypeError>([] { mse_loss(ones({2}, DType::i32), ones({2}, DType::i32)); },
                           "mse_loss: expected floating elements", "got int32");
  expect_error<ShapeError>([] { l1_loss(ones({2}), ones({3})); },
                           "l1_loss: expected shapes that broadcast together", "got [2] and [3]");
  expect_error<ValueError>([] { loss_reduction("l1_loss", "average"); },
                           "l1_loss: expected a reduction 'none', 'mean' or 'sum'",
                           "got 'average'");
  EXPECT_EQ(loss_reduction("l1_loss", "none"), LossReduction::none);
  EXPECT_EQ(loss_reduction("l1_loss", "mean"), LossReduction::mean);
  EXPECT_EQ(loss_reduction("l1_loss", "sum"), LossReduction::sum);
}

}  // namespace
}  // namespace loup::ops
