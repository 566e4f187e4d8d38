#include "loup/ops/layer_norm.h"

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"

namespace loup::ops {

namespace {

/// The last dims of `x`; ShapeError unless they have `shape`.
Dims normalized_dims(const Tensor& x, const Shape& shape) {
  if (shape.empty()) {
    throw ShapeError("layer_norm: expected a normalized shape of at least one dim, got {}", shape);
  }
  const int first = x.ndim() - shape.size();
  Dims dims;
  bool fits = first >= 0;
  for (int i = 0; fits && i < shape.size(); ++i) {
    fits = x.shape()[first + i] == shape[i];
    dims.push_back(first + i);
  }
  if (!fits) {
    throw ShapeError("layer_norm: expected an input whose last dims are {}, got shape {}", shape,
                     x.shape());
  }
  return dims;
}

void check_shape(const char* what, const std::optional<Tensor>& x, const Shape& shape) {
  if (x && x->shape() != shape) {
    throw ShapeError("layer_norm: expected a {} of shape {}, got {}", what, shape, x->shape());
  }
}

/// x = op(x, y), in the memory of x where no record needs it.
void combine(const Binary& op, Tensor& x, const Tensor& y) {
  if (autograd::is_recorded(x) || autograd::is_recorded(y)) {
    x = op(x, y);
  } else {
    op.in_place(x, y);
  }
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const LayerNormOptions& options) {
  if (!is_floating(x.dtype())) {
    throw DTypeError("layer_norm: expected floating elements, got {}", x.dtype());
  }
  const Dims dims = normalized_dims(x, normalized_shape);
  check_shape("weight", options.weight, normalized_shape);
  check_shape("bias", options.bias, normalized_shape);
  std::optional<Tensor> mask;
  if (options.mask) mask = to(mask_as("layer_norm", x, *options.mask), DType::boolean);

  const DType computed = storage_type(compute_type(x.dtype()));
  // Where x is recorded the parts of its gradient are added before they are rounded.
  const Tensor elements = autograd::is_recorded(x) ? to(x, computed) : x;
  const ReduceArguments arguments{
      .mask = mask ? &*mask : nullptr, .keepdim = true, .dtype = computed};
  const Tensor variance = reduce(var_spec, elements, dims, arguments);
  Tensor result = elements - reduce(mean_spec, elements, dims, arguments);
  combine(mul, result, rsqrt(variance + options.eps));
  if (options.weight) combine(mul, result, to(*options.weight, computed));
  if (options.bias) combine(add, result, to(*options.bias, computed));
  result = to(result, x.dtype());
  return mask ? filled(result, *mask, 0) : result;
}

}  // namespace loup::ops
