#include "loup/ops/unary_rules.h"

#include <map>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/elementwise.h"

namespace loup::ops {
namespace {

using test::Doubles;
using test::spread;

/// Where an operator is smooth, if not everywhere between -2 and 2.
Doubles points_of(const std::string& name) {
  static const std::map<std::string, std::pair<double, double>> domains = {
      {"abs", {0.2, 2}},     {"acos", {-0.9, 0.9}},   {"acosh", {1.2, 3}},
      {"asin", {-0.9, 0.9}}, {"atanh", {-0.9, 0.9}},  {"ceil", {0.1, 0.9}},
      {"digamma", {0.2, 2}}, {"erfinv", {-0.9, 0.9}}, {"floor", {0.1, 0.9}},
      {"frac", {0.1, 0.9}},  {"lgamma", {0.2, 2}},    {"log", {0.2, 2}},
      {"log10", {0.2, 2}},   {"log1p", {-0.8, 2}},    {"log2", {0.2, 2}},
      {"logit", {0.1, 0.9}}, {"polygamma", {0.2, 2}}, {"reciprocal", {0.2, 2}},
      {"relu", {0.2, 2}},    {"round", {0.6, 1.4}},   {"rsqrt", {0.2, 2}},
      {"sign", {0.2, 2}},    {"sqrt", {0.2, 2}},      {"tan", {-1.2, 1.2}},
      {"angle", {0.2, 2}},   {"trunc", {0.1, 0.9}}};
  const auto found = domains.find(name);
  return found == domains.end() ? spread(-2, 2) : spread(found->second.first, found->second.second);
}

class EveryUnary : public testing::TestWithParam<const Unary*> {
 protected:
  static Tensor call(const std::vector<Tensor>& x) { return (*GetParam())(x[0]); }
};

TEST_P(EveryUnary, HasTheSlopeOfItsDifferences) {
  test::expect_differences(call, {points_of(GetParam()->name)});
}

TEST_P(EveryUnary, HasTheSecondSlopeOfItsDifferences) {
  const auto slope = [](const std::vector<Tensor>& x) -> Tensor {
    // As a function of x: recorded, unless it is the same everywhere.
    Tensor at = x[0].requires_grad() ? x[0] : test::leaf(x[0]);
    const Tensor y = (*GetParam())(at);
    return autograd::grad({test::sum(y)}, {at}, {.create_graph = true})[0].value() * at;
  };
  test::expect_differences(slope, {points_of(GetParam()->name)});
}

TEST_P(EveryUnary, SkipsWhatAMaskHides) {
  test::expect_nothing_leaks(call, {points_of(GetParam()->name)});
}

std::string unary_name(const testing::TestParamInfo<const Unary*>& info) {
  return info.param->name;
}
INSTANTIATE_TEST_SUITE_P(Rules, EveryUnary, testing::ValuesIn(test::differentiable(unary_ops)),
                         unary_name);

TEST(UnaryRules, HeedParameters) {
  // No point lies where softplus and logit have their kinks, at 1/2, 1/4 and 3/4.
  test::expect_differences([](const auto& x) { return gelu(x[0], 1); }, {spread(-2, 2)});
  test::expect_differences([](const auto& x) { return softplus(x[0], 2, 1); }, {spread(-2, 2.1)});
  test::expect_differences([](const auto& x) { return logit(x[0], 0.25); }, {spread(0.01, 0.98)});
  test::expect_differences([](const auto& x) { return polygamma(x[0], 2); }, {spread(0.2, 2)});
  test::expect_differences([](const auto& x) { return ops::round(x[0], 1); }, {{0.12, 0.33, 0.78}});
}

TEST(UnaryRules, AreFlatAtKinks) {
  EXPECT_EQ(test::gradients_of([](const auto& x) { return ops::abs(x[0]); }, {{0}})[0], Doubles{0});
  EXPECT_EQ(test::gradients_of([](const auto& x) { return relu(x[0]); }, {{0}})[0], Doubles{0});
  const Doubles invalid = {std::nan(""), infinity, 1};
  EXPECT_EQ(test::gradients_of([](const auto& x) { return nan_to_num(x[0]); }, {invalid})[0],
            (Doubles{0, 0, 1}));
}

TEST(UnaryRules, KnowTheSlopesOfSincAtAndAroundZero) {
  const Tensor x = test::leaf(test::of({0, 1e-5, 0.0499, 0.0501}));
  const auto first = autograd::grad({test::sum(sinc(x))}, {x}, {.create_graph = true})[0].value();
  const auto second = autograd::grad({test::sum(first)}, {x})[0].value();
  constexpr double curvature = -std::numbers::pi * std::numbers::pi / 3;
  EXPECT_EQ(first.at<double>({0}), 0);
  EXPECT_NEAR(first.at<double>({1}), curvature * 1e-5, 1e-14);
  EXPECT_NEAR(second.at<double>({0}), curvature, 1e-12);
  EXPECT_NEAR(second.at<double>({2}), second.at<double>({3}), 1e-2);
}

}  // namespace
}  // namespace loup::ops
