#include "loup/autograd/gradient.h"

#include <array>
#include <cassert>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/kernels/elementwise.h"
#include "loup/tensor/create.h"

namespace loup::autograd {

namespace {

using kernels::BinaryOp;

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor sum = empty_like(a);
  add_into(sum, a, b);
  if (is_recorded(a) || is_recorded(b)) {
    record("add", sum, {a, b}, {},
           [](const Saved&, const Gradient& g) -> std::vector<Gradient> { return {g, g}; });
  }
  return sum;
}

Tensor combined(BinaryOp op, const Tensor& a, const Tensor& b) {
  Tensor result = empty_like(a);
  const std::array inputs{a.array(), b.array()};
  kernels::elementwise(*kernels::find_boolean(op), result.shape(), result.array(), inputs);
  return result;
}

/// to = value where the mask is true, 0 elsewhere; `to` may be value.
void write_zeros(const Tensor& to, const Tensor& mask, const Tensor& value) {
  const Tensor zero = zeros({}, value.dtype());
  const std::array inputs{mask.array(), value.array(),
                          Array{zero.raw_data(), zero.dtype(), Dims::filled(value.ndim(), 0)}};
  kernels::elementwise(kernels::where_kernel(value.dtype()), value.shape(), to.array(), inputs);
}

/// As made by zero_gradient(): a single false, repeated.
bool is_zero(const Gradient& gradient) {
  if (!gradient.mask) return false;
  for (int i = 0; i < gradient.mask->ndim(); ++i) {
    if (gradient.mask->shape()[i] == 0) return false;
    if (gradient.mask->shape()[i] != 1 && gradient.mask->strides()[i] != 0) return false;
  }
  return *gradient.mask->raw_data() == std::byte{0};
}

std::optional<Tensor> either(const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
  if (!a || !b) return std::nullopt;
  return combined(BinaryOp::logical_or, *a, *b);
}

}  // namespace

void add_into(const Tensor& out, const Tensor& a, const Tensor& b) {
  assert(a.shape() == b.shape() && a.dtype() == b.dtype());
  const std::array inputs{a.array(), b.array()};
  kernels::elementwise(*kernels::find_binary(BinaryOp::add, compute_type(out.dtype())), out.shape(),
                       out.array(), inputs);
}

Gradient zero_gradient(const Shape& shape, DType dtype) {
  const Layout repeated{shape, Dims::filled(shape.size(), 0), 0};
  return {zeros({}, dtype).with_layout(repeated), zeros({}, DType::boolean).with_layout(repeated)};
}

bool is_sole(const Tensor& x) {
  return x.storage().use_count() == 1 && x.storage().is_writable() && !x.requires_grad() &&
         x.is_contiguous();
}

Tensor materialize(const Gradient& gradient) {
  if (!gradient.mask) return gradient.value;
  const Tensor& value = gradient.value;
  Tensor result = empty_like(value);
  write_zeros(result, *gradient.mask, value);
  if (is_recorded(value)) {
    record("materialize", result, {value}, {SavedTensor(*gradient.mask)},
           [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
             return {{g.value, both(g.mask, saved[0])}};
           });
  }
  return result;
}

Tensor materialize(Gradient&& gradient) {
  if (!gradient.mask) return std::move(gradient.value);
  if (!is_sole(gradient.value)) return materialize(std::as_const(gradient));
  write_zeros(gradient.value, *gradient.mask, gradient.value);
  return std::move(gradient.value);
}

Gradient accumulate(const Gradient& a, const Gradient& b) {
  return {add(materialize(a), materialize(b)), either(a.mask, b.mask)};
}

Gradient accumulate(Gradient&& a, Gradient&& b) {
  if (is_zero(a)) return std::move(b);
  if (is_zero(b)) return std::move(a);
  std::optional<Tensor> mask = either(a.mask, b.mask);
  const Tensor first = materialize(std::move(a));
  const Tensor second = materialize(std::move(b));
  if (is_sole(first) && !second.requires_grad()) {
    add_into(first, first, second);
    return {first, std::move(mask)};
  }
  if (is_sole(second) && !first.requires_grad()) {
    add_into(second, second, first);
    return {second, std::move(mask)};
  }
  return {add(first, second), std::move(mask)};
}

std::optional<Tensor> both(const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
  if (!a || !b) return a ? a : b;
  return combined(BinaryOp::logical_and, *a, *b);
}

}  // namespace loup::autograd
