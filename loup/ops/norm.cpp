#include "loup/ops/norm.h"

#include <cmath>

#include "loup/base/error.h"

namespace loup::ops {

namespace {

using kernels::ReduceOp;

constexpr ReduceSpec norm_spec(ReduceOp kernel, ReduceRule backward) {
  return {.name = "norm",
          .summary = "",
          .kernel = kernel,
          .types = ReduceTypes::real,
          .backward = backward,
          .saves_input = true};
}
constexpr ReduceSpec nonzeros = norm_spec(ReduceOp::norm_0, nullptr);
constexpr ReduceSpec powers = norm_spec(ReduceOp::norm_1, rules::norm);
constexpr ReduceSpec squares = norm_spec(ReduceOp::norm_2, rules::norm);
constexpr ReduceSpec most = norm_spec(ReduceOp::norm_most, rules::norm);
constexpr ReduceSpec least = norm_spec(ReduceOp::norm_least, rules::norm);

const ReduceSpec& spec_of(double ord) {
  if (std::isinf(ord)) return ord > 0 ? most : least;
  if (ord == 0) return nonzeros;
  return ord == 2 ? squares : powers;
}

}  // namespace

Tensor norm(const Tensor& x, double ord, const Dims& dims, const ReduceArguments& arguments) {
  if (std::isnan(ord)) throw ValueError("norm: expected an order that is a number, got nan");
  const std::uint32_t reduced = dim_bits("norm", dims, x.ndim());
  for (int i = 0; i < x.ndim(); ++i) {
    const bool is_reduced = (reduced >> static_cast<unsigned>(i) & 1U) != 0;
    if (is_reduced && x.shape()[i] == 0 && (ord < 0 || std::isinf(ord))) {
      throw ShapeError("norm: expected elements along dim {} for order {}, got size 0", i, ord);
    }
  }
  ReduceArguments all = arguments;
  all.parameter = ord;
  return reduce(spec_of(ord), x, dims, all);
}

}  // namespace loup::ops
