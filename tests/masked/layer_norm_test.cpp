#include "loup/masked/layer_norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/masked/operators.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/masking.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::bits_of;
using test::elements;
using test::Random;

TEST(MaskedLayerNorm, IsThatOfTheElementsThatCount) {
  Random random;
  const Tensor data = test::random_tensor(random, {5, 12}, DType::f64);
  const Tensor mask = test::random_mask(random, {5, 12});
  const MaskedTensor result = layer_norm(as_masked_tensor(data, mask), {12});
  EXPECT_EQ(elements<bool>(result.get_mask()), elements<bool>(mask));
  for (std::int64_t i = 0; i < 5; ++i) {
    const Tensor counts = ops::select(mask, 0, i);
    const Tensor row = ops::masked_select(ops::select(data, 0, i), counts);
    const auto got =
        elements<double>(ops::masked_select(ops::select(result.get_data(), 0, i), counts));
    const auto wanted = elements<double>(ops::layer_norm(row, row.shape()));
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t j = 0; j < got.size(); ++j) EXPECT_NEAR(got[j], wanted[j], 1e-12) << i;
  }
}

TEST(MaskedLayerNorm, KeepsTheMaskInMemoryOfItsOwn) {
  const Tensor column = tensor({{true}, {false}});
  const MaskedTensor x = as_masked_tensor(ones({2, 3}), ops::expand(column, {2, 3}));
  const MaskedTensor y = layer_norm(x, {3}, {.bias = ones({3})});
  EXPECT_EQ(y.get_mask().strides()[1], 0);
  column.set({0, 0}, false);
  EXPECT_EQ(elements<bool>(y.get_mask()),
            (std::vector<bool>{true, true, true, false, false, false}));
  EXPECT_EQ(elements<float>(y.get_data()), (std::vector<float>{1, 1, 1, 0, 0, 0}));
}

TEST(MaskedLayerNorm, AMaskInTheOptionsHidesMore) {
  const MaskedTensor x(tensor({1.0, 2.0, 3.0, 9.0}), tensor({true, true, true, false}));
  const Tensor mask = tensor({true, false, true, true});
  const MaskedTensor y = layer_norm(x, {4}, {.eps = 0, .mask = mask});
  EXPECT_EQ(elements<bool>(y.get_mask()), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(elements<double>(y.get_data()), (std::vector<double>{-1, 0, 1, 0}));
}

TEST(MaskedLayerNorm, HiddenElementsChangeNoBitOfResultsAndGradients) {
  Random random;
  const Tensor data = test::random_tensor(random, {6, 9}, DType::f32);
  Tensor mask = test::random_mask(random, {6, 9});
  ops::fill_(ops::select(mask, 0, 2), false);
  const Tensor factors = test::random_tensor(random, {6, 9}, DType::f32);
  const auto run = [&](const Tensor& values) {
    const MaskedTensor x(values, mask, true);
    const Tensor weight = test::leaf(ops::clone(ops::select(factors, 0, 0)));
    const MaskedTensor y = layer_norm(x, {9}, {.weight = weight});
    autograd::backward(masked::sum(y * factors).get_data());
    return std::vector{bits_of(y.get_data()), bits_of(x.grad()->get_data()),
                       bits_of(*autograd::grad(weight))};
  };
  const auto clean = run(data);
  test::poison(data, mask, random);
  EXPECT_EQ(run(data), clean);
}

TEST(MaskedLayerNorm, RefusesOtherShapes) {
  const MaskedTensor x(ones({2, 3}), ones({2, 3}, DType::boolean));
  test::expect_error<ShapeError>([&] { layer_norm(x, {2}); },
                                 "layer_norm: expected an input whose last dims are [2]",
                                 "got shape [2, 3]");
}

}  // namespace
}  // namespace loup::masked
