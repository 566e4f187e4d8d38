#include "loup/autograd/gradient.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/views.h"
#include "tests/support/tensors.h"

namespace loup::autograd {
namespace {

using test::elements;

const Tensor value = tensor({1.0, std::nan(""), 3.0});
const Tensor mask = tensor({true, false, true});

TEST(Materialize, WritesExactZerosWhereTheMaskIsFalse) {
  EXPECT_EQ(elements<double>(materialize({value, mask})), (std::vector<double>{1, 0, 3}));
}

TEST(Materialize, ReturnsTheValueItselfWithoutAMask) {
  EXPECT_EQ(materialize({value, {}}).storage(), value.storage());
}

TEST(Materialize, PassesGradientsOnWhereTheMaskIsTrue) {
  Tensor x = tensor({1.0, std::nan(""), 3.0});
  set_requires_grad(x, true);
  backward(materialize({x, mask}), {.gradient = tensor({5.0, std::nan(""), 7.0})});
  EXPECT_EQ(elements<double>(*grad(x)), (std::vector<double>{5, 0, 7}));
}

TEST(Accumulate, AddsValues) {
  const Gradient sum = accumulate({tensor({1.0, 2.0}), {}}, {tensor({10.0, 20.0}), {}});
  EXPECT_EQ(elements<double>(sum.value), (std::vector<double>{11, 22}));
  EXPECT_FALSE(sum.mask.has_value());
}

TEST(Accumulate, IsLiveWhereEitherIs) {
  const double nan = std::nan("");
  const Gradient sum =
      accumulate({tensor({1.0, nan, nan, 4.0}), tensor({true, false, false, true})},
                 {tensor({nan, 2.0, nan, 4.0}), tensor({false, true, false, true})});
  EXPECT_EQ(elements<bool>(*sum.mask), (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(elements<double>(materialize(sum)), (std::vector<double>{1, 2, 0, 8}));
}

TEST(Accumulate, IsLiveEverywhereWhenOneHasNoMask) {
  const Gradient sum = accumulate({value, mask}, {tensor({1.0, 1.0, 1.0}), {}});
  EXPECT_FALSE(sum.mask.has_value());
  EXPECT_EQ(elements<double>(sum.value), (std::vector<double>{2, 1, 4}));
}

TEST(Accumulate, LeavesItsArgumentsAlone) {
  const Tensor a = tensor({1.0, 2.0});
  accumulate({a, {}}, {tensor({10.0, 20.0}), {}});
  EXPECT_EQ(elements<double>(a), (std::vector<double>{1, 2}));
}

TEST(Accumulate, AcceptsExpandedViews) {
  const Tensor one = ops::expand(ones({1}, DType::f64), {3});
  const Gradient sum = accumulate({one, {}}, {one, {}});
  EXPECT_EQ(elements<double>(sum.value), (std::vector<double>{2, 2, 2}));
}

TEST(Both, IsTrueWhereBothAre) {
  const auto got = both(tensor({true, true, false}), tensor({true, false, false}));
  EXPECT_EQ(elements<bool>(*got), (std::vector<bool>{true, false, false}));
}

TEST(Both, TakesTheOtherWhenOneIsAbsent) {
  EXPECT_EQ(both(mask, std::nullopt)->storage(), mask.storage());
  EXPECT_EQ(both(std::nullopt, mask)->storage(), mask.storage());
  EXPECT_FALSE(both(std::nullopt, std::nullopt).has_value());
}

}  // namespace
}  // namespace loup::autograd
