#include "loup/masked/products.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/masked/ops.h"
#include "loup/masked/poison.h"
#include "loup/ops/copy.h"
#include "loup/ops/einsum.h"
#include "loup/ops/matmul.h"
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
using test::nan_f32;
using testing::ElementsAre;

/// Two by two, with NaN where it is masked; a leaf.
MaskedTensor square(std::initializer_list<float> values, std::initializer_list<bool> mask) {
  const Tensor counts = ops::reshape(tensor(mask), {2, 2});
  return {ops::filled(ops::reshape(tensor(values), {2, 2}), counts, nan_f32), counts, true};
}

std::vector<float> grad_of(const MaskedTensor& x) {
  return elements<float>(x.grad().value().get_data());
}

void backward(const MaskedTensor& y, const std::vector<float>& gradient) {
  const Tensor g = zeros(y.shape(), DType::f32);
  std::ranges::copy(gradient, g.data<float>().begin());
  autograd::backward(y.get_data(), {.gradient = g});
}

TEST(MaskedProducts, AddPairsThatCountWhateverTheyHold) {
  const Poison poison;
  const MaskedTensor x = square({inf_f32, 2, 3, 4}, {true, true, true, false});
  const MaskedTensor y = square({5, 6, -inf_f32, 8}, {false, true, true, true});
  const MaskedTensor z = matmul(x, y);
  EXPECT_THAT(elements<float>(z.get_data()), ElementsAre(-inf_f32, inf_f32, 0, 18));
  EXPECT_THAT(elements<bool>(z.get_mask()), ElementsAre(true, true, false, true));
}

TEST(MaskedProducts, GradientsAddTheSamePairs) {
  const MaskedTensor x = square({inf_f32, 2, 3, 4}, {true, true, true, false});
  const MaskedTensor y = square({5, 6, -inf_f32, 8}, {false, true, true, true});
  backward(matmul(x, y), {1, 1, 1, 1});
  EXPECT_THAT(grad_of(x), ElementsAre(6, -inf_f32, 6, 0));
  EXPECT_THAT(grad_of(y), ElementsAre(0, inf_f32, 2, 2));
}

TEST(MaskedProducts, InfiniteGradientsMeetNoMaskedZero) {
  const MaskedTensor x = square({1, 2, 3, 4}, {true, true, true, false});
  const MaskedTensor y = square({5, 6, 7, 8}, {false, true, true, true});
  backward(matmul(x, y), {inf_f32, 1, nan_f32, inf_f32});
  EXPECT_THAT(grad_of(x), ElementsAre(6, inf_f32, inf_f32, 0));
  EXPECT_THAT(grad_of(y), ElementsAre(0, inf_f32, inf_f32, 2));
}

TEST(MaskedProducts, FiniteFactorsHaveTheBitsOfTensors) {
  test::Random random(7);
  const Tensor mask = test::random_mask(random, {9, 300});
  const Tensor data = test::random_tensor(random, {9, 300}, DType::f32);
  const Tensor other = test::random_tensor(random, {300, 7}, DType::f32);
  const Tensor filled = test::leaf(ops::filled(data, mask, 0));
  const Tensor plain = ops::matmul(filled, other);
  autograd::backward(sum(plain));
  test::poison(data, mask, random);
  const MaskedTensor x(data, mask, true);
  const MaskedTensor y = matmul(x, other);
  autograd::backward(sum(y.get_data()));
  EXPECT_EQ(test::bits_of(y.get_data()), test::bits_of(plain));
  EXPECT_EQ(grad_of(x), elements<float>(ops::filled(*autograd::grad(filled), mask, 0)));
}

TEST(MaskedProducts, EinsumOfManyLeavesOutWhatIsMaskedInAny) {
  const MaskedTensor x(tensor({inf_f32, 1.0F}), tensor({true, true}));
  const MaskedTensor y(tensor({nan_f32, 2.0F}), tensor({false, true}));
  const Tensor z = ones({2});
  const MaskedOperand operands[] = {x, y, z};
  EXPECT_EQ(einsum("i,i,i->", operands).item<float>(), 2);
}

TEST(MaskedProducts, EinsumOfOneAddsWhatCounts) {
  const MaskedTensor x = square({inf_f32, 2, 3, 4}, {true, false, true, true});
  const MaskedOperand operands[] = {x};
  const MaskedTensor y = einsum("ij->j", operands);
  EXPECT_THAT(elements<float>(y.get_data()), ElementsAre(inf_f32, 4));
  backward(y, {5, 7});
  EXPECT_THAT(grad_of(x), ElementsAre(5, 0, 5, 7));
}

TEST(MaskedProducts, EinsumHasTheErrorsOfTensors) {
  const MaskedTensor x(tensor({inf_f32, 1.0F}), tensor({true, true}));
  const MaskedOperand operands[] = {x, x, x};
  expect_error<ValueError>([&] { einsum("i,i,i->j", operands); },
                           "einsum: expected output indices that an operand has",
                           "got 'j' in 'i,i,i->j'");
  expect_error<ValueError>([&] { einsum("i,i", operands); },
                           "einsum: expected 2 operands for 'i,i'", "got 3");
  expect_error<ShapeError>([&] { einsum("i,i,ij->", operands); },
                           "einsum: expected 2 dims for 'ij'", "got shape [2]");
}

TEST(EinsumParts, NameTheOutputThatIsLeftOut) {
  const Tensor operands[] = {ones({2, 3}), ones({4, 3}, DType::f64)};
  const ops::EinsumParts parts = ops::einsum_parts(" i j, ...j", operands);
  EXPECT_THAT(parts.operands, ElementsAre("ij", "...j"));
  EXPECT_EQ(parts.output, "...i");
  EXPECT_EQ(parts.dtype, DType::f64);
}

}  // namespace
}  // namespace loup::masked
