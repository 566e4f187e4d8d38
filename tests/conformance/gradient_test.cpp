#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "tests/conformance/every_op.h"
#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup::test {
namespace {

constexpr double step = 1e-4;
constexpr double allowed = 1e-6;

std::vector<Case> gradient_cases() {
  std::vector<Case> cases;
  for (const Shape& shape : {Shape{}, {5}, {3, 4}, {2, 3, 2}, {0, 3}, {3, 0}, {2, 1, 3, 2}}) {
    for (const Dims& dims : dim_sets(shape.size())) {
      for (int input = 0; input <= static_cast<int>(InputForm::offset); ++input) {
        for (int mask = 0; mask <= static_cast<int>(MaskKind::stepped); ++mask) {
          const auto number = std::ssize(cases);
          cases.push_back({number,
                           DType::f64,
                           shape,
                           dims,
                           static_cast<InputForm>(input),
                           static_cast<MaskKind>(mask),
                           number % 2 == 1,
                           {}});
        }
      }
    }
  }
  return cases;
}

double inner_product(const Tensor& a, const Tensor& b) {
  const auto left = elements<double>(a);
  const auto right = elements<double>(b);
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

/// Weights for the outputs, so that every one of them matters differently.
Tensor weights_for(const Tensor& output, std::int64_t number) {
  Random random(static_cast<std::uint64_t>(number) + 1000);
  return random_tensor(random, output.shape(), output.dtype());
}

class EveryGradient : public OverAllOps {
 protected:
  void SetUp() override {
    if (!is_differentiable(GetParam())) GTEST_SKIP() << name() << " has no gradient";
  }

  Tensor output(const Case& c, const Tensor& x, const std::optional<Tensor>& mask) {
    return call(GetParam(), c, {x, mask});
  }

  /// The gradient of the weighted outputs by the backward rule.
  Tensor gradient(const Case& c, const Operands& operands, const Tensor& weights) {
    Tensor x = operands.x;
    autograd::set_requires_grad(x, true);
    autograd::backward(output(c, x, operands.mask), {.gradient = weights});
    const std::optional<Tensor> found = autograd::grad(x);
    EXPECT_TRUE(found.has_value());
    return found.value_or(Tensor());
  }

  /// The same by differences of the weighted outputs.
  double difference(const Case& c, const Operands& operands, const Tensor& weights,
                    const Dims& index) {
    const Tensor moved = ops::clone(operands.x);
    const auto value = moved.at<double>(index);
    moved.set(index, value + step);
    const double above = inner_product(output(c, moved, operands.mask), weights);
    moved.set(index, value - step);
    const double below = inner_product(output(c, moved, operands.mask), weights);
    return (above - below) / (2 * step);
  }
};

TEST_P(EveryGradient, AgreesWithFiniteDifferences) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    const Operands operands = make_operands(c);
    const Tensor weights = weights_for(call(GetParam(), c, operands), c.number);
    const Tensor got = gradient(c, operands, weights);
    ASSERT_EQ(got.shape(), c.shape);
    ASSERT_EQ(got.dtype(), c.dtype);
    for_each_index(c.shape, [&](const Dims& index) {
      const double wanted = difference(c, operands, weights, index);
      ASSERT_NEAR(got.at<double>(index), wanted, allowed * (1 + std::abs(wanted)));
    });
  });
}

TEST_P(EveryGradient, IsExactlyZeroWhereTheMaskHides) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    const Operands operands = make_operands(c);
    const Tensor weights = weights_for(call(GetParam(), c, operands), c.number);
    Random random(static_cast<std::uint64_t>(c.number));
    const Tensor mask = operands.whole_mask();
    poison(operands.x, mask, random);
    const Tensor got = gradient(c, operands, weights);
    for_each_index(c.shape, [&](const Dims& index) {
      if (mask.at<bool>(index)) return;
      ASSERT_EQ(got.at<double>(index), 0.0);
    });
  });
}

TEST_P(EveryGradient, NeverDependsOnGarbageUnderTheMask) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    const Operands operands = make_operands(c);
    const Tensor weights = weights_for(call(GetParam(), c, operands), c.number);
    const auto clean = bits_of(gradient(c, operands, weights));
    Random random(static_cast<std::uint64_t>(c.number) + 5);
    poison(operands.x, operands.whole_mask(), random);
    ASSERT_EQ(bits_of(gradient(c, operands, weights)), clean);
  });
}

TEST_P(EveryGradient, StaysFiniteForSlicesOfWhichNothingCounts) {
  const Tensor x = full({2, 3}, std::nan(""), DType::f64);
  const Case c{0, DType::f64, {2, 3}, {1}};
  const Tensor got = gradient(c, {x, zeros({2, 3}, DType::boolean)}, ones({2}, DType::f64));
  EXPECT_EQ(elements<double>(got), std::vector<double>(6, 0.0));
}

TEST_P(EveryGradient, HasTheDTypeOfTheInput) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = ones({2, 3}, dtype);
    for (const DType cast : {DType::f16, DType::f32, DType::f64}) {
      const Case c{0, dtype, {2, 3}, {0}, {}, {}, false, cast};
      EXPECT_EQ(gradient(c, {x, {}}, ones({3}, cast)).dtype(), dtype);
    }
  }
}

/// The second derivative with respect to the weights: the gradient of x is a function of them.
TEST_P(EveryGradient, OfItsGradientAgreesWithFiniteDifferences) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    const Operands operands = make_operands(c);
    Tensor weights = weights_for(call(GetParam(), c, operands), c.number);
    const Tensor direction = weights_for(operands.x, c.number + 1);
    Tensor x = operands.x;
    autograd::set_requires_grad(x, true);
    autograd::set_requires_grad(weights, true);
    autograd::backward(output(c, x, operands.mask), {.gradient = weights, .create_graph = true});
    const Tensor first = *autograd::grad(x);
    ASSERT_TRUE(first.requires_grad());
    autograd::backward(first, {.gradient = direction});
    const Tensor got = *autograd::grad(weights);
    for_each_index(weights.shape(), [&](const Dims& index) {
      const Tensor moved = ops::clone(weights.detach());
      const auto value = moved.at<double>(index);
      moved.set(index, value + step);
      const double above = inner_product(gradient(c, operands, moved), direction);
      moved.set(index, value - step);
      const double below = inner_product(gradient(c, operands, moved), direction);
      const double wanted = (above - below) / (2 * step);
      ASSERT_NEAR(got.at<double>(index), wanted, allowed * (1 + std::abs(wanted)));
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Conformance, EveryGradient, testing::ValuesIn(reductions()), op_test_name);

}  // namespace
}  // namespace loup::test
