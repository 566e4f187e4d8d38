#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "loup/ops/operators.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

// Gradients of elementwise operators by finite differences, and what a mask hides of them.

namespace loup::test {

using Doubles = std::vector<double>;
using Operator = std::function<Tensor(const std::vector<Tensor>&)>;

/// The operators of a list that have a rule.
template <class List>
auto differentiable(const List& ops) {
  std::vector<std::decay_t<decltype(ops[0])>> result;
  std::ranges::copy_if(ops, std::back_inserter(result),
                       [](const auto* op) { return op->backward != nullptr; });
  return result;
}

inline Tensor of(const Doubles& values) {
  const Tensor result = empty({std::ssize(values)}, DType::f64);
  std::copy(values.begin(), values.end(), result.data<double>().begin());
  return result;
}

/// The gradients of the sum of `f`, one list for each input; of `f` under a mask, if there is one.
inline std::vector<Doubles> gradients_of(const Operator& f, const std::vector<Doubles>& inputs,
                                         const Tensor* mask = nullptr) {
  std::vector<Tensor> leaves;
  for (const Doubles& values : inputs) leaves.push_back(leaf(of(values)));
  autograd::backward(sum(f(leaves), {}, mask));
  std::vector<Doubles> result;
  for (const Tensor& x : leaves) result.push_back(grad_of(x));
  return result;
}

/// The elements of input `k` moved by `step`.
inline std::vector<Doubles> moved(std::vector<Doubles> inputs, std::size_t k, double step) {
  for (double& value : inputs[k]) value += step;
  return inputs;
}

inline void expect_close(const Doubles& got, const Doubles& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << "at " << i;
  }
}

/// Elements do not meet, so all of an input may move at once.
inline void expect_differences(const Operator& f, const std::vector<Doubles>& inputs) {
  constexpr double step = 1e-6;
  const auto values = [&](const std::vector<Doubles>& at) {
    std::vector<Tensor> tensors;
    for (const Doubles& list : at) tensors.push_back(of(list));
    return elements<double>(f(tensors));
  };
  const std::vector<Doubles> gradients = gradients_of(f, inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Doubles slope = values(moved(inputs, k, step));
    const Doubles below = values(moved(inputs, k, -step));
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = (slope[i] - below[i]) / (2 * step);
    SCOPED_TRACE("input " + std::to_string(k));
    expect_close(gradients[k], slope, 1e-7);
  }
}

/// With NaN, inf and poles at every second place, hidden by a mask: the gradients are 0 there, and
/// elsewhere as without them.
inline void expect_nothing_leaks(const Operator& f, const std::vector<Doubles>& inputs) {
  const Doubles garbage = {nan, inf, -inf, 0, -1, 1, -5, 1e300};
  const std::size_t count = inputs[0].size();
  Tensor mask = empty({static_cast<std::int64_t>(count)}, DType::boolean);
  for (std::size_t i = 0; i < count; ++i) mask.data<bool>()[i] = i % 2 == 1;
  const std::vector<Doubles> clean = gradients_of(f, inputs, &mask);
  for (std::size_t bad = 0; bad < inputs.size(); ++bad) {
    std::vector<Doubles> dirty = inputs;
    for (std::size_t i = 0; i < count; i += 2) dirty[bad][i] = garbage[i / 2 % garbage.size()];
    EXPECT_EQ(gradients_of(f, dirty, &mask), clean) << "garbage in input " << bad;
  }
  for (const Doubles& gradient : clean) {
    for (std::size_t i = 0; i < count; i += 2) EXPECT_EQ(gradient[i], 0);
  }
}

/// `count` numbers spread over [low, high].
inline Doubles spread(double low, double high, int count = 16) {
  Doubles result;
  for (int i = 0; i < count; ++i) result.push_back(low + (high - low) * (i * 7 % count) / count);
  return result;
}

}  // namespace loup::test
