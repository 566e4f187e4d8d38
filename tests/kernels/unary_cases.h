#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "loup/base/dtype.h"
#include "loup/kernels/elementwise.h"

namespace loup::test {

/// A function of one real number and how exact its kernels are.
struct RealFunction {
  std::string name;
  kernels::UnaryOp op;
  long double (*reference)(long double);
  // The largest error on any instruction set, in units of the last place.
  double f32_bound;
  double f64_bound;
  std::vector<double> parameters = {};
  // Where the bounds hold. Outside, special values are still what they should be.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

const std::vector<RealFunction>& real_functions();

/// The kernel of an operator for a compute type, null when there is none.
inline const kernels::ElementwiseKernel* unary(kernels::UnaryOp op, ComputeType type) {
  using namespace kernels;
  for (const auto find :
       {unary_arithmetic, unary_exponential, unary_trigonometric, unary_special}) {
    if (const ElementwiseKernel* const kernel = find(op, type)) return kernel;
  }
  return nullptr;
}

/// What a kernel makes of `x`.
template <class Out, class In>
std::vector<Out> run(const kernels::ElementwiseKernel& kernel, std::span<const In> x,
                     const std::vector<double>& parameters = {}) {
  // Not a vector<bool>, whose elements are no bytes.
  std::vector<Out> result(x.size());
  const void* const inputs[] = {x.data()};
  kernel.run(inputs, result.data(), static_cast<std::int64_t>(x.size()), parameters.data());
  return result;
}

}  // namespace loup::test
