#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/masked/from_data.h"
#include "loup/masked/operators.h"
#include "loup/masked/ops.h"
#include "loup/masked/order.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::elements;
using test::expect_error;
using test::nan_f32;

MaskedTensor sample(bool requires_grad = false) {
  return {tensor({1.0F, nan_f32, 3.0F}), tensor({true, false, true}), requires_grad};
}

std::vector<float> counted(const MaskedTensor& x) { return elements<float>(x.to_tensor(-7)); }

TEST(MaskedElementwise, OperatorsOfTensorsTakeMaskedOnes) {
  EXPECT_EQ(counted(ops::square(sample())), (std::vector<float>{1, -7, 9}));
  EXPECT_EQ(counted(ops::round(sample() / 4, 1)), (std::vector<float>{0.2F, -7, 0.8F}));
  EXPECT_EQ(counted(ops::add(sample(), 1)), (std::vector<float>{2, -7, 4}));
  EXPECT_EQ(counted(ops::sub(1, sample())), (std::vector<float>{0, -7, -2}));
  EXPECT_EQ(counted(1 - sample()), (std::vector<float>{0, -7, -2}));
  EXPECT_EQ(counted(-(sample() * sample())), (std::vector<float>{-1, -7, -9}));
  EXPECT_EQ(counted(tensor({2.0F, 2.0F, 2.0F}) + sample()), (std::vector<float>{3, -7, 5}));
}

TEST(MaskedElementwise, EveryOperatorOfTheLanguageTakesMaskedTensors) {
  const auto flags = [](const MaskedTensor& x) { return elements<bool>(x.to_tensor(false)); };
  using Flags = std::vector<bool>;
  EXPECT_EQ(flags(sample() == sample()), (Flags{true, false, true}));
  EXPECT_EQ(flags(sample() != 1), (Flags{false, false, true}));
  EXPECT_EQ(flags(1 == sample()), (Flags{true, false, false}));
  EXPECT_EQ(flags(sample() < tensor({2.0F})), (Flags{true, false, false}));
  EXPECT_EQ(flags(1 <= sample()), (Flags{true, false, true}));
  EXPECT_EQ(flags(sample() > 1), (Flags{false, false, true}));
  EXPECT_EQ(flags(!(sample() >= 3)), (Flags{true, false, false}));
  EXPECT_EQ(counted(sample() % 2), (std::vector<float>{1, -7, 1}));
  const MaskedTensor bits(tensor({6, 5}), tensor({true, false}));
  const auto numbers = [](const MaskedTensor& x) { return elements<int>(x.to_tensor(-7)); };
  EXPECT_EQ(numbers(bits & 3), (std::vector<int>{2, -7}));
  EXPECT_EQ(numbers(1 | bits), (std::vector<int>{7, -7}));
  EXPECT_EQ(numbers(bits ^ bits), (std::vector<int>{0, -7}));
  EXPECT_EQ(numbers(~bits), (std::vector<int>{-7, -7}));
}

TEST(MaskedElementwise, ClosenessLooksAtWhatCountsInBoth) {
  const MaskedTensor other(tensor({1.0F, 5.0F, 9.0F}), tensor({true, true, false}));
  EXPECT_TRUE(allclose(sample(), other));
  EXPECT_FALSE(allclose(sample(), 1));
  EXPECT_EQ(elements<bool>(isclose(sample(), other).get_mask()),
            (std::vector<bool>{true, false, false}));
}

TEST(MaskedElementwise, ResultsCountWhereAllOperandsDo) {
  const MaskedTensor other(tensor({1.0F, 1.0F, 1.0F}), tensor({false, true, true}));
  EXPECT_EQ(elements<bool>((sample() + other).get_mask()), (std::vector<bool>{false, false, true}));
  const MaskedTensor column(tensor({{1.0F}, {2.0F}}), tensor({{true}, {false}}));
  const MaskedTensor sum = column + sample();
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements<bool>(sum.get_mask()),
            (std::vector<bool>{true, false, true, false, false, false}));
}

TEST(MaskedElementwise, InPlaceChangesOnlyWhatCounts) {
  MaskedTensor x(tensor({1.0F, 2.0F, 3.0F}), tensor({true, false, true}));
  x += 1;
  x *= sample();
  ops::neg.in_place(x);
  EXPECT_EQ(elements<float>(x.get_data()), (std::vector<float>{-2, 2, -12}));
  clamp_(x, MaskedOperand(-5), {});
  EXPECT_EQ(elements<float>(x.get_data()), (std::vector<float>{-2, 2, -5}));
}

TEST(MaskedElementwise, InPlaceRefusesOtherMasks) {
  MaskedTensor x = sample();
  const MaskedTensor y(tensor({1.0F, 1.0F, 1.0F}), tensor({true, true, true}));
  expect_error<ValueError>([&] { x += y; },
                           "add_: expected an operand with the mask of what it is written into",
                           "got one whose mask differs");
  MaskedTensor integers(tensor({1, 2}), tensor({true, true}));
  expect_error<DTypeError>([&] { integers += 0.5; },
                           "add_: expected a tensor that can hold float32", "got int32");
  expect_error<ShapeError>([&] { x += tensor({{1.0F}, {2.0F}}); },
                           "add_: expected a result of shape [3]", "got [2, 3]");
}

TEST(StrictMasks, HoldForTheirThreadAndScope) {
  const MaskedTensor y(tensor({1.0F, 1.0F, 1.0F}), tensor({true, true, true}));
  {
    const StrictMasks strict;
    expect_error<ValueError>([&] { sample() + y; }, "add: expected masked tensors with equal masks",
                             "got masks that differ");
    EXPECT_EQ(counted(sample() + sample()), (std::vector<float>{2, -7, 6}));
    std::thread([&] { EXPECT_EQ(counted(sample() + y), (std::vector<float>{2, -7, 4})); }).join();
  }
  EXPECT_EQ(counted(sample() + y), (std::vector<float>{2, -7, 4}));
}

TEST(MaskedWhere, ChoosesDataAndMask) {
  const Tensor condition = tensor({false, true, true});
  const MaskedTensor result = where(condition, sample(), 5);
  EXPECT_EQ(counted(result), (std::vector<float>{5, -7, 3}));
  EXPECT_EQ(where(condition, sample(), tensor({{1.0F}, {2.0F}})).shape(), (Shape{2, 3}));
}

TEST(MaskedElementwise, HiddenElementsReachNoGradient) {
  const MaskedTensor x = sample(true);
  const MaskedTensor y = ops::exp(x) * x;
  autograd::backward(masked::sum(y).get_data());
  const std::vector<float> gradient = elements<float>(x.grad()->get_data());
  EXPECT_FLOAT_EQ(gradient[0], 2 * std::exp(1.0F));
  EXPECT_EQ(gradient[1], 0);
  EXPECT_FLOAT_EQ(gradient[2], 4 * std::exp(3.0F));
}

TEST(MasksFromData, HideWhatTheyName) {
  const Tensor x = tensor({1.0F, nan_f32, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(elements<bool>(from_nan(x).get_mask()), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(elements<bool>(masked_invalid(x).get_mask()), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(elements<bool>(masked_outside(x, 0, 2).get_mask()),
            (std::vector<bool>{true, true, false}));
  EXPECT_EQ(elements<bool>(lengths_to_mask(tensor({1, 0}), 2)),
            (std::vector<bool>{true, false, false, false}));
}

}  // namespace
}  // namespace loup::masked
