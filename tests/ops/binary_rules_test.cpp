#include "loup/ops/binary_rules.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/elementwise.h"

namespace loup::ops {
namespace {

using test::Doubles;
using test::spread;

/// Operands of which no two are equal and no quotient is an integer; both positive, for powers.
std::vector<Doubles> operands() { return {spread(0.21, 0.93), spread(1.13, 1.87)}; }

class EveryBinary : public testing::TestWithParam<const Binary*> {
 protected:
  static Tensor call(const std::vector<Tensor>& x) { return (*GetParam())(x[0], x[1]); }
};

TEST_P(EveryBinary, HasTheSlopesOfItsDifferences) { test::expect_differences(call, operands()); }

TEST_P(EveryBinary, HasTheSecondSlopesOfItsDifferences) {
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    const auto slope = [which](const std::vector<Tensor>& given) -> Tensor {
      std::vector<Tensor> x = given;
      if (!x[which].requires_grad()) x[which] = test::leaf(x[which]);
      const auto gradient =
          autograd::grad({test::sum(call(x))}, {x[which]}, {.create_graph = true})[0];
      return gradient.value() * x[0] * x[1];
    };
    test::expect_differences(slope, operands());
  }
}

TEST_P(EveryBinary, SkipsWhatAMaskHides) { test::expect_nothing_leaks(call, operands()); }

std::string binary_name(const testing::TestParamInfo<const Binary*>& info) {
  return info.param->name;
}
INSTANTIATE_TEST_SUITE_P(Rules, EveryBinary, testing::ValuesIn(test::differentiable(binary_ops)),
                         binary_name);

std::vector<Doubles> slopes(const Binary& op, const Doubles& x, const Doubles& y) {
  return test::gradients_of([&](const auto& given) { return op(given[0], given[1]); }, {x, y});
}

TEST(BinaryRules, ShareTheGradientOfEquals) {
  for (const Binary* const op : {&maximum, &minimum, &ops::fmax, &ops::fmin}) {
    EXPECT_EQ(slopes(*op, {1}, {1}), (std::vector<Doubles>{{0.5}, {0.5}})) << op->name;
  }
}

TEST(BinaryRules, FollowTheNaNThatWasChosen) {
  const double nan = std::nan("");
  EXPECT_EQ(slopes(maximum, {nan, 1}, {1, nan}), (std::vector<Doubles>{{1, 0}, {0, 1}}));
  EXPECT_EQ(slopes(ops::fmax, {nan, 1}, {1, nan}), (std::vector<Doubles>{{0, 1}, {1, 0}}));
}

TEST(BinaryRules, KnowPowersOfAndByZero) {
  EXPECT_EQ(slopes(ops::pow, {0, 0, 0, 2}, {2, 1, 0, 0})[0], (Doubles{0, 1, 0, 0}));
  EXPECT_EQ(slopes(ops::pow, {0, 0}, {2, 0})[1], (Doubles{0, 0}));
}

TEST(BinaryRules, KnowSumsOfExponentialsAtInfinity) {
  EXPECT_EQ(
      slopes(logaddexp, {-infinity, -infinity, infinity, infinity}, {-infinity, 1, infinity, 1}),
      (std::vector<Doubles>{{0, 0, 0.5, 1}, {0, 1, 0.5, 0}}));
}

TEST(BinaryRules, ComputeOnlyWhatIsNeeded) {
  // The logarithm of a negative base would be NaN; nobody asks for the slope by the exponent.
  const Tensor x = test::leaf(test::of({-3}));
  autograd::backward(test::sum(ops::pow(x, 2)));
  EXPECT_EQ(test::grad_of(x), Doubles{-6});
}

}  // namespace
}  // namespace loup::ops
