#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/hooks.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"

// grad() of chosen inputs, and backward() of several roots.

namespace loup::autograd {
namespace {

using test::elements;
using test::expect_error;
using test::grad_of;
using test::leaf;
using test::sum;
using Values = std::vector<double>;

Values values_of(const std::optional<Tensor>& gradient) {
  return elements<double>(gradient.value());
}

TEST(Grad, GivesTheGradientsOfLeavesWithoutTouchingThem) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = leaf(tensor({3.0, 4.0}));
  const auto gradients = grad({sum(x * y)}, {y, x});
  EXPECT_EQ(values_of(gradients[0]), (Values{1, 2}));
  EXPECT_EQ(values_of(gradients[1]), (Values{3, 4}));
  EXPECT_FALSE(grad(x).has_value());
  EXPECT_FALSE(grad(y).has_value());
}

TEST(Grad, GivesTheGradientOfATensorOnTheWay) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * x;
  const auto gradients = grad({sum(y * y + x)}, {y, x});
  EXPECT_EQ(values_of(gradients[0]), (Values{2, 8}));
  EXPECT_EQ(values_of(gradients[1]), (Values{5, 33}));  // 4x³ + 1
}

TEST(Grad, OfAnOutputIsWhatWasGiven) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 2;
  const Tensor given = tensor({5.0, 6.0});
  const auto gradients = grad({y}, {y, x}, {.gradients = {given}});
  EXPECT_EQ(values_of(gradients[0]), (Values{5, 6}));
  EXPECT_EQ(values_of(gradients[1]), (Values{10, 12}));
  EXPECT_FALSE(gradients[0]->storage() == given.storage());
}

TEST(Grad, OfOneInputTwiceIsGivenTwice) {
  const Tensor x = leaf(tensor({2.0}));
  const auto gradients = grad({sum(x * x)}, {x, x});
  EXPECT_EQ(values_of(gradients[0]), (Values{4}));
  EXPECT_EQ(values_of(gradients[1]), (Values{4}));
}

TEST(Grad, AddsUpSeveralOutputs) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 2;
  const Tensor z = y * x;
  const auto gradients =
      grad({y, sum(z)}, {x}, {.gradients = {tensor({10.0, 20.0}), std::nullopt}});
  EXPECT_EQ(values_of(gradients[0]), (Values{24, 48}));
}

TEST(Grad, WritesExactZerosWhereNothingFlows) {
  const Tensor x = leaf(tensor({1.0, std::nan(""), 3.0}));
  const auto gradients = grad({ops::filled(x * x, tensor({true, false, true}), 0)}, {x},
                              {.gradients = {tensor({1.0, std::nan(""), 1.0})}});
  EXPECT_EQ(values_of(gradients[0]), (Values{2, 0, 6}));
}

TEST(Grad, BelongsToTheCaller) {
  const Tensor x = leaf(ones({2, 3}, DType::f64));
  const Tensor y = sum(x);
  const Tensor gradient = *grad({y}, {x}).front();
  EXPECT_TRUE(gradient.is_contiguous());
  EXPECT_EQ(gradient.storage().use_count(), 1U);
  ops::fill_(gradient, 7);
}

TEST(Grad, RunsOnlyWhatLeadsToTheInputs) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor other = leaf(tensor({2.0}));
  const Tensor y = x * 3;
  const Tensor side = other * 5;
  const Tensor before = y * 1;
  const Tensor total = sum(before * side);
  int runs = 0;
  const auto count = [&](const Tensor&) {
    ++runs;
    return std::nullopt;
  };
  register_hook(side, count);   // beside the way
  register_hook(other, count);  // beside the way
  register_hook(x, count);      // beyond the input
  register_hook(y, count);      // beyond the first input, beside the way to the second
  EXPECT_EQ(values_of(grad({total}, {before}, {.retain_graph = true}).front()), (Values{10}));
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(values_of(grad({total}, {other}).front()), (Values{15}));
  EXPECT_EQ(runs, 2);
}

TEST(Grad, TellsRulesWhatIsNeeded) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor y = leaf(tensor({1.0}));
  Tensor z = ones({1}, DType::f64);
  std::vector<bool> needs;
  record("test", z, {x, y}, {}, [&](const Saved& saved, const Gradient& g) {
    needs = {saved.needs(0), saved.needs(1)};
    return std::vector<Gradient>{saved.needs(0) ? g : Gradient{}, saved.needs(1) ? g : Gradient{}};
  });
  EXPECT_EQ(values_of(grad({z}, {y}, {.retain_graph = true}).front()), (Values{1}));
  EXPECT_EQ(needs, (std::vector<bool>{false, true}));
  backward(z);
  EXPECT_EQ(needs, (std::vector<bool>{true, true}));
}

TEST(Grad, OfUnusedInputsIsAnError) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor y = leaf(tensor({1.0}));
  expect_error<StateError>([&] { grad({sum(x)}, {x, y}); },
                           "grad: expected inputs that the outputs were computed from",
                           "got one at position 1 that was not used");
}

TEST(Grad, OfUnusedInputsIsAbsentWhereAllowed) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor later = leaf(tensor({1.0}));
  const auto gradients = grad({sum(x)}, {later, x}, {.allow_unused = true});
  EXPECT_FALSE(gradients[0].has_value());
  EXPECT_EQ(values_of(gradients[1]), (Values{1}));
}

TEST(Grad, OfWhatWasOverwrittenIsZero) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = x * 2;
  ops::fill_(y, 3);
  EXPECT_EQ(values_of(grad({sum(y)}, {x}).front()), (Values{0, 0}));
}

TEST(Grad, ReleasesTheRecordUnlessRetained) {
  const Tensor x = leaf(tensor({2.0}));
  const Tensor y = sum(x * x);
  grad({y}, {x}, {.retain_graph = true});
  grad({y}, {x}, {.create_graph = true});
  grad({y}, {x});
  expect_error<StateError>([&] { grad({y}, {x}); },
                           "backward: expected a record that is still there",
                           "got one released by an earlier backward through sum");
}

TEST(Grad, OfGradientsOfEveryOrder) {
  const Tensor x = leaf(tensor({2.0}));
  Tensor y = x * x * x * x;
  const Values expected{32, 48, 48, 24};  // of x⁴ at 2
  for (const double derivative : expected) {
    y = *grad({y}, {x}, {.create_graph = true}).front();
    EXPECT_EQ(y.item<double>(), derivative);
  }
  EXPECT_FALSE(grad(x).has_value());
}

TEST(Grad, NeedsRecords) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor y = x * 2;
  expect_error<StateError>([&] { grad({ones({1})}, {x}); },
                           "grad: expected a tensor that requires grad",
                           "got one without a record");
  expect_error<StateError>([&] { grad({y}, {ones({1})}); },
                           "grad: expected a tensor that requires grad",
                           "got one without a record");
}

TEST(Grad, NeedsAsManyGradientsAsOutputs) {
  const Tensor x = leaf(tensor({1.0}));
  expect_error<ValueError>([&] { grad({x * 1, x * 2}, {x}, {.gradients = {std::nullopt}}); },
                           "grad: expected 2 gradients, one for each tensor", "got 1");
}

TEST(Grad, NeedsGradientsThatFit) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  expect_error<ValueError>([&] { grad({x * 1}, {x}); }, "grad: expected a gradient for shape [2]",
                           "got none");
  expect_error<ShapeError>([&] { grad({x * 1}, {x}, {.gradients = {ones({3}, DType::f64)}}); },
                           "grad: expected a gradient of shape [2]", "got [3]");
  expect_error<DTypeError>([&] { grad({x * 1}, {x}, {.gradients = {ones({2})}}); },
                           "grad: expected a gradient of float64", "got float32");
}

TEST(Grad, RefusesAnInputThatWasChangedBehindItsBack) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 1;
  Tensor v = ops::narrow(y, 0, 0, 1);
  v *= 2;
  expect_error<StateError>(
      [&] { grad({sum(v)}, {y}); }, "grad: expected a tensor of shape [2] as it was computed",
      "got one changed in place through another tensor that shares its memory");
}

TEST(BackwardOfSeveral, AddsUpTheirGradients) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 2;
  const std::vector<Tensor> roots{y, sum(y * x), y};
  const std::vector<std::optional<Tensor>> gradients{tensor({10.0, 20.0}), std::nullopt,
                                                     tensor({1.0, 1.0})};
  backward(roots, gradients);
  EXPECT_EQ(grad_of(x), (Values{26, 50}));
}

TEST(BackwardOfSeveral, NeedsAsManyGradientsAsRoots) {
  const Tensor x = leaf(tensor({1.0}));
  const std::vector<Tensor> roots{x * 1, x * 2};
  const std::vector<std::optional<Tensor>> gradients{std::nullopt};
  expect_error<ValueError>([&] { backward(roots, gradients); },
                           "backward: expected 2 gradients, one for each tensor", "got 1");
}

TEST(BackwardOfSeveral, ChecksAllBeforeItStarts) {
  const Tensor x = leaf(tensor({1.0}));
  const std::vector<Tensor> roots{x * 1, ones({1})};
  expect_error<StateError>([&] { backward(roots, {}); },
                           "backward: expected a tensor that requires grad",
                           "got one without a record");
  EXPECT_FALSE(grad(x).has_value());
}

}  // namespace
}  // namespace loup::autograd
