#include "loup/ops/views.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/windows.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::elements;
using test::expect_error;
using test::Random;
using View = std::function<Tensor(const Tensor&)>;

struct NamedView {
  const char* name;
  Shape shape;
  View view;

  friend std::ostream& operator<<(std::ostream& stream, const NamedView& v) {
    return stream << v.name;
  }
};

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::vector<NamedView> all_views() {
  return {
      {"transpose", {3, 4}, [](const Tensor& x) { return transpose(x, 0, -1); }},
      {"permute", {2, 3, 4}, [](const Tensor& x) { return permute(x, {2, 0, 1}); }},
      {"squeeze", {2, 1, 3, 1}, [](const Tensor& x) { return squeeze(x); }},
      {"squeeze_one", {2, 1, 3, 1}, [](const Tensor& x) { return squeeze(x, {1}); }},
      {"unsqueeze", {2, 3}, [](const Tensor& x) { return unsqueeze(x, 1); }},
      {"narrow", {5, 2}, [](const Tensor& x) { return narrow(x, 0, 1, 3); }},
      {"select", {3, 4}, [](const Tensor& x) { return select(x, 1, -2); }},
      {"slice", {9, 2}, [](const Tensor& x) { return slice(x, 0, 1, {}, 3); }},
      {"expand", {3, 1}, [](const Tensor& x) { return expand(x, {2, 3, 4}); }},
      {"broadcast_to", {1}, [](const Tensor& x) { return broadcast_to(x, {3, 2}); }},
      {"view", {3, 4}, [](const Tensor& x) { return view(x, {2, 6}); }},
      {"reshape", {3, 4}, [](const Tensor& x) { return reshape(x, {-1, 2}); }},
      {"reshape_copy", {3, 4}, [](const Tensor& x) { return reshape(transpose(x, 0, 1), {2, 6}); }},
      {"flatten", {2, 3, 2}, [](const Tensor& x) { return flatten(x, 1); }},
      {"unfold", {2, 6}, [](const Tensor& x) { return unfold(x, 1, 3, 2); }},
      // A second window would lie further than any offset reaches.
      {"unfold_once",
       {3, 5},
       [](const Tensor& x) { return unfold(transpose(x, 0, 1), 0, 2, most); }},
  };
}

class EveryView : public testing::TestWithParam<NamedView> {
 protected:
  Random random_;
  Tensor x_ = test::random_tensor(random_, GetParam().shape, DType::f64);
};

/// Views are linear: the gradient at an element is the sum of the weights of where it is shown.
std::vector<double> weights_shown(const NamedView& v, const Tensor& weights) {
  const Tensor numbers = reshape(arange(0, element_count(v.shape), 1, DType::f64), v.shape);
  const auto shown = elements<std::size_t>(to(v.view(numbers), DType::i64));
  const auto weight = elements<double>(weights);
  std::vector<double> sums(static_cast<std::size_t>(element_count(v.shape)));
  for (std::size_t i = 0; i < shown.size(); ++i) sums[shown[i]] += weight[i];
  return sums;
}

TEST_P(EveryView, SendsEachGradientToTheElementItShows) {
  autograd::set_requires_grad(x_, true);
  const Tensor y = GetParam().view(x_);
  const Tensor weights = test::random_tensor(random_, y.shape(), DType::f64);
  autograd::backward(y, {.gradient = weights});
  const auto got = elements<double>(*autograd::grad(x_));
  const auto wanted = weights_shown(GetParam(), weights);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << i;
}

TEST_P(EveryView, IsShownAgainByTheGradientOfItsGradient) {
  autograd::set_requires_grad(x_, true);
  const Tensor y = GetParam().view(x_);
  Tensor weights = test::random_tensor(random_, y.shape(), DType::f64);
  autograd::set_requires_grad(weights, true);
  autograd::backward(y, {.gradient = weights, .create_graph = true});
  const Tensor direction = test::random_tensor(random_, x_.shape(), DType::f64);
  autograd::backward(*autograd::grad(x_), {.gradient = direction});
  EXPECT_EQ(elements<double>(*autograd::grad(weights)),
            elements<double>(GetParam().view(direction)));
}

TEST_P(EveryView, IsNotRecordedWithoutAGradient) {
  EXPECT_FALSE(GetParam().view(x_).requires_grad());
}

INSTANTIATE_TEST_SUITE_P(Views, EveryView, testing::ValuesIn(all_views()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Views, ShareTheElements) {
  const Tensor x = zeros({2, 3});
  transpose(x, 0, 1).set({2, 1}, 5);
  EXPECT_EQ(x.at<float>({1, 2}), 5);
}

TEST(View, RefusesAShapeThatNeedsACopy) {
  const Tensor x = transpose(zeros({2, 3}), 0, 1);
  expect_error<ShapeError>(
      [&] { view(x, {6}); },
      "view: expected a shape that needs no copy of shape [3, 2] with strides [1, 3]", "got [6]");
}

TEST(Reshape, IsAViewWherePossible) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(reshape(x, {3, 2}).storage(), x.storage());
}

TEST(Reshape, CopiesWhereAViewIsImpossible) {
  const Tensor x = transpose(tensor({{1, 2, 3}, {4, 5, 6}}), 0, 1);
  const Tensor y = reshape(x, {2, 3});
  EXPECT_FALSE(y.storage() == x.storage());
  EXPECT_EQ(elements<int>(y), (std::vector<int>{1, 4, 2, 5, 3, 6}));
}

TEST(Reshape, RefusesAnotherNumberOfElements) {
  expect_error<ShapeError>([] { reshape(zeros({2, 3}), {4}); },
                           "reshape: expected a shape of 6 elements", "got [4]");
}

TEST(Flatten, MakesOneDimOfAScalar) { EXPECT_EQ(flatten(zeros({})).shape(), (Shape{1})); }

TEST(Flatten, RefusesDimsInTheWrongOrder) {
  expect_error<ShapeError>([] { flatten(zeros({2, 3}), 1, 0); },
                           "flatten: expected a first dim not after the last", "got 1 and 0");
}

}  // namespace
}  // namespace loup::ops
