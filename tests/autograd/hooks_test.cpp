#include "loup/autograd/hooks.h"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"

namespace loup::autograd {
namespace {

using test::elements;
using test::expect_error;
using test::grad_of;
using test::leaf;
using test::sum;
using Values = std::vector<double>;

/// A hook that notes what it is called with.
Hook note(std::vector<Values>& calls) {
  return [&calls](const Tensor& g) {
    calls.push_back(elements<double>(g));
    return std::nullopt;
  };
}

TEST(RegisterHook, CallsWithTheCompleteGradientOnce) {
  std::vector<Values> of_x;
  std::vector<Values> of_y;
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 2;
  register_hook(x, note(of_x));
  register_hook(y, note(of_y));
  backward(sum(y * y + y + x));
  EXPECT_EQ(of_y, (std::vector<Values>{{5, 9}}));
  EXPECT_EQ(of_x, (std::vector<Values>{{11, 19}}));
  EXPECT_EQ(grad_of(x), (Values{11, 19}));
}

TEST(RegisterHook, TakesAReplacement) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 3;
  register_hook(y, [](const Tensor& g) { return g * 10; });
  register_hook(x, [](const Tensor& g) { return g + 1; });
  backward(sum(y));
  EXPECT_EQ(grad_of(x), (Values{31, 31}));
}

TEST(RegisterHook, RunsHooksInTheirOrderEachOnWhatTheLastReturned) {
  const Tensor x = leaf(tensor({1.0}));
  register_hook(x, [](const Tensor& g) { return g + 1; });
  register_hook(x, [](const Tensor& g) { return g * 10; });
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (Values{20}));
}

TEST(RegisterHook, CallsOncePerBackward) {
  std::vector<Values> calls;
  const Tensor x = leaf(tensor({1.0}));
  register_hook(x, note(calls));
  backward(sum(x));
  backward(sum(x));
  EXPECT_EQ(calls, (std::vector<Values>{{1}, {1}}));  // not what was collected before
  EXPECT_EQ(grad_of(x), (Values{2}));
}

TEST(RegisterHook, SeesZerosWhereNothingFlowsAndKeepsThemStructural) {
  const double nan = std::nan("");
  std::vector<Values> calls;
  const Tensor x = leaf(tensor({1.0, 2.0, 3.0}));
  const Tensor y = x / tensor({1.0, 0.0, 1.0});
  register_hook(y, note(calls));
  register_hook(y, [](const Tensor& g) { return g * 2; });
  backward(ops::filled(y, tensor({true, false, true}), 0), {.gradient = tensor({1.0, nan, 1.0})});
  EXPECT_EQ(calls, (std::vector<Values>{{1, 0, 1}}));
  EXPECT_EQ(grad_of(x), (Values{2, 0, 2}));  // not 0 * inf
}

TEST(RegisterHook, MayFillAStructuralZero) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 1;
  register_hook(y, [](const Tensor&) { return tensor({5.0, 7.0}); });
  backward(sum(ops::filled(y, tensor({true, false}), 0)));
  EXPECT_EQ(grad_of(x), (Values{5, 7}));
}

TEST(RegisterHook, RunsForGradToo) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 3;
  register_hook(y, [](const Tensor& g) { return g * 10; });
  EXPECT_EQ(elements<double>(*grad({sum(y)}, {y}).front()), (Values{10, 10}));
  EXPECT_EQ(elements<double>(*grad({sum(y * 1)}, {x}).front()), (Values{30, 30}));
}

TEST(RegisterHook, RecordsWhatItDoesOnlyWithCreateGraph) {
  std::vector<bool> states;
  const Tensor x = leaf(tensor({3.0}));
  register_hook(x, [&](const Tensor& g) {
    states.push_back(is_recording());
    return g * x;
  });
  const Tensor y = sum(x);
  backward(y, {.retain_graph = true});
  EXPECT_FALSE(grad(x)->requires_grad());
  EXPECT_EQ(elements<double>(*grad({*grad({y}, {x}, {.create_graph = true}).front()}, {x}).front()),
            (Values{3}));  // d(1 · x)/dx = 1, times the hook's own x
  EXPECT_EQ(states, (std::vector<bool>{false, true, false}));
}

TEST(RegisterHook, CanBeRemoved) {
  std::vector<Values> calls;
  const Tensor x = leaf(tensor({1.0}));
  const HookHandle first = register_hook(x, note(calls));
  const HookHandle second = register_hook(x, note(calls));
  first.remove();
  first.remove();
  backward(sum(x));
  EXPECT_EQ(calls.size(), 1U);
  second.remove();
  backward(sum(x));
  EXPECT_EQ(calls.size(), 1U);
}

TEST(RegisterHook, MayRemoveItself) {
  std::optional<HookHandle> handle;
  int calls = 0;
  const Tensor x = leaf(tensor({1.0}));
  handle = register_hook(x, [&](const Tensor&) {
    ++calls;
    handle->remove();
    return std::nullopt;
  });
  backward(sum(x));
  backward(sum(x));
  EXPECT_EQ(calls, 1);
}

TEST(HookHandle, OutlivesItsTensor) {
  const auto kept = std::make_shared<int>(0);
  std::optional<HookHandle> handle;
  {
    const Tensor x = leaf(tensor({1.0}));
    handle = register_hook(x, [kept](const Tensor&) { return std::nullopt; });
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
  handle->remove();
}

TEST(RegisterHook, BelongsToTheTensorAsItWas) {
  std::vector<Values> calls;
  const Tensor x = leaf(tensor({1.0}));
  Tensor y = x * 1;
  register_hook(y, note(calls));
  y *= 5;
  backward(sum(y));
  EXPECT_EQ(calls, (std::vector<Values>{{5}}));
}

TEST(RegisterHook, RefusesAReplacementOfAnotherShape) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  register_hook(x, [](const Tensor&) { return ones({3}, DType::f64); });
  expect_error<ShapeError>([&] { backward(sum(x)); }, "hook: expected a gradient of shape [2]",
                           "got [3]");
  EXPECT_FALSE(grad(x).has_value());
}

TEST(RegisterHook, RefusesAReplacementOfAnotherDType) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  register_hook(x, [](const Tensor&) { return ones({2}, DType::f32); });
  expect_error<DTypeError>([&] { backward(sum(x)); }, "hook: expected a gradient of float64",
                           "got float32");
}

TEST(RegisterHook, LetsErrorsOutOfBackward) {
  const Tensor x = leaf(tensor({1.0}));
  const HookHandle handle = register_hook(
      x, [](const Tensor&) -> std::optional<Tensor> { throw std::domain_error("no"); });
  EXPECT_THROW(backward(sum(x)), std::domain_error);
  EXPECT_TRUE(is_recording());
  EXPECT_FALSE(grad(x).has_value());
  handle.remove();
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (Values{1}));
}

TEST(RegisterHook, MayRunBackwardItself) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor other = leaf(tensor({2.0}));
  register_hook(x, [&](const Tensor&) {
    const RecordingScope on(true);
    backward(sum(other * 3));
    return std::nullopt;
  });
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (Values{1}));
  EXPECT_EQ(grad_of(other), (Values{3}));
}

TEST(RegisterHook, NeedsARecord) {
  expect_error<StateError>([] { register_hook(ones({1}), [](const Tensor& g) { return g; }); },
                           "register_hook: expected a tensor that requires grad",
                           "got one without a record");
}

TEST(RetainGrad, KeepsTheGradientOfATensorThatIsNoLeaf) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 2;
  retain_grad(y);
  EXPECT_TRUE(retains_grad(y));
  const Tensor total = sum(y * y);
  backward(total, {.retain_graph = true});
  EXPECT_EQ(grad_of(y), (Values{4, 8}));
  EXPECT_EQ(grad_of(x), (Values{8, 16}));
  backward(total);
  EXPECT_EQ(grad_of(y), (Values{8, 16}));
}

TEST(RetainGrad, WritesZerosWhereNothingFlows) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = x * 2;
  retain_grad(y);
  backward(ops::filled(y, tensor({true, false}), 0), {.gradient = tensor({3.0, std::nan("")})});
  EXPECT_EQ(grad_of(y), (Values{3, 0}));
}

TEST(RetainGrad, StaysWithATensorThatIsChangedInPlace) {
  const Tensor x = leaf(tensor({1.0}));
  Tensor y = x * 1;
  retain_grad(y);
  y *= 5;
  backward(sum(y * 2));
  EXPECT_TRUE(retains_grad(y));
  EXPECT_EQ(grad_of(y), (Values{2}));
  EXPECT_EQ(grad_of(x), (Values{10}));
}

TEST(RetainGrad, IsNothingForALeaf) {
  const Tensor x = leaf(tensor({1.0}));
  retain_grad(x);
  EXPECT_FALSE(retains_grad(x));
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (Values{1}));
}

TEST(RetainGrad, IsNotTouchedByGrad) {
  const Tensor x = leaf(tensor({1.0}));
  const Tensor y = x * 2;
  retain_grad(y);
  grad({sum(y)}, {x});
  EXPECT_FALSE(grad(y).has_value());
}

TEST(RetainGrad, NeedsARecord) {
  expect_error<StateError>([] { retain_grad(ones({1})); },
                           "retain_grad: expected a tensor that requires grad",
                           "got one without a record");
}

}  // namespace
}  // namespace loup::autograd
