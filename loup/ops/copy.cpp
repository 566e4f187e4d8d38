#include "loup/ops/copy.h"

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
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

/// In-place writes are not recorded, so they must not touch what is.
void prepare_in_place(const char* operation, const Tensor& x) {
  if (autograd::is_recorded(x)) {
    throw StateError(
        "{}: expected a tensor outside of the gradient record, got one that requires "
        "grad; detach it first",
        operation);
  }
  const bool is_empty = x.size() == 0;
  for (int i = 0; i < x.ndim(); ++i) {
    if (!is_empty && x.strides()[i] == 0 && x.shape()[i] > 1) {
      throw ValueError(
          "{}: expected a tensor that holds each element once, got one expanded along "
          "dim {}; clone it first",
          operation, i);
    }
  }
  x.prepare_write(operation);
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

void copy_(const Tensor& x, const Tensor& from) {
  if (autograd::is_recorded(from)) {
    throw StateError(
        "copy_: expected a source outside of the gradient record, got one that "
        "requires grad; detach it first");
  }
  const Tensor repeated = broadcast_as("copy_", "a source", from, x.shape());
  prepare_in_place("copy_", x);
  // Parts of one storage may overlap: then the source is read whole before anything is written.
  const Tensor source = from.storage() == x.storage() ? clone(repeated) : repeated;
  kernels::copy(x.shape(), x.array(), source.array());
}

void fill_(const Tensor& x, Scalar value) {
  prepare_in_place("fill_", x);
  const Tensor source = broadcast_as("fill_", "a value", full({}, value, x.dtype()), x.shape());
  kernels::copy(x.shape(), x.array(), source.array());
}

}  // namespace loup::ops
