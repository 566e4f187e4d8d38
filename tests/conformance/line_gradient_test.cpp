#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "tests/conformance/line_ops.h"
#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup::test {
namespace {

constexpr double line_step = 1e-5;
constexpr double line_allowed = 2e-6;

std::vector<Case> line_gradient_cases(const LineOp& op) {
  std::vector<Case> cases;
  for (const Shape& shape : {Shape{}, {5}, {3, 4}, {2, 3, 2}, {0, 3}, {3, 0}, {2, 1, 3, 2}}) {
    for (const Dims& dims : dim_sets(shape.size())) {
      for (const InputForm input : {InputForm::contiguous, InputForm::transposed}) {
        for (int mask = 0; mask <= static_cast<int>(MaskKind::stepped); ++mask) {
          cases.push_back({std::ssize(cases),
                           DType::f64,
                           shape,
                           dims,
                           input,
                           static_cast<MaskKind>(mask),
                           false,
                           {}});
        }
      }
    }
  }
  return suiting(op, cases);
}

/// Magnitudes between 0.5 and 2, so that differences are worth something.
Tensor moderate(const Shape& shape, std::int64_t stream) {
  Random random(static_cast<std::uint64_t>(stream) + 1000);
  const Tensor result = empty(shape, DType::f64);
  for (double& value : result.data<double>()) {
    value = (0.5 + 1.5 * random.fraction()) * (random.chance(0.5) ? 1 : -1);
  }
  return result;
}

double finite_inner_product(const Tensor& a, const Tensor& b) {
  const auto left = elements<double>(a);
  const auto right = elements<double>(b);
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (right[i] != 0 && std::isfinite(left[i])) sum += left[i] * right[i];
  }
  return sum;
}

class EveryLineGradient : public testing::TestWithParam<LineOp> {
 protected:
  /// The gradient of the weighted outputs by the backward rule.
  static Tensor gradient(const Case& c, const Tensor& values, const std::optional<Tensor>& mask,
                         const Tensor& weights) {
    Tensor x = values;
    autograd::set_requires_grad(x, true);
    autograd::backward(GetParam().call(x, c.dims, mask, {}), {.gradient = weights});
    return autograd::grad(x).value();
  }

  template <class F>
  static double difference(const Tensor& x, const Dims& index, F f) {
    const Tensor moved = ops::clone(x);
    const auto value = moved.at<double>(index);
    moved.set(index, value + line_step);
    const double above = f(moved);
    moved.set(index, value - line_step);
    return (above - f(moved)) / (2 * line_step);
  }

  static void expect_gradient(const Case& c, const std::optional<Tensor>& mask, const Tensor& x) {
    const Tensor weights = moderate(c.shape, c.number + 5000);
    const Tensor got = gradient(c, x, mask, weights);
    ASSERT_EQ(got.shape(), c.shape);
    for_each_index(c.shape, [&](const Dims& index) {
      const double wanted = difference(x, index, [&](const Tensor& moved) {
        return finite_inner_product(GetParam().call(moved, c.dims, mask, {}), weights);
      });
      ASSERT_NEAR(got.at<double>(index), wanted, line_allowed * (1 + std::abs(wanted)));
    });
  }

  static void expect_second_order(const Case& c, const std::optional<Tensor>& mask,
                                  const Tensor& values) {
    Tensor weights = moderate(c.shape, c.number + 5000);
    const Tensor direction = moderate(c.shape, c.number + 9000);
    Tensor x = values;
    autograd::set_requires_grad(x, true);
    autograd::set_requires_grad(weights, true);
    autograd::backward(GetParam().call(x, c.dims, mask, {}),
                       {.gradient = weights, .create_graph = true});
    const Tensor first = *autograd::grad(x);
    autograd::set_grad(x, std::nullopt);
    ASSERT_TRUE(first.requires_grad());
    autograd::backward(first, {.gradient = direction});
    const std::optional<Tensor> by_x = autograd::grad(x);
    const Tensor by_weights = *autograd::grad(weights);
    for_each_index(c.shape, [&](const Dims& index) {
      const double wanted = difference(weights.detach(), index, [&](const Tensor& moved) {
        return finite_inner_product(gradient(c, values, mask, moved), direction);
      });
      ASSERT_NEAR(by_weights.at<double>(index), wanted, line_allowed * (1 + std::abs(wanted)));
      const double bent = difference(values, index, [&](const Tensor& moved) {
        return finite_inner_product(gradient(c, moved, mask, weights.detach()), direction);
      });
      ASSERT_NEAR(by_x ? by_x->at<double>(index) : 0, bent,
                  10 * line_allowed * (1 + std::abs(bent)));
    });
  }

  template <class Check>
  void for_each_case(Check&& check) {
    for (const Case& c : line_gradient_cases(GetParam())) {
      check(c, make_operands(c).mask, moderate(c.shape, c.number));
      if (HasFailure()) {
        FAIL() << c.text(GetParam().name);
      }
    }
  }
};

TEST_P(EveryLineGradient, AgreesWithFiniteDifferences) {
  for_each_case([&](const Case& c, const std::optional<Tensor>& mask, const Tensor& x) {
    expect_gradient(c, mask, x);
  });
}

/// Lines that are read in pieces and in parts, moved as a whole in one direction.
TEST_P(EveryLineGradient, AgreesWithADifferenceOfLongLines) {
  for (const Shape& shape : {Shape{150001}, {3, 70001}, {300, 3}}) {
    const Dims dims{shape[0] > 3 ? 0 : 1};
    const Case c{0, DType::f64, shape, dims, InputForm::contiguous, MaskKind::full};
    const std::optional<Tensor> mask = make_operands(c).mask;
    const Tensor x = moderate(shape, 11);
    const Tensor weights = moderate(shape, 12);
    const Tensor direction = moderate(shape, 13);
    const bool has_products = GetParam().name == "cumprod";
    // Products of so many elements are numbers only where those are near 1.
    for (double& value : x.data<double>()) value = has_products ? 1 + 1e-3 * value : value;
    const auto moved_by = [&](double distance) {
      const Tensor moved = ops::clone(x);
      const auto by = direction.data<const double>();
      const auto to = moved.data<double>();
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += distance * by[i];
      return finite_inner_product(GetParam().call(moved, dims, mask, {}), weights);
    };
    const double wanted = (moved_by(1e-7) - moved_by(-1e-7)) / 2e-7;
    const double got = finite_inner_product(gradient(c, x, mask, weights), direction);
    EXPECT_NEAR(got, wanted, 1e-3 * (1 + std::abs(wanted))) << fmt::format("{}", shape);
  }
}

TEST_P(EveryLineGradient, OfItsGradientAgreesWithFiniteDifferences) {
  for_each_case([&](const Case& c, const std::optional<Tensor>& mask, const Tensor& x) {
    if (c.number % 3 == 0) expect_second_order(c, mask, x);
  });
}

TEST_P(EveryLineGradient, OfProductsAgreesWithFiniteDifferencesBesideZeros) {
  if (GetParam().name != "cumprod") GTEST_SKIP() << "has no products";
  for_each_case([&](const Case& c, const std::optional<Tensor>& mask, const Tensor& x) {
    Random random(static_cast<std::uint64_t>(c.number) + 6);
    for (double& value : x.data<double>()) {
      if (random.chance(0.3)) value = 0;
    }
    expect_gradient(c, mask, x);
    expect_second_order(c, mask, x);
  });
}

TEST_P(EveryLineGradient, NeitherDependsOnGarbageUnderTheMaskNorReachesIt) {
  for_each_case([&](const Case& c, const std::optional<Tensor>& given, const Tensor& x) {
    const Operands operands{x, given};
    const Tensor mask = operands.whole_mask();
    const Tensor weights = moderate(c.shape, c.number + 5000);
    const Tensor clean = gradient(c, x, given, weights);
    Random random(static_cast<std::uint64_t>(c.number) + 5);
    poison(x, mask, random);
    const Tensor got = gradient(c, x, given, weights);
    ASSERT_EQ(bits_of(got), bits_of(clean));
    for_each_index(c.shape, [&](const Dims& index) {
      if (mask.at<bool>(index)) return;
      ASSERT_EQ(got.at<double>(index), 0.0);
    });
  });
}

TEST_P(EveryLineGradient, NeverReadsAnArrivingGradientThatIsMasked) {
  // Structural zeros: `filled` masks what arrives, and NaN stands there.
  const Tensor x = moderate({3, 4}, 1);
  const Tensor shown =
      tensor({{true, false, true, true}, {false, false, false, false}, {true, true, false, true}});
  const auto grad_with = [&](double hidden) {
    Tensor leaf = ops::clone(x);
    autograd::set_requires_grad(leaf, true);
    const Tensor y = ops::filled(GetParam().call(leaf, {1}, {}, {}), shown, 0);
    const Tensor weights = ops::filled(moderate({3, 4}, 2), shown, hidden);
    autograd::backward(y, {.gradient = weights});
    return bits_of(autograd::grad(leaf).value());
  };
  EXPECT_EQ(grad_with(std::nan("")), grad_with(0));
}

TEST_P(EveryLineGradient, StaysZeroForLinesOfWhichNothingCounts) {
  const Tensor x = full({2, 3}, std::nan(""), DType::f64);
  const Tensor got = gradient({0, DType::f64, {2, 3}, {1}}, x, zeros({2, 3}, DType::boolean),
                              ones({2, 3}, DType::f64));
  EXPECT_EQ(elements<double>(got), std::vector<double>(6, 0.0));
}

TEST_P(EveryLineGradient, HasTheDTypeOfTheInput) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    Tensor x = ones({2, 3}, dtype);
    autograd::set_requires_grad(x, true);
    const Tensor y = GetParam().call(x, {0}, {}, DType::f64);
    autograd::backward(y, {.gradient = ones({2, 3}, DType::f64)});
    EXPECT_EQ(autograd::grad(x).value().dtype(), dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, EveryLineGradient, testing::ValuesIn(line_ops()),
                         [](const auto& op) { return op.param.name; });

}  // namespace
}  // namespace loup::test
