#include "loup/ops/dropout.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/random.h"
#include "loup/ops/reduce.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::bits_of;
using test::elements;
using test::leaf;

TEST(Dropout, DropsOrScalesInEveryDType) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = full({100000}, 3, dtype);
    std::int64_t dropped = 0;
    for (const double value : elements<double>(dropout(x, 0.25, true, Generator(1)))) {
      ASSERT_TRUE(value == 0 || value == 4) << value;
      dropped += value == 0 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(dropped), 25000, 5 * std::sqrt(100000 * 0.1875));
  }
}

TEST(Dropout, DropsTheSameInEveryDType) {
  const auto wanted = elements<double>(dropout(ones({5000}), 0.5, true, Generator(2)));
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    EXPECT_EQ(elements<double>(dropout(ones({5000}, dtype), 0.5, true, Generator(2))), wanted);
  }
}

TEST(Dropout, SelectsSoThatNanDoesNotSurvive) {
  const Tensor x = full({1000}, std::nan(""));
  for (const float value : elements<float>(dropout(x, 1))) ASSERT_EQ(value, 0);
  std::int64_t left = 0;
  for (const float value : elements<float>(dropout(x, 0.5))) left += std::isnan(value) ? 1 : 0;
  EXPECT_GT(left, 300);
  EXPECT_LT(left, 700);
}

TEST(Dropout, KeepsEverythingWhenPIs0OrOutsideOfTraining) {
  const Tensor x = rand({77});
  EXPECT_EQ(bits_of(dropout(x, 0)), bits_of(x));
  EXPECT_TRUE(dropout(x, 0.5, false).storage() == x.storage());
}

TEST(Dropout, DependsNeitherOnStridesNorThreadsNorTarget) {
  const Tensor x = transpose(rand({301, 703}), 0, 1);
  const auto wanted = bits_of(dropout(contiguous(x), 0.3, true, Generator(3)));
  const auto run = [&] { EXPECT_EQ(bits_of(dropout(x, 0.3, true, Generator(3))), wanted); };
  test::with_threads({1, 2, 7}, run);
  test::for_each_target(run);
}

TEST(Dropout, SendsTheScaledGradientToWhatItKept) {
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    const Tensor x = leaf(ones({200}, dtype));
    const Tensor y = dropout(x, 0.5, true, Generator(4));
    autograd::backward(y, {.gradient = full({200}, 3, dtype)});
    const auto kept = elements<double>(y);
    const auto gradient = elements<double>(*autograd::grad(x));
    for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(gradient[i], kept[i] * 3) << i;
  }
}

TEST(Dropout, LetsNothingThroughWhereItDropped) {
  // x / 0 under a dropped element: without a structural zero its gradient would be 0 * inf.
  const Tensor x = leaf(full({500}, 2.0, DType::f64));
  const Tensor dropped_mask = dropout(ones({500}, DType::f64), 0.5, true, Generator(5));
  const Tensor y = dropout(div(x, dropped_mask), 0.5, true, Generator(5));
  autograd::backward(y, {.gradient = ones({500}, DType::f64)});
  for (const double value : elements<double>(*autograd::grad(x))) {
    ASSERT_TRUE(value == 0 || value == 1) << value;
  }
}

TEST(Dropout, PassesOnTheMaskOfAGradient) {
  const Tensor x = leaf(ones({4, 50}, DType::f64));
  const Tensor y = dropout(x, 0.5, true, Generator(6));
  Tensor mask = zeros({4, 50}, DType::boolean);
  fill_(select(mask, 0, 1), true);
  Tensor garbage = full({4, 50}, std::nan(""), DType::f64);
  fill_(select(garbage, 0, 1), 1);
  // mul by garbage outside of the mask, then a masked sum: NaN stays under the mask.
  const Tensor total = reduce(sum_spec, mul(y, garbage), {}, {.mask = &mask});
  autograd::backward(total);
  const auto gradient = elements<double>(*autograd::grad(x));
  const auto kept = elements<double>(y);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_EQ(gradient[i], i / 50 == 1 ? kept[i] : 0) << i;
  }
}

TEST(Dropout, HasASecondOrder) {
  // d/dx of sum((g x D)^2 …): with y = x^2 dropped, dy/dx = 2 x d and d2y/dx2 = 2 d.
  const Tensor x = leaf(rand({100}, {.dtype = DType::f64}));
  const Tensor y = dropout(mul(x, x), 0.5, true, Generator(7));
  const auto factor = elements<double>(dropout(ones({100}, DType::f64), 0.5, true, Generator(7)));
  autograd::backward(y, {.gradient = ones({100}, DType::f64), .create_graph = true});
  const Tensor first = *autograd::grad(x);
  autograd::set_grad(x, {});
  autograd::backward(first, {.gradient = ones({100}, DType::f64)});
  const auto second = elements<double>(*autograd::grad(x));
  for (std::size_t i = 0; i < factor.size(); ++i) ASSERT_EQ(second[i], 2 * factor[i]) << i;
}

TEST(Dropout, RefusesWrongArguments) {
  test::expect_error<ValueError>([] { dropout(ones({2}), 1.5); }, "dropout: expected p in [0, 1]",
                                 "got 1.5");
  test::expect_error<ValueError>([] { dropout(ones({2}), std::nan("")); },
                                 "dropout: expected p in [0, 1]", "got nan");
  test::expect_error<DTypeError>([] { dropout(ones({2}, DType::i32)); },
                                 "dropout: expected a floating dtype", "got int32");
}

}  // namespace
}  // namespace loup::ops
