#include "loup/ops/rules.h"

#include "loup/ops/reduce.h"
#include "loup/ops/views.h"

namespace loup::ops::rules {

using autograd::Gradient;

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
