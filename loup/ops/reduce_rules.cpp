#include <cmath>

#include "loup/ops/copy.h"
#include "loup/ops/elementwise.h"
#include "loup/ops/join.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"
#include "loup/ops/rules.h"
#include "loup/ops/scan.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops::rules {

using autograd::Gradient;

namespace {

bool reduces(const ReduceRecord& call, int dim) {
  return (call.reduced >> static_cast<unsigned>(dim) & 1U) != 0;
}

Dims reduced_dims(const ReduceRecord& call) {
  Dims dims;
  for (int i = 0; i < call.shape.size(); ++i) {
    if (reduces(call, i)) dims.push_back(i);
  }
  return dims;
}

/// Gives the output of a reduction the dims that it lost, with size 1.
Tensor with_dims(const ReduceRecord& call, const Tensor& output) {
  Tensor result = output;
  if (!call.keepdim) {
    for (int i = 0; i < call.shape.size(); ++i) {
      if (reduces(call, i)) result = unsqueeze(result, i);
    }
  }
  return result;
}

/// A gradient of the input from its value, given that of the output.
Gradient spread(const ReduceRecord& call, const Tensor& value, const Gradient& from) {
  Gradient result{ops::expand(to(value, call.dtype), call.shape), call.mask};
  if (from.mask) {
    const Tensor live = ops::expand(with_dims(call, *from.mask), call.shape);
    result.mask = autograd::both(call.mask, live);
  }
  return result;
}

/// Reduces what has the input's shape, by the call's dims and mask; dims stay.
Tensor again(const ReduceRecord& call, const ReduceSpec& spec, const Tensor& x) {
  // 0-d tensors have no dims to keep, and none to reduce.
  return reduce(spec, x, reduced_dims(call),
                {.mask = call.mask ? &*call.mask : nullptr, .keepdim = true});
}

/// The gradient of the output with the dims of the input, in a type that holds counts as well.
Tensor arrived(const ReduceRecord& call, const Gradient& gradient) {
  const DType type = gradient.value.dtype();
  return with_dims(call, to(gradient.value, item_bytes(type) < 4 ? DType::f32 : type));
}

/// How many elements counted; dims stay.
Tensor counts(const ReduceRecord& call, DType dtype) {
  if (!call.mask) {
    std::int64_t all = 1;
    for (const std::int64_t dim : reduced_dims(call)) all *= call.shape[static_cast<int>(dim)];
    return full({}, all, dtype);
  }
  return to(
      count("backward", *call.mask, reduced_dims(call), {.mask = &*call.mask, .keepdim = true}),
      dtype);
}

/// Each of the elements where `attains` gets an equal part of g.
Tensor shared(const ReduceRecord& call, const Tensor& attains, const Tensor& g) {
  const Tensor ties = to(again(call, sum_spec, attains), g.dtype());
  return where(attains, g / ties, 0);
}

}  // namespace

Gradient sum(const ReduceRecord& call, const Gradient& gradient) {
  return spread(call, with_dims(call, gradient.value), gradient);
}

Gradient mean(const ReduceRecord& call, const Gradient& gradient) {
  const Tensor g = arrived(call, gradient);
  return spread(call, g / counts(call, g.dtype()), gradient);
}

Gradient prod(const ReduceRecord& call, const Gradient& gradient) {
  // Of one line the product of all others: of those before times of those behind. Never the product
  // divided by the element, which may be 0, and the product may have overflowed.
  if (call.input.size() == 0) return spread(call, arrived(call, gradient), gradient);
  const Tensor x = call.mask ? where(*call.mask, call.input, 1) : call.input;
  Tensor factors = ones_like(x);
  Tensor rest = x;  // with every dim the product of what was reduced before
  for (const std::int64_t dim : reduced_dims(call)) {
    const auto others = [&](bool reversed) {
      const std::int64_t size = rest.shape()[static_cast<int>(dim)];
      const Tensor one = ones_like(narrow(rest, dim, 0, 1));
      const Tensor most = narrow(rest, dim, reversed ? 1 : 0, size - 1);
      const Tensor products = scan(cumprod_spec, most, dim, {}, reversed);
      const Tensor parts[] = {reversed ? products : one, reversed ? one : products};
      return cat(parts, dim);
    };
    factors = factors * (others(false) * others(true));
    rest = reduce(prod_spec, rest, {dim}, {.keepdim = true});
  }
  return spread(call, arrived(call, gradient) * factors, gradient);
}

Gradient extreme(const ReduceRecord& call, const Gradient& gradient) {
  const Tensor x = call.input.detach();
  const Tensor y = with_dims(call, call.output.detach());
  const Tensor attains = logical_or(x == y, logical_and(isnan(x), isnan(y)));
  return spread(call, shared(call, attains, arrived(call, gradient)), gradient);
}

namespace {

/// slope times the distance from the mean, where there are more elements than the correction.
Gradient from_mean(const ReduceRecord& call, const Tensor& slope, const Tensor& is_defined,
                   const Gradient& gradient) {
  const Tensor distance = call.input - again(call, mean_spec, call.input);
  return spread(call, where(is_defined, slope * distance, 0), gradient);
}

}  // namespace

Gradient var(const ReduceRecord& call, const Gradient& gradient) {
  const Tensor g = arrived(call, gradient);
  const Tensor divisor = counts(call, g.dtype()) - call.parameter;
  return from_mean(call, g * 2 / divisor, divisor > 0, gradient);
}

Gradient std_of(const ReduceRecord& call, const Gradient& gradient) {
  const Tensor g = arrived(call, gradient);
  const Tensor y = with_dims(call, call.output);
  const Tensor divisor = counts(call, g.dtype()) - call.parameter;
  const Tensor is_defined = logical_and(divisor > 0, y.detach() != 0);
  return from_mean(call, g / (divisor * where(is_defined, y, 1)), is_defined, gradient);
}

Gradient log_sum_exp(const ReduceRecord& call, const Gradient& gradient) {
  const Tensor g = arrived(call, gradient);
  const Tensor y = with_dims(call, call.output);
  const Tensor is_infinite = isinf(y.detach());
  if (!any("logsumexp", is_infinite, {}, false).item<bool>()) {
    return spread(call, g * ops::exp(call.input - y), gradient);
  }
  // Of infinite elements each has a part; where all are -inf, or none counts, nobody has.
  const Tensor is_most = logical_and(call.input.detach() == infinity, y.detach() == infinity);
  const Tensor part = shared(call, is_most, g);
  const Tensor usual = g * ops::exp(call.input - where(is_infinite, 0, y));
  return spread(call, where(is_infinite, where(is_most, part, 0), usual), gradient);
}

Gradient norm(const ReduceRecord& call, const Gradient& gradient) {
  const double order = call.parameter;
  const Tensor g = arrived(call, gradient);
  const Tensor y = with_dims(call, call.output);
  const Tensor& x = call.input;
  if (std::isinf(order)) {
    const Tensor size = ops::abs(x.detach());
    const Tensor attains =
        logical_or(size == y.detach(), logical_and(isnan(size), isnan(y.detach())));
    const Tensor part = shared(call, attains, g);
    return spread(call, where(y.detach() == 0, 0, part * sign(x)), gradient);
  }
  if (order == 1) return spread(call, g * sign(x), gradient);
  const Tensor is_zero = logical_or(y.detach() == 0, x.detach() == 0);
  const Tensor ratio = x / where(y.detach() == 0, 1, y);
  if (order == 2) return spread(call, where(is_zero, 0, g * ratio), gradient);
  const Tensor size = where(is_zero, 1, ops::abs(ratio));
  return spread(call, where(is_zero, 0, g * sign(x) * ops::pow(size, order - 1)), gradient);
}

}  // namespace loup::ops::rules
