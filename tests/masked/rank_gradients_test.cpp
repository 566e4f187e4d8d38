#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/masked/ops.h"
#include "loup/masked/ranks.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/masked/samples.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::data_2x4;
using test::elements;
using test::grad_of;
using test::leaf;
using test::nan;
using test::Random;

using Reals = std::vector<double>;

using Function = std::function<Tensor(const Tensor& x, const std::optional<Tensor>& mask)>;
struct Differentiable {
  const char* name;
  Function call;
};

std::ostream& operator<<(std::ostream& stream, const Differentiable& op) {
  return stream << op.name;
}

std::vector<Differentiable> differentiable() {
  return {
      {"median", [](const Tensor& x, const auto& m) { return median(x, -1, {.mask = m}); }},
      {"median_across",
       [](const Tensor& x, const auto& m) { return median(x, 0, {.mask = m, .keepdim = true}); }},
      {"quantile",
       [](const Tensor& x, const auto& m) {
         return quantile(x, std::array{0.3, 0.0, 0.77}, -1, {.mask = m});
       }},
      {"quantile_of_all",
       [](const Tensor& x, const auto& m) { return quantile(x, 0.4, {}, {.mask = m}); }},
      {"quantile_midpoint",
       [](const Tensor& x, const auto& m) {
         return quantile(x, 0.6, 0, {.mask = m, .interpolation = Interpolation::midpoint});
       }},
      {"cov", [](const Tensor& x, const auto& m) { return cov(x, {.mask = m}); }},
      {"cov_weighted",
       [](const Tensor& x, const auto& m) {
         return cov(x, {.correction = 0,
                        .aweights = tensor({0.5, 1.0, 2.0, 1.0, 1.5, 0.25, 1.0}),
                        .mask = m});
       }},
      {"corrcoef", [](const Tensor& x, const auto& m) { return corrcoef(x, {.mask = m}); }},
      {"weighted_mean",
       [](const Tensor& x, const auto& m) {
         return weighted_mean(x, tensor({0.5, 1.0, 2.0, 1.0, 1.5, 0.25, 1.0}), 1, {.mask = m});
       }},
      {"weighted_mean_of_weights",
       [](const Tensor& x, const auto& m) {
         return weighted_mean(full({3, 7}, 2.0, DType::f64) * data_2x4.at<double>({0, 0}), x * x, 1,
                              {.mask = m});
       }},
      {"weighted_mean_of_repeated_weights",
       [](const Tensor& x, const auto& m) {
         Random random(8);
         const Tensor elements = test::random_tensor(random, {2, 3, 7}, DType::f64);
         return weighted_mean(elements, x * x, {0, 2}, {.mask = m});
       }},
      {"weighted_mean_of_itself",
       [](const Tensor& x, const auto& m) {
         const Tensor weights = ops::narrow(x, 1, 3, 1);
         return weighted_mean(x, weights * weights, {}, {.mask = m, .keepdim = true});
       }},
      {"logaddexp",
       [](const Tensor& x, const auto& m) {
         const auto column = [](const Tensor& of) { return ops::narrow(of, 1, 3, 1); };
         std::optional<Tensor> own;
         if (m) own = column(ops::expand(*m, {3, 7}));
         return logaddexp(x, column(x), {.input_mask = m, .other_mask = own});
       }},
  };
}

constexpr double step = 1e-5;

class EveryRankGradient : public testing::TestWithParam<Differentiable> {
 protected:
  /// Rows of 7 with at least four that count in common, so that pairs have a covariance.
  static Tensor values(std::uint64_t stream) {
    Random random(stream);
    Tensor x = empty({3, 7}, DType::f64);
    for (double& value : x.data<double>()) {
      value = (0.5 + 1.5 * random.fraction()) * (random.chance(0.5) ? 1 : -1);
    }
    return x;
  }
  static Tensor valid() {
    return tensor({{true, true, false, true, true, true, true},
                   {true, true, true, true, false, true, true},
                   {true, false, true, true, true, true, true}});
  }
  static Tensor weights_for(const Tensor& y, std::uint64_t stream) {
    Random random(stream);
    return test::random_tensor(random, y.shape(), DType::f64);
  }
  static Reals gradient(const Tensor& x, const std::optional<Tensor>& m, const Tensor& weights) {
    const Tensor own = leaf(ops::clone(x));
    autograd::backward(GetParam().call(own, m), {.gradient = weights});
    return grad_of(own);
  }
  static double inner(const Reals& a, const Tensor& b) {
    const auto other = elements<double>(b);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * other[i];
    return sum;
  }
  template <class F>
  static double difference(const Tensor& x, const Dims& index, F&& f) {
    const Tensor moved = ops::clone(x);
    const auto value = moved.at<double>(index);
    moved.set(index, value + step);
    const double above = f(moved);
    moved.set(index, value - step);
    return (above - f(moved)) / (2 * step);
  }
};

TEST_P(EveryRankGradient, AgreesWithFiniteDifferences) {
  for (const bool is_masked : {false, true}) {
    const std::optional<Tensor> m = is_masked ? std::optional(valid()) : std::nullopt;
    const Tensor x = values(3);
    const Tensor weights = weights_for(GetParam().call(x, m), 4);
    const Reals got = gradient(x, m, weights);
    std::size_t at = 0;
    test::for_each_index(x.shape(), [&](const Dims& index) {
      const double wanted = difference(x, index, [&](const Tensor& moved) {
        return inner(elements<double>(GetParam().call(moved, m)), weights);
      });
      EXPECT_NEAR(got[at++], wanted, 1e-6 * (1 + std::abs(wanted)))
          << fmt::format("{} masked {}", index, is_masked);
    });
  }
}

TEST_P(EveryRankGradient, OfItsGradientAgreesWithFiniteDifferences) {
  const std::optional<Tensor> m = valid();
  const Tensor x = values(3);
  const Tensor given = weights_for(GetParam().call(x, m), 4);
  const Tensor direction = weights_for(x, 5);
  const Tensor own = leaf(ops::clone(x));
  const Tensor weights = leaf(ops::clone(given));
  autograd::backward(GetParam().call(own, m), {.gradient = weights, .create_graph = true});
  const Tensor first = *autograd::grad(own);
  ASSERT_TRUE(first.requires_grad());
  autograd::set_grad(own, std::nullopt);
  autograd::backward(first, {.gradient = direction});
  const Reals by_weights = grad_of(weights);
  const auto by_x = autograd::grad(own);
  std::size_t at = 0;
  test::for_each_index(given.shape(), [&](const Dims& index) {
    const double wanted = difference(
        given, index, [&](const Tensor& moved) { return inner(gradient(x, m, moved), direction); });
    EXPECT_NEAR(by_weights[at++], wanted, 1e-6 * (1 + std::abs(wanted))) << "weights";
  });
  test::for_each_index(x.shape(), [&](const Dims& index) {
    const double wanted = difference(
        x, index, [&](const Tensor& moved) { return inner(gradient(moved, m, given), direction); });
    EXPECT_NEAR(by_x ? by_x->at<double>(index) : 0, wanted, 1e-5 * (1 + std::abs(wanted))) << "x";
  });
}

TEST_P(EveryRankGradient, NeitherDependsOnGarbageUnderTheMaskNorReachesIt) {
  const Tensor m = valid();
  const Tensor x = values(3);
  const Tensor weights = weights_for(GetParam().call(x, m), 4);
  const Reals clean = gradient(x, m, weights);
  for (int trial = 0; trial < 20; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const Tensor poisoned = ops::clone(x);
    test::poison(poisoned, m, random);
    EXPECT_EQ(gradient(poisoned, m, weights), clean);
  }
  std::size_t at = 0;
  for (const bool counts : elements<bool>(m)) {
    if (!counts) {
      EXPECT_EQ(clean[at], 0);
    }
    ++at;
  }
}

TEST_P(EveryRankGradient, NeverReadsAnArrivingGradientThatIsMasked) {
  const Tensor x = values(3);
  const Tensor y = GetParam().call(x, {});
  Random random(9);
  const Tensor shown = test::random_mask(random, y.shape());
  const auto grad_with = [&](double hidden) {
    const Tensor own = leaf(ops::clone(x));
    const Tensor weights = ops::filled(weights_for(y, 4), shown, hidden);
    autograd::backward(ops::filled(GetParam().call(own, {}), shown, 0), {.gradient = weights});
    return grad_of(own);
  };
  EXPECT_EQ(grad_with(nan), grad_with(0));
}

TEST_P(EveryRankGradient, StaysZeroWhereNothingCounts) {
  const Tensor x = full({3, 7}, nan, DType::f64);
  const Tensor nothing = zeros({}, DType::boolean);
  const Tensor weights = ops::clone(GetParam().call(x, nothing));
  EXPECT_EQ(gradient(x, nothing, full(weights.shape(), 1.0, DType::f64)), Reals(21, 0));
}

INSTANTIATE_TEST_SUITE_P(Masked, EveryRankGradient, testing::ValuesIn(differentiable()),
                         [](const auto& op) { return op.param.name; });

TEST(MedianGradient, GoesToTheFirstOfEqualElements) {
  const Tensor x = leaf(tensor({{2.0, 1.0, 1.0, 1.0}, {0.0, -0.0, 5.0, -1.0}}));
  autograd::backward(median(x, 1), {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(grad_of(x), (Reals{0, 3, 0, 0, 4, 0, 0, 0}));
}

TEST(MedianGradient, GoesToTheFirstNaNThatCounts) {
  const Tensor x = leaf(tensor({nan, 1.0, nan, nan}));
  autograd::backward(median(x, 0, {.mask = tensor({false, true, true, true})}), {});
  EXPECT_EQ(grad_of(x), (Reals{0, 0, 1, 0}));
}

TEST(MedianGradient, IsAStructuralZeroWhereItDoesNotGo) {
  const Tensor x = leaf(tensor({1.0, 2.0, 3.0}));
  const Tensor y = x / tensor({0.0, 1.0, 0.0});
  autograd::backward(median(y, 0, {.mask = tensor({false, true, false})}), {});
  EXPECT_EQ(grad_of(x), (Reals{0, 1, 0}));
  const Tensor z = leaf(tensor({1.0, 2.0, 3.0}));
  autograd::backward(median(z / tensor({-0.0, 1.0, 0.0}), 0), {});
  EXPECT_EQ(grad_of(z), (Reals{0, 1, 0}));
}

TEST(RankGradients, HaveTheDTypeOfTheInput) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const std::optional<DType> cast : {std::optional<DType>(), std::optional(DType::f64)}) {
      for (int op = 0; op < 3; ++op) {
        Tensor x = ones({2, 3}, dtype);
        autograd::set_requires_grad(x, true);
        const Tensor y = op == 0   ? median(x, 1, {.dtype = cast})
                         : op == 1 ? quantile(x, 0.3, 1, {.dtype = cast})
                                   : weighted_mean(x, ones({3}), 1, {.dtype = cast});
        autograd::backward(y, {.gradient = ones({2}, y.dtype())});
        EXPECT_EQ(autograd::grad(x).value().dtype(), dtype) << name(dtype) << op;
      }
    }
  }
}

}  // namespace
}  // namespace loup::masked
