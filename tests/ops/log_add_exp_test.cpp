#include "loup/ops/log_add_exp.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

// The definition: logaddexp of tensors that have -inf where nothing counts.

namespace loup::ops {
namespace {

using test::bits_of;
using test::Random;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr DType every_float[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

Tensor by_definition(const Tensor& a, const Tensor& a_mask, const Tensor& b, const Tensor& b_mask) {
  const auto present = [](const Tensor& x, const Tensor& mask) {
    return where(expand(mask, x.shape()), x, -inf);
  };
  return logaddexp(present(a, a_mask), present(b, b_mask));
}

/// Moderate numbers, zeros of both signs, infinities and NaN.
Tensor special_tensor(Random& random, const Shape& shape, DType dtype) {
  const double specials[] = {0.0, -0.0, inf, -inf, std::nan("")};
  const Tensor x = test::random_tensor(random, shape, dtype);
  test::for_each_index(shape, [&](const Dims& index) {
    if (random.chance(0.2)) x.set(index, specials[random.integer(0, 4)]);
  });
  return x;
}

TEST(LogAddExp, HasTheBitsOfItsDefinitionAtTheEdgesOfPieces) {
  test::for_each_target([] {
    Random random;
    for (const DType dtype : every_float) {
      for (const std::int64_t count : {0, 1, 7, 255, 256, 257, 1023, 1024, 1025, 20'000}) {
        const Tensor a = special_tensor(random, {count}, dtype);
        const Tensor b = special_tensor(random, {count}, dtype);
        const Tensor a_mask = test::random_mask(random, {count});
        const Tensor b_mask = test::random_mask(random, {count});
        const auto wanted = bits_of(by_definition(a, a_mask, b, b_mask));
        test::poison(a, a_mask, random);
        test::poison(b, b_mask, random);
        EXPECT_EQ(bits_of(log_add_exp_of("test", a, &a_mask, b, &b_mask)), wanted)
            << name(dtype) << " " << count;
      }
    }
  });
}

TEST(LogAddExp, TakesMasksAndOperandsOfAnyLayout) {
  Random random;
  const Tensor a = transpose(special_tensor(random, {70, 130}, DType::f32), 0, 1);
  const Tensor b = special_tensor(random, {1, 70}, DType::f64);
  const Tensor some = test::random_mask(random, {130, 1});
  const Tensor none = zeros({}, DType::boolean);
  const Tensor numbers = transpose(test::random_tensor(random, {70, 130}, DType::i64), 0, 1);
  const Tensor all = ones({}, DType::boolean);
  const auto got = [&](const Tensor* a_mask, const Tensor* b_mask) {
    const Tensor result = log_add_exp_of("test", a, a_mask, b, b_mask);
    EXPECT_TRUE(result.is_contiguous());
    EXPECT_EQ(result.dtype(), DType::f64);
    return bits_of(result);
  };
  EXPECT_EQ(got(nullptr, nullptr), bits_of(by_definition(a, all, b, all)));
  EXPECT_EQ(got(&some, nullptr), bits_of(by_definition(a, some, b, all)));
  EXPECT_EQ(got(&numbers, &none), bits_of(by_definition(a, to(numbers, DType::boolean), b, none)));
  EXPECT_EQ(got(&none, &none), bits_of(by_definition(a, none, b, none)));
}

TEST(LogAddExp, RoundsToTheOperandsBeforeItConverts) {
  Random random;
  const Tensor mask = test::random_mask(random, {300});
  for (const DType dtype : every_float) {
    const Tensor a = test::random_tensor(random, {300}, dtype);
    const Tensor b = test::random_tensor(random, {300}, dtype);
    const Tensor sum = by_definition(a, mask, b, mask);
    for (const DType asked : every_float) {
      EXPECT_EQ(bits_of(log_add_exp_of("test", a, &mask, b, &mask, asked)), bits_of(to(sum, asked)))
          << name(dtype) << " " << name(asked);
    }
  }
}

TEST(LogAddExpGradient, HasTheBitsOfItsDefinition) {
  Random random;
  const Tensor x = special_tensor(random, {5, 40}, DType::f32);
  const Tensor y = special_tensor(random, {40}, DType::f64);
  const Tensor x_mask = test::random_mask(random, {5, 40});
  const Tensor y_mask = test::random_mask(random, {40});
  const Tensor g = test::random_tensor(random, {5, 40}, DType::f64);
  const auto gradients = [&](const auto& sum) {
    const Tensor a = test::leaf(clone(x));
    const Tensor b = test::leaf(clone(y));
    autograd::backward(sum(a, b), {.gradient = g});
    return std::pair(bits_of(*autograd::grad(a)), bits_of(*autograd::grad(b)));
  };
  EXPECT_EQ(gradients([&](const Tensor& a, const Tensor& b) {
              return log_add_exp_of("test", a, &x_mask, b, &y_mask);
            }),
            gradients([&](const Tensor& a, const Tensor& b) {
              return by_definition(a, x_mask, b, y_mask);
            }));
}

}  // namespace
}  // namespace loup::ops
