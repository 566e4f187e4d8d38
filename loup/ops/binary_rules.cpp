#include "loup/ops/binary_rules.h"

#include <numbers>

#include "loup/ops/operators.h"
#include "loup/ops/select.h"
#include "loup/tensor/create.h"

namespace loup::ops::rules {

namespace {

using Call = ElementwiseCall;

/// The gradient goes to the operand that was chosen; equal ones get half of it each.
Pair chosen(const Call& call, const Tensor& g, const Tensor& takes_first, const Tensor& is_tie) {
  const Tensor part = where(is_tie, 0.5 * g, g);
  Pair result;
  if (call.needs(0)) result[0] = where(logical_or(takes_first, is_tie), part, 0);
  if (call.needs(1)) result[1] = where(logical_and(takes_first, logical_not(is_tie)), 0, part);
  return result;
}

Pair extreme_of_two(const Call& call, const Tensor& g, bool is_max, bool nan_wins) {
  const Tensor& x = call.input(0);
  const Tensor& y = call.input(1);
  const Tensor beats = is_max ? x > y : x < y;
  const Tensor by_nan = nan_wins ? isnan(x) : isnan(y);
  return chosen(call, g, logical_or(beats, by_nan), x == y);
}

Pair log_sum_of(const Call& call, const Tensor& g, double scale) {
  return log_sum({call.input(0), call.input(1)}, {call.needs(0), call.needs(1)}, g, scale);
}

}  // namespace

/// The share of x in a sum of exponentials; equal infinities share.
Pair log_sum(const Pair& operands, std::array<bool, 2> needs, const Tensor& g, double scale) {
  const auto& [x, y] = operands;
  const Tensor is_tie = logical_and(x == y, isinf(x));
  const Tensor is_nothing = logical_and(is_tie, x < 0);
  const auto share = [&](const Tensor& a, const Tensor& b) {
    const Tensor part = where(is_tie, 0.5, ops::sigmoid(scale * (a - b)));
    return g * where(is_nothing, 0, part);
  };
  Pair result;
  if (needs[0]) result[0] = share(x, y);
  if (needs[1]) result[1] = share(y, x);
  return result;
}
Pair add(const Call& /*call*/, const Tensor& g) { return {g, g}; }
Pair sub(const Call& call, const Tensor& g) { return {g, call.needs(1) ? -g : Tensor()}; }
Pair mul(const Call& call, const Tensor& g) {
  return {call.needs(0) ? g * call.input(1) : Tensor(),
          call.needs(1) ? g * call.input(0) : Tensor()};
}
Pair div(const Call& call, const Tensor& g) {
  const Tensor& y = call.input(1);
  const Tensor first = g / y;
  return {first, call.needs(1) ? -(first * (call.input(0) / y)) : Tensor()};
}
Pair floor_divide(const Call& /*call*/, const Tensor& g) { return {zeros_like(g), zeros_like(g)}; }
Pair fmod(const Call& call, const Tensor& g) {
  if (!call.needs(1)) return {g, Tensor()};
  return {g, -(g * trunc_divide(call.input(0).detach(), call.input(1).detach()))};
}
Pair remainder(const Call& call, const Tensor& g) {
  if (!call.needs(1)) return {g, Tensor()};
  return {g, -(g * ops::floor_divide(call.input(0).detach(), call.input(1).detach()))};
}
Pair pow(const Call& call, const Tensor& g) {
  const Tensor& x = call.input(0);
  const Tensor& y = call.input(1);
  Pair result;
  // A power of 0 is flat, although 0 * x^-1 would be NaN at 0.
  if (call.needs(0)) result[0] = g * where(y == 0, 0, y * ops::pow(x, y - 1));
  if (call.needs(1)) {
    const Tensor is_flat = logical_and(x == 0, y >= 0);
    result[1] = g * where(is_flat, 0, call.output() * ops::log(x));
  }
  return result;
}
Pair atan2(const Call& call, const Tensor& g) {
  const Tensor& y = call.input(0);
  const Tensor& x = call.input(1);
  const Tensor scaled = g / (ops::square(x) + ops::square(y));
  return {scaled * x, call.needs(1) ? -(scaled * y) : Tensor()};
}
Pair maximum(const Call& call, const Tensor& g) { return extreme_of_two(call, g, true, true); }
Pair minimum(const Call& call, const Tensor& g) { return extreme_of_two(call, g, false, true); }
Pair fmax(const Call& call, const Tensor& g) { return extreme_of_two(call, g, true, false); }
Pair fmin(const Call& call, const Tensor& g) { return extreme_of_two(call, g, false, false); }
Pair logaddexp(const Call& call, const Tensor& g) { return log_sum_of(call, g, 1); }
Pair logaddexp2(const Call& call, const Tensor& g) {
  return log_sum_of(call, g, std::numbers::ln2);
}

}  // namespace loup::ops::rules
