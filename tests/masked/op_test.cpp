#include "loup/masked/op.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::elements;
using test::expect_error;
using test::inf_f32;
using test::leaf;

const Tensor one_to_six = tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}});
const Tensor four_of_six = tensor({{true, false, true}, {true, true, false}});

TEST(MaskedSum, AddsWhatCounts) {
  EXPECT_EQ(elements<float>(sum(one_to_six, 1, {.mask = four_of_six})), (std::vector<float>{4, 9}));
  EXPECT_EQ(sum(one_to_six, {}, {.mask = four_of_six}).item<float>(), 13);
}

TEST(MaskedSum, GivesZeroWhereNothingCounts) {
  const Tensor nothing = tensor({{false}, {true}});
  EXPECT_EQ(elements<float>(sum(one_to_six, 1, {.mask = nothing})), (std::vector<float>{0, 15}));
}

TEST(MaskedSum, AcceptsMasksOfEveryBroadcastableShape) {
  const Tensor x = ones({3, 4, 5});
  test::Random random;
  for (const Shape& shape : {Shape{3, 1, 1}, {5}, {3, 4, 5}, {4, 1}, {}}) {
    const Tensor m = test::random_mask(random, shape);
    double wanted = 0;
    for (const bool counts : elements<bool>(ops::expand(m, {3, 4, 5}))) wanted += counts ? 1 : 0;
    EXPECT_EQ(sum(x, {}, {.mask = m}).item<double>(), wanted) << fmt::format("{}", shape);
  }
}

TEST(MaskedSum, OfIntegersIsInt64AndOfFloatsKeepsTheDType) {
  for (const DType dtype : test::all_dtypes()) {
    const DType wanted = is_floating(dtype) ? dtype : DType::i64;
    EXPECT_EQ(sum(ones({3}, dtype)).dtype(), wanted) << name(dtype);
    EXPECT_EQ(sum(ones({3}, dtype)).item<int>(), 3) << name(dtype);
  }
}

TEST(MaskedSum, OfHalvesAccumulatesWider) {
  const Tensor x = full({4096}, 1, DType::f16);
  EXPECT_EQ(sum(x).item<float>(), 4096);  // one by one, f16 would stop at 2048
}

TEST(MaskedSum, RefusesAMaskThatDoesNotBroadcast) {
  expect_error<ShapeError>([] { sum(one_to_six, {}, {.mask = ones({2}, DType::boolean)}); },
                           "sum: expected a mask broadcastable to [2, 3]", "got shape [2]");
}

TEST(MaskedSum, RefusesAFloatMaskOfAMaskedTensorCallToo) {
  expect_error<DTypeError>(
      [] { sum(as_masked_tensor(one_to_six, four_of_six), {}, {.mask = ones({3})}); },
      "sum: expected a mask of bool or integers", "got float32");
}

TEST(MaskedSum, OfAMaskedTensorUsesItsMask) {
  const MaskedTensor got = sum(as_masked_tensor(one_to_six, four_of_six), 1);
  EXPECT_EQ(elements<float>(got.get_data()), (std::vector<float>{4, 9}));
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, true}));
}

TEST(MaskedSum, OfAMaskedTensorCombinesItsMaskWithAnExplicitOne) {
  const Tensor other = tensor({0, 7, 256});  // integers count when they are not 0
  const MaskedTensor got = sum(as_masked_tensor(one_to_six, four_of_six), 1, {.mask = other});
  EXPECT_EQ(elements<float>(got.get_data()), (std::vector<float>{3, 5}));
}

TEST(MaskedSum, OfAMaskedTensorMasksTheOutputsOfWhichNothingCounts) {
  const MaskedTensor got = sum(as_masked_tensor(one_to_six, four_of_six), 1,
                               {.mask = tensor({{true}, {false}}), .keepdim = true});
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, false}));
  EXPECT_EQ(got.shape(), (Shape{2, 1}));
}

TEST(OutputMask, IsTrueEverywhereWithoutAMask) {
  EXPECT_EQ(elements<bool>(sum.output_mask(one_to_six, 0)), (std::vector<bool>{true, true, true}));
}

TEST(OutputMask, IsFalseWhereTheReducedDimIsEmpty) {
  EXPECT_EQ(elements<bool>(sum.output_mask(zeros({2, 0}), 1)), (std::vector<bool>{false, false}));
}

TEST(OutputMask, RefusesWhatTheCallRefuses) {
  expect_error<IndexError>([] { sum.output_mask(one_to_six, 5); },
                           "sum: expected a dim from -2 to 1", "got 5");
  EXPECT_THROW(sum.output_mask(one_to_six, {}, {.mask = ones({3})}), DTypeError);
}

TEST(MaskedSumGradient, IsTheGradientOfTheOutputWhereElementsCount) {
  const Tensor x = leaf(ops::clone(one_to_six));
  autograd::backward(sum(x, 1, {.mask = four_of_six}), {.gradient = tensor({2.0F, 3.0F})});
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{2, 0, 2, 3, 3, 0}));
}

TEST(MaskedSumGradient, IgnoresGarbageUnderTheMask) {
  const Tensor x = leaf(tensor({{1.0F, std::nanf(""), 3.0F}, {4.0F, 5.0F, -inf_f32}}));
  autograd::backward(sum(x, {}, {.mask = four_of_six}));
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{1, 0, 1, 1, 1, 0}));
}

TEST(MaskedSumGradient, IsZeroForASliceOfWhichNothingCounts) {
  const Tensor x = leaf(full({2, 3}, std::nan("")));
  autograd::backward(sum(x, 1, {.mask = tensor({{false}, {true}})}),
                     {.gradient = tensor({std::nanf(""), 1.0F})});
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{0, 0, 0, 1, 1, 1}));
}

TEST(MaskedSumGradient, StaysAStructuralZeroThroughCallsUpstream) {
  // The outer sum masks an output whose own gradient arrives as NaN.
  const Tensor x = leaf(ops::clone(one_to_six));
  const Tensor inner = sum(ops::transpose(x, 0, 1), 0);  // two row sums
  autograd::backward(sum(ops::expand(inner, {4, 2}), 1, {.mask = tensor({true, false})}),
                     {.gradient = tensor({1.0F, 1.0F, 1.0F, 1.0F})});
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{4, 4, 4, 0, 0, 0}));
}

TEST(MaskedSumGradient, NeverReadsAnArrivingGradientThatIsMasked) {
  const Tensor x = leaf(tensor({{1.0F, 2.0F}, {3.0F, 4.0F}}));
  const Tensor rows = sum(x, 1);
  const Tensor shown = ops::filled(rows, tensor({true, false}), 0);
  autograd::backward(shown, {.gradient = tensor({1.0F, std::nanf("")})});
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{1, 1, 0, 0}));
}

TEST(MaskedSumGradient, NoticesThatTheMaskWasChangedInPlace) {
  const Tensor x = leaf(ops::clone(one_to_six));
  const Tensor m = ops::clone(four_of_six);
  const Tensor y = sum(x, {}, {.mask = m});
  m.set({0, 1}, true);
  expect_error<StateError>(
      [&] { autograd::backward(y); },
      "sum backward: expected a tensor of shape [2, 3] as it was in the forward call",
      "got one changed in place since (version 1 instead of 0)");
}

TEST(MaskedSumGradient, CopiesAnIntegerMaskSoThatChangesDoNotMatter) {
  const Tensor x = leaf(tensor({1.0F, 2.0F}));
  const Tensor m = tensor({1, 0});
  const Tensor y = sum(x, {}, {.mask = m});
  m.set({1}, 1);
  autograd::backward(y);
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{1, 0}));
}

}  // namespace
}  // namespace loup::masked
