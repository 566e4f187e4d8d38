#include "loup/ops/rules.h"

#include "loup/ops/copy.h"
#include "loup/ops/reduce.h"
#include "loup/ops/views.h"

namespace loup::ops::rules {

using autograd::Gradient;

namespace {

/// Repeats the output of a reduction to the shape of its input.
Tensor spread(const ReduceRecord& call, const Tensor& output) {
  Tensor result = output;
  if (!call.keepdim) {
    for (int i = 0; i < call.shape.size(); ++i) {
      if ((call.reduced >> static_cast<unsigned>(i) & 1U) != 0) result = unsqueeze(result, i);
    }
  }
  return ops::expand(result, call.shape);
}

}  // namespace

Gradient sum(const ReduceRecord& call, const Gradient& gradient) {
  Gradient result{spread(call, to(gradient.value, call.dtype)), call.mask};
  if (gradient.mask) result.mask = autograd::both(call.mask, spread(call, *gradient.mask));
  return result;
}

Gradient expand(const Shape& shape, const Gradient& gradient) {
  const Shape& from = gradient.value.shape();
  const int added = from.size() - shape.size();
  Dims repeated;
  for (int i = 0; i < from.size(); ++i) {
    if (i < added || (shape[i - added] == 1 && from[i] != 1)) repeated.push_back(i);
  }
  if (repeated.empty()) return gradient;
  const Tensor* mask = gradient.mask ? &*gradient.mask : nullptr;
  const Tensor total = reduce(sum_spec, gradient.value, repeated, {.mask = mask, .keepdim = true});
  Gradient result{reshape(total, shape), {}};
  if (mask != nullptr) result.mask = reshape(any("expand", *mask, repeated, true), shape);
  return result;
}

}  // namespace loup::ops::rules
