#include "loup/autograd/backward.h"

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/tensors.h"

namespace loup::autograd {
namespace {

using test::elements;
using test::expect_error;
using test::grad_of;
using test::leaf;
using test::sum;

TEST(Backward, StartsWithOneForASingleElement) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 1}));
}

TEST(Backward, OnALeafGivesItTheGradient) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  backward(x, {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{3, 4}));
}

TEST(Backward, AddsToTheGradientOfEarlierCalls) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  backward(sum(x));
  backward(x, {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{4, 5}));
}

/// a + b, the one recorded call of two inputs that autograd itself has.
Tensor add(const Tensor& a, const Tensor& b) { return accumulate({a, {}}, {b, {}}).value; }

TEST(Backward, AddsTheGradientsOfEveryUse) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  const Tensor shared = ops::clone(x);
  const Tensor y = add(add(shared, ops::transpose(shared, 0, 1)), shared);
  backward(y, {.gradient = tensor({{1.0, 10.0}, {100.0, 1000.0}})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{3, 120, 210, 3000}));
}

TEST(Backward, VisitsASharedCallOnceHoweverManyPathsLeadToIt) {
  // Forty doublings have 2^40 paths.
  const Tensor x = leaf(tensor({1.0}));
  Tensor y = x;
  for (int i = 0; i < 40; ++i) y = add(y, y);
  backward(y);
  EXPECT_EQ(grad_of(x), (std::vector<double>{0x1p40}));
}

TEST(Backward, AddsOverRepeatedElements) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor total = sum(ops::expand(x, {3, 2}), {0});
  backward(total, {.gradient = tensor({1.0, 10.0}), .retain_graph = true});
  backward(sum(total));
  EXPECT_EQ(grad_of(x), (std::vector<double>{6, 33}));
}

TEST(Backward, OwnsTheMemoryOfALeafsGradient) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor given = tensor({3.0, 4.0});
  backward(x, {.gradient = given});
  EXPECT_FALSE(grad(x)->storage() == given.storage());
  given.set({0}, 99);
  EXPECT_EQ(grad_of(x), (std::vector<double>{3, 4}));
}

TEST(Backward, GivesALeafAContiguousGradient) {
  const Tensor x = leaf(zeros({2, 3}, DType::f64));
  backward(sum(x));
  EXPECT_TRUE(grad(x)->is_contiguous());
}

TEST(Backward, LeavesTheGivenGradientAlone) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor given = tensor({3.0, 4.0});
  backward(x, {.gradient = given});
  backward(x, {.gradient = given});
  EXPECT_EQ(elements<double>(given), (std::vector<double>{3, 4}));
  EXPECT_EQ(grad_of(x), (std::vector<double>{6, 8}));
}

TEST(Backward, AddsToAGradientMadeWithCreateGraphWithoutChangingWhatWasGiven) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor given = tensor({3.0, 4.0});
  backward(x, {.gradient = given, .create_graph = true});
  backward(x, {.gradient = given});
  EXPECT_EQ(elements<double>(given), (std::vector<double>{3, 4}));
  EXPECT_EQ(grad_of(x), (std::vector<double>{6, 8}));
}

TEST(Backward, AddsToARepeatedGradientMadeWithCreateGraph) {
  const Tensor x = leaf(tensor({1.0, 2.0, 3.0}));
  backward(sum(x), {.create_graph = true});
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (std::vector<double>{2, 2, 2}));
}

TEST(Backward, NeedsARecord) {
  expect_error<StateError>([] { backward(ones({1})); },
                           "backward: expected a tensor that requires grad",
                           "got one without a record");
}

TEST(Backward, NeedsAGradientForSeveralElements) {
  const Tensor x = leaf(ones({2, 3}));
  expect_error<ValueError>([&] { backward(x); }, "backward: expected a gradient for shape [2, 3]",
                           "got none");
}

TEST(Backward, RefusesAGradientOfAnotherShape) {
  const Tensor x = leaf(ones({2}));
  expect_error<ShapeError>([&] { backward(x, {.gradient = ones({3})}); },
                           "backward: expected a gradient of shape [2]", "got [3]");
}

TEST(Backward, RefusesAGradientOfAnotherDType) {
  const Tensor x = leaf(ones({2}));
  expect_error<DTypeError>([&] { backward(x, {.gradient = ones({2}, DType::f64)}); },
                           "backward: expected a gradient of float32", "got float64");
}

TEST(Backward, ReleasesTheRecord) {
  const Tensor x = leaf(ones({2}));
  const Tensor y = sum(x);
  backward(y);
  expect_error<StateError>([&] { backward(y); }, "backward: expected a record that is still there",
                           "got one released by an earlier backward through sum");
}

TEST(Backward, KeepsTheRecordWhenAsked) {
  const Tensor x = leaf(ones({2}, DType::f64));
  const Tensor y = sum(x);
  backward(y, {.retain_graph = true});
  backward(y);
  EXPECT_EQ(grad_of(x), (std::vector<double>{2, 2}));
}

TEST(Backward, RecordsNothingUnlessAsked) {
  const Tensor x = leaf(ones({2}));
  backward(sum(x));
  EXPECT_FALSE(grad(x)->requires_grad());
  EXPECT_TRUE(is_recording());
}

TEST(Backward, RestoresRecordingAfterAnError) {
  const Tensor x = leaf(ones({2}));
  EXPECT_THROW(backward(x, {.gradient = ones({3})}), ShapeError);
  EXPECT_TRUE(is_recording());
}

TEST(Backward, WithCreateGraphGivesGradientsOfGradientsThroughViewsAndSums) {
  const Tensor x = leaf(ones({2, 3}, DType::f64));
  const Tensor g = leaf(tensor({2.0, 3.0}));
  backward(sum(ops::transpose(x, 0, 1), {0}), {.gradient = g, .create_graph = true});
  const Tensor first = grad(x).value();
  EXPECT_EQ(elements<double>(first), (std::vector<double>{2, 2, 2, 3, 3, 3}));
  backward(sum(ops::narrow(first, 1, 0, 2)));
  EXPECT_EQ(grad_of(g), (std::vector<double>{2, 2}));
}

TEST(Backward, SkipsStructuralZerosThroughViews) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  const Tensor y = ops::select(ops::transpose(x, 0, 1), 0, 1);  // the second column
  const Tensor shown = ops::filled(y, tensor({true, false}), 0);
  backward(shown, {.gradient = tensor({5.0, std::nan("")})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{0, 5, 0, 0}));
}

TEST(Backward, SkipsStructuralZerosThroughExpand) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor mask = tensor({{true, false}, {true, false}, {false, false}});
  const Tensor shown = ops::filled(ops::expand(x, {3, 2}), mask, 0);
  const double nan = std::nan("");
  backward(shown, {.gradient = tensor({{1.0, nan}, {2.0, nan}, {nan, nan}})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{3, 0}));
}

TEST(Backward, JoinsTheMasksOfSeveralUses) {
  const double nan = std::nan("");
  const Tensor x = leaf(tensor({1.0, 2.0, 3.0}));
  const Tensor shared = ops::clone(x);
  const Tensor first = ops::filled(shared, tensor({true, false, false}), 0);
  const Tensor second = ops::filled(shared, tensor({false, true, false}), 0);
  backward(add(first, second), {.gradient = tensor({5.0, 6.0, nan})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{5, 6, 0}));
}

TEST(Backward, WalksAHundredThousandCallsWithoutDeepRecursion) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = x;
  for (int i = 0; i < 50'000; ++i) y = ops::squeeze(ops::unsqueeze(y, 0), {0});
  backward(y, {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{3, 4}));
}

TEST(Backward, StopsAtADetachedTensor) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = leaf(ops::clone(x).detach());
  backward(sum(y));
  EXPECT_FALSE(grad(x).has_value());
  EXPECT_EQ(grad_of(y), (std::vector<double>{1, 1}));
}

TEST(Backward, RunsFromSeveralThreadsOnRecordsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<std::vector<double>> results(4);
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&results, t] {
      for (int i = 0; i < 50; ++i) {
        const Tensor x = leaf(ones({10}, DType::f64));
        backward(sum(x));
        results[t] = grad_of(x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, std::vector<double>(10, 1.0));
}

}  // namespace
}  // namespace loup::autograd
