#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

// Gradients of functions that are linear around every x, up to a constant: those that only move
// elements, or add them up.

namespace loup::test {

struct LinearFunction {
  const char* name;
  Shape shape;  // of x
  std::function<Tensor(const Tensor&)> f;

  friend std::ostream& operator<<(std::ostream& stream, const LinearFunction& function) {
    return stream << function.name;
  }
};

/// How much every element of f(x) changes with every element of x, by differences.
class Jacobian {
 public:
  Jacobian(const LinearFunction& function, const Tensor& x) {
    constexpr double step = 0x1p-20;  // exact in sums, and too small to change an order
    const autograd::RecordingScope scope(false);
    for_each_index(x.shape(), [&](const Dims& index) {
      const double value = x.at<double>(index);
      const auto moved = [&](double by) {
        const Tensor changed = ops::clone(x);
        changed.set(index, value + by);
        return elements<double>(function.f(changed));
      };
      std::vector<double> column = moved(step);
      const std::vector<double> down = moved(-step);
      for (std::size_t i = 0; i < column.size(); ++i) column[i] = (column[i] - down[i]) / step / 2;
      columns_.push_back(std::move(column));
    });
  }

  /// What the elements of x get when those of f(x) have `weights`.
  std::vector<double> transposed(const std::vector<double>& weights) const {
    std::vector<double> result;
    for (const auto& column : columns_) {
      double sum = 0;
      for (std::size_t i = 0; i < column.size(); ++i) sum += column[i] * weights[i];
      result.push_back(sum);
    }
    return result;
  }
  /// How f(x) moves when x moves by `direction`.
  std::vector<double> applied(const std::vector<double>& direction, std::size_t size) const {
    std::vector<double> result(size);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      for (std::size_t i = 0; i < size; ++i) result[i] += columns_[j][i] * direction[j];
    }
    return result;
  }

 private:
  std::vector<std::vector<double>> columns_;
};

inline void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-8) << "at " << i;
}

/// A number computed from `y` whose gradient has `weights` where `mask` is true, and NaN under it.
inline Tensor spoiled(const Tensor& y, const Tensor& weights, const Tensor& mask) {
  Tensor result = zeros({}, y.dtype());
  autograd::record(
      "spoiled", result, {y}, {}, [=](const autograd::Saved&, const autograd::Gradient&) {
        return std::vector<autograd::Gradient>{{ops::filled(weights, mask, nan), mask}};
      });
  return result;
}

/// For a suite over a list of functions.
class LinearFunctions : public testing::TestWithParam<LinearFunction> {
 protected:
  Tensor random(const Shape& shape) { return random_tensor(random_, shape, DType::f64); }
  Random random_;
};

}  // namespace loup::test
