#include "loup/masked/poison.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/masked/operators.h"
#include "loup/masked/ops.h"
#include "loup/masked/products.h"
#include "loup/ops/copy.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::elements;
using test::expect_error;

const Tensor first_and_last = tensor({true, false, true});

MaskedTensor one_and_three() { return {tensor({1.0F, 2.0F, 3.0F}), first_and_last}; }

TEST(Poison, OperatorsSeeGarbageWhileItLives) {
  {
    const Poison poison;
    EXPECT_TRUE(std::isnan(elements<float>((one_and_three() * 2).get_data())[1]));
    {
      const Poison inner;
    }
    EXPECT_TRUE(std::isnan(elements<float>((one_and_three() * 2).get_data())[1]));
  }
  EXPECT_EQ(elements<float>((one_and_three() * 2).get_data()), (std::vector<float>{2, 4, 6}));
}

TEST(Poison, GarbageOfEveryKind) {
  const Poison poison;
  const auto garbage = [&](DType dtype) {
    const Seen seen("test", zeros({3}, dtype), first_and_last);
    return elements<double>(ops::to(seen, DType::f64))[1];
  };
  EXPECT_EQ(garbage(DType::boolean), 1);
  EXPECT_EQ(garbage(DType::u8), 0x5a);
  EXPECT_EQ(garbage(DType::i8), 0x5a);
  EXPECT_EQ(garbage(DType::i16), 0x5a5a);
  EXPECT_EQ(garbage(DType::i32), 0x5a5a5a5a);
  EXPECT_EQ(garbage(DType::i64), static_cast<double>(0x5a5a5a5a5a5a5a5a));
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_TRUE(std::isnan(garbage(dtype))) << name(dtype);
  }
}

TEST(Poison, ResultsStayTheSame) {
  const Poison poison;
  const Tensor x = tensor({1.0F, 2.0F, 3.0F});
  EXPECT_EQ(masked::sum(x, {}, {.mask = first_and_last}).item<float>(), 4);
  EXPECT_EQ(masked::sum(one_and_three()).item<float>(), 4);
  EXPECT_EQ(dot(one_and_three(), one_and_three()).item<float>(), 10);
}

TEST(Poison, GradientsReachTheTensorItself) {
  Tensor x = tensor({1.0F, 2.0F, 3.0F});
  autograd::set_requires_grad(x, true);
  const Poison poison;
  autograd::backward(masked::prod(x, {}, {.mask = first_and_last}));
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{3, 0, 1}));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2, 3}));
}

TEST(Poison, MasksAreCheckedAsAlways) {
  const Poison poison;
  expect_error<ShapeError>([] { masked::sum(zeros({2}), {}, {.mask = first_and_last}); },
                           "sum: expected a mask broadcastable to [2]", "got shape [3]");
}

}  // namespace
}  // namespace loup::masked
