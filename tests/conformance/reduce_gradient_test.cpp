#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "tests/conformance/reduce_ops.h"
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

/// Operands of moderate size: differences are exact enough, and no two elements are equal.
Operands moderate_operands(const Case& c) {
  const Operands operands = make_operands(c);
  Random random(static_cast<std::uint64_t>(c.number) + 400);
  auto* const data = reinterpret_cast<double*>(operands.x.storage().data());
  const std::size_t count = operands.x.storage().bytes() / sizeof(double);
  for (std::size_t i = 0; i < count; ++i) data[i] = random.real(1);
  return operands;
}

/// The sum of the products; what has no weight is left out, whatever it is.
double inner_product(const Tensor& a, const Tensor& weights) {
  const auto left = elements<double>(a);
  const auto right = elements<double>(weights);
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (right[i] != 0) sum += left[i] * right[i];
  }
  return sum;
}

/// Weights for the outputs, so that every one of them matters differently; 0 for those that are not
/// finite.
Tensor weights_for(const Tensor& output, std::int64_t number) {
  Random random(static_cast<std::uint64_t>(number) + 1000);
  const Tensor weights = random_tensor(random, output.shape(), output.dtype());
  for_each_index(output.shape(), [&](const Dims& index) {
    if (!std::isfinite(output.at<double>(index))) weights.set(index, 0.0);
  });
  return weights;
}

template <class Function>
double difference(const Tensor& x, const Dims& index, const Function& function) {
  const Tensor moved = ops::clone(x);
  const auto value = moved.at<double>(index);
  moved.set(index, value + step);
  const double above = function(moved);
  moved.set(index, value - step);
  return (above - function(moved)) / (2 * step);
}

std::vector<ReduceOp> differentiable() {
  std::vector<ReduceOp> result;
  for (const ReduceOp& op : reduce_ops()) {
    if (op.is_differentiable) result.push_back(op);
  }
  return result;
}

class EveryGradient : public testing::TestWithParam<ReduceOp> {
 protected:
  /// Calls `check(case)` for those that the operator takes; stops at the first that fails.
  template <class Check>
  void for_each_case(const std::vector<Case>& all, Check&& check) {
    for (const Case& c : suiting(GetParam(), all)) {
      if (!accepts(GetParam(), c)) continue;
      check(c);
      if (HasFailure()) {
        FAIL() << c.text(GetParam().name);
      }
    }
  }
  static Tensor output(const Case& c, const Tensor& x, const std::optional<Tensor>& mask) {
    return GetParam().run(x, mask, {c.dims, c.keepdim, c.cast});
  }

  /// The gradient of the weighted outputs by the backward rule.
  static Tensor gradient(const Case& c, const Operands& operands, const Tensor& weights) {
    Tensor x = operands.x.detach();
    autograd::set_requires_grad(x, true);
    autograd::backward(output(c, x, operands.mask), {.gradient = weights});
    const std::optional<Tensor> found = autograd::grad(x);
    EXPECT_TRUE(found.has_value());
    return found.value_or(Tensor());
  }
};

TEST_P(EveryGradient, AgreesWithFiniteDifferences) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    const Operands operands = moderate_operands(c);
    const Tensor weights = weights_for(output(c, operands.x, operands.mask), c.number);
    const Tensor got = gradient(c, operands, weights);
    ASSERT_EQ(got.shape(), c.shape);
    ASSERT_EQ(got.dtype(), c.dtype);
    for_each_index(c.shape, [&](const Dims& index) {
      if (c.input == InputForm::expanded && !GetParam().is_smooth) return;  // equal elements
      const double wanted = difference(operands.x, index, [&](const Tensor& moved) {
        return inner_product(output(c, moved, operands.mask), weights);
      });
      ASSERT_NEAR(got.at<double>(index), wanted, allowed * (1 + std::abs(wanted)));
    });
  });
}

TEST_P(EveryGradient, IsExactlyZeroWhereTheMaskHides) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    const Operands operands = moderate_operands(c);
    const Tensor weights = weights_for(output(c, operands.x, operands.mask), c.number);
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
    const Operands operands = moderate_operands(c);
    const Tensor weights = weights_for(output(c, operands.x, operands.mask), c.number);
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
      if (!GetParam().takes_dtype || !accepts(GetParam(), c)) continue;
      EXPECT_EQ(gradient(c, {x, {}}, ones({3}, cast)).dtype(), dtype);
    }
  }
}

/// By the weights, which the gradient is a function of, and by the input.
TEST_P(EveryGradient, OfItsGradientAgreesWithFiniteDifferences) {
  for_each_case(gradient_cases(), [&](const Case& c) {
    if (c.number % 3 != 0) return;
    const Operands operands = moderate_operands(c);
    Tensor weights = weights_for(output(c, operands.x, operands.mask), c.number);
    const Tensor direction = weights_for(operands.x, c.number + 1);
    Tensor x = operands.x.detach();
    autograd::set_requires_grad(x, true);
    autograd::set_requires_grad(weights, true);
    autograd::backward(output(c, x, operands.mask), {.gradient = weights, .create_graph = true});
    const Tensor first = *autograd::grad(x);
    autograd::set_grad(x, std::nullopt);
    ASSERT_TRUE(first.requires_grad());
    autograd::backward(first, {.gradient = direction});
    const Tensor got = *autograd::grad(weights);
    for_each_index(weights.shape(), [&](const Dims& index) {
      if (weights.at<double>(index) == 0) return;
      const double wanted = difference(weights.detach(), index, [&](const Tensor& moved) {
        return inner_product(gradient(c, operands, moved), direction);
      });
      ASSERT_NEAR(got.at<double>(index), wanted, allowed * (1 + std::abs(wanted)));
    });
    // Where all elements are equal a deviation has a kink.
    if (!GetParam().is_smooth || c.input == InputForm::expanded) return;
    const std::optional<Tensor> by_x = autograd::grad(x);
    for_each_index(c.shape, [&](const Dims& index) {
      const double wanted = difference(operands.x, index, [&](const Tensor& moved) {
        return inner_product(gradient(c, {moved, operands.mask}, weights.detach()), direction);
      });
      ASSERT_NEAR(by_x ? by_x->at<double>(index) : 0, wanted,
                  10 * allowed * (1 + std::abs(wanted)));
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Conformance, EveryGradient, testing::ValuesIn(differentiable()),
                         [](const auto& op) { return op.param.name; });

}  // namespace
}  // namespace loup::test
