#include "loup/masked/log_add_exp.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/masked/ops.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::elements;
using test::expect_error;
using test::grad_of;
using test::inf;
using test::leaf;
using test::nan;

const Tensor left = tensor({true, false, true, false});
const Tensor right = tensor({true, true, false, false});

TEST(MaskedLogAddExp, TreatsWhatDoesNotCountAsAbsent) {
  const Tensor a = tensor({0.0, nan, 3.0, nan});
  const Tensor b = tensor({0.0, 2.0, inf, nan});
  const Tensor got = logaddexp(a, b, {.input_mask = left, .other_mask = right});
  EXPECT_EQ(elements<double>(got), (std::vector<double>{std::log(2.0), 2, 3, -inf}));
}

TEST(MaskedLogAddExp, CountsWhereOneOfTheOperandsDoes) {
  const Tensor x = zeros({4});
  const Tensor mask = logaddexp.output_mask(x, x, {.input_mask = left, .other_mask = right});
  EXPECT_EQ(elements<bool>(mask), (std::vector<bool>{true, true, true, false}));
}

TEST(MaskedLogAddExp, OfMaskedTensorsUsesTheirMasks) {
  const MaskedTensor a = as_masked_tensor(tensor({1.0, nan, 3.0, nan}), left);
  const MaskedTensor b = as_masked_tensor(tensor({-inf, 2.0, nan, nan}), right);
  const MaskedTensor got = logaddexp(a, b);
  EXPECT_EQ(elements<double>(got.get_data()), (std::vector<double>{1, 2, 3, -inf}));
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, true, true, false}));
}

TEST(MaskedLogAddExp, BroadcastsItsOperands) {
  const Tensor got = logaddexp(zeros({2, 1}), zeros({3}),
                               {.input_mask = tensor({{true}, {false}}), .other_mask = {}});
  EXPECT_EQ(got.shape(), (Shape{2, 3}));
  EXPECT_EQ(got.at<float>({1, 2}), 0.0F);
}

TEST(MaskedLogAddExp, PromotesFloatsAndRefusesIntegers) {
  EXPECT_EQ(logaddexp(zeros({2}), zeros({2}, DType::f64)).dtype(), DType::f64);
  EXPECT_EQ(logaddexp(zeros({2}), zeros({2}), {.dtype = DType::f16}).dtype(), DType::f16);
  expect_error<DTypeError>([] { logaddexp(zeros({2}), zeros({2}, DType::i32)); },
                           "logaddexp: expected floating elements", "got int32");
}

TEST(MaskedLogAddExpGradient, ReachesOnlyWhatCounts) {
  const Tensor a = leaf(tensor({0.0, nan, 3.0, nan}));
  const Tensor b = leaf(tensor({0.0, 2.0, inf, nan}));
  autograd::backward(logaddexp(a, b, {.input_mask = left, .other_mask = right}),
                     {.gradient = tensor({1.0, 10.0, 100.0, nan})});
  EXPECT_EQ(grad_of(a), (std::vector<double>{0.5, 0, 100, 0}));
  EXPECT_EQ(grad_of(b), (std::vector<double>{0.5, 10, 0, 0}));
}

TEST(MaskedLogAddExpGradient, IsZeroWhereTheResultIsMinusInfinityAndSharedWhereItIsInfinite) {
  const Tensor a = leaf(tensor({-inf, inf, inf}));
  const Tensor b = leaf(tensor({-inf, inf, 0.0}));
  autograd::backward(logaddexp(a, b), {.gradient = tensor({1.0, 1.0, 1.0})});
  EXPECT_EQ(grad_of(a), (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(grad_of(b), (std::vector<double>{0, 0.5, 0}));
}

}  // namespace
}  // namespace loup::masked
