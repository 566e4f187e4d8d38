#include "loup/ops/copy.h"

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/ops/in_place.h"
#include "loup/ops/rules.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

Tensor converted(const char* operation, const Tensor& x, DType dtype) {
  Tensor result = empty(x.shape(), dtype);
  kernels::copy(x.shape(), result.array(), x.array());
  if (autograd::is_recorded(x) && is_floating(dtype)) {
    autograd::record(operation, result, {x}, {},
                     [from = x.dtype()](const Saved&, const Gradient& g) -> std::vector<Gradient> {
                       return {{to(g.value, from), g.mask}};
                     });
  }
  return result;
}

Tensor broadcast_as(const char* operation, const char* what, const Tensor& x, const Shape& shape) {
  return x.with_layout(broadcast(operation, what, x.layout(), shape));
}

}  // namespace

Tensor clone(const Tensor& x) { return converted("clone", x, x.dtype()); }

Tensor contiguous(const Tensor& x) {
  return x.is_contiguous() ? x : converted("contiguous", x, x.dtype());
}

Tensor to(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : converted("to", x, dtype);
}

Tensor filled(const Tensor& x, const Tensor& mask, Scalar value) {
  if (mask.dtype() != DType::boolean) {
    throw DTypeError("filled: expected a mask of bool, got {}", mask.dtype());
  }
  const Tensor whole = broadcast_as("filled", "a mask", mask, x.shape());
  const Tensor rest = broadcast_as("filled", "a value", full({}, value, x.dtype()), x.shape());
  Tensor result = empty_like(x);
  kernels::select(x.shape(), result.array(), whole.array(), x.array(), rest.array());
  if (autograd::is_recorded(x)) {
    autograd::record("filled", result, {x}, {autograd::SavedTensor(whole)},
                     [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                       return {{g.value, autograd::both(g.mask, saved[0])}};
                     });
  }
  return result;
}

void copy_(Tensor& x, const Tensor& from) {
  const Layout repeated = broadcast("copy_", "a source", from.layout(), x.shape());
  // Parts of one storage may overlap: then the source is read whole before anything is written.
  if (from.storage() == x.storage()) return copy_(x, clone(from));
  prepare_in_place("copy_", x, {from});
  kernels::copy(x.shape(), x.array(), from.with_layout(repeated).array());
  if (!is_floating(x.dtype())) return;
  if (autograd::is_recorded(x) || autograd::is_recorded(from)) {
    autograd::record_in_place(
        "copy_", x, {from}, {},
        [shape = from.shape(), dtype = from.dtype()](const Saved& saved, const Gradient& g) {
          std::vector<Gradient> result{autograd::zero_gradient(g.value.shape(), g.value.dtype()),
                                       {}};
          if (saved.needs(1)) result[1] = rules::expand(shape, {to(g.value, dtype), g.mask});
          return result;
        });
  }
}

void fill_(Tensor& x, Scalar value) {
  prepare_in_place("fill_", x);
  const Tensor source = broadcast_as("fill_", "a value", full({}, value, x.dtype()), x.shape());
  kernels::copy(x.shape(), x.array(), source.array());
  if (autograd::is_recorded(x)) {
    autograd::record_in_place("fill_", x, {}, {}, [](const Saved&, const Gradient& g) {
      return std::vector<Gradient>{autograd::zero_gradient(g.value.shape(), g.value.dtype())};
    });
  }
}

}  // namespace loup::ops
