#include "loup/autograd/gradient.h"

#include "loup/autograd/node.h"
#include "loup/kernels/copy.h"
#include "loup/tensor/create.h"

namespace loup::autograd {

namespace {

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor sum = empty_like(a);
  kernels::add(a.shape(), sum.array(), a.array(), b.array());
  if (is_recorded(a) || is_recorded(b)) {
    record("add", sum, {a, b}, {},
           [](const Saved&, const Gradient& g) -> std::vector<Gradient> { return {g, g}; });
  }
  return sum;
}

}  // namespace

Gradient zero_gradient(const Shape& shape, DType dtype) {
  const Layout repeated{shape, Dims::filled(shape.size(), 0), 0};
  return {zeros({}, dtype).with_layout(repeated), zeros({}, DType::boolean).with_layout(repeated)};
}

Tensor materialize(const Gradient& gradient) {
  if (!gradient.mask) return gradient.value;
  const Tensor& value = gradient.value;
  const Tensor& mask = *gradient.mask;
  Tensor result = empty_like(value);
  Tensor zero = zeros({}, value.dtype());
  const Array zeros_everywhere{zero.raw_data(), zero.dtype(), Dims::filled(value.ndim(), 0)};
  kernels::select(value.shape(), result.array(), mask.array(), value.array(), zeros_everywhere);
  if (is_recorded(value)) {
    record("materialize", result, {value}, {SavedTensor(mask)},
           [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
             return {{g.value, both(g.mask, saved[0])}};
           });
  }
  return result;
}

Gradient accumulate(const Gradient& a, const Gradient& b) {
  Gradient sum{add(materialize(a), materialize(b)), {}};
  if (a.mask && b.mask) {
    Tensor either = empty_like(*a.mask);
    kernels::add(either.shape(), either.array(), a.mask->array(), b.mask->array());
    sum.mask = either;
  }
  return sum;
}

std::optional<Tensor> both(const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
  if (!a || !b) return a ? a : b;
  Tensor result = empty_like(*a);
  kernels::logical_and(result.shape(), result.array(), a->array(), b->array());
  return result;
}

}  // namespace loup::autograd
