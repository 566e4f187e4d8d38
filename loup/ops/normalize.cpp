#include "loup/ops/normalize.h"

#include <cmath>
#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/lines.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

/// The dtype of a result that is always floating.
DType floating_result(const char* operation, const Tensor& x, std::optional<DType> dtype) {
  if (dtype && !is_floating(*dtype)) {
    throw DTypeError("{}: expected a floating dtype, got {}", operation, *dtype);
  }
  if (!dtype && !is_floating(x.dtype())) {
    throw DTypeError("{}: expected floating elements, got {}; give dtype", operation, x.dtype());
  }
  return dtype.value_or(x.dtype());
}

std::uint32_t bit_of(const Tensor& x, int dim) {
  return x.ndim() == 0 ? 0 : 1U << static_cast<unsigned>(dim);
}

/// What the rules of the softmax family compute, read and written once: for gradients of which
/// nobody will ask a gradient.
Tensor softmax_gradient(kernels::SoftmaxOp op, double sign, const SoftmaxRecord& call,
                        const Tensor& g) {
  Tensor out = empty(g.shape(), call.output.dtype());
  if (out.size() == 0) return out;
  const Tensor* const mask = call.mask ? &*call.mask : nullptr;
  run_lines(kernels::softmax_gradient_kernel(op, compute_type(out.dtype())), bit_of(g, call.dim),
            {g, mask, out.dtype(), out, &call.output}, &sign);
  return out;
}

Tensor sum_along(const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask) {
  return reduce(sum_spec, x, dims, {.mask = mask ? &*mask : nullptr, .keepdim = true});
}

}  // namespace

Tensor softmax_lines(const SoftmaxSpec& spec, const Tensor& x, std::int64_t dim,
                     const LineArguments& arguments) {
  const int along = normalize_dim(spec.name, dim, x.ndim());
  const DType dtype = floating_result(spec.name, x, arguments.dtype);
  const TensorRef mask = mask_as(spec.name, x, arguments.mask);
  Tensor out = empty(x.shape(), dtype);
  if (out.size() != 0) {
    run_lines(kernels::softmax_kernel(spec.kernel, dtype), bit_of(x, along),
              {x, mask.get(), dtype, out}, &spec.sign);
  }
  if (!autograd::is_recorded(x)) return out;
  std::vector<SavedTensor> saved;
  if (mask) saved.emplace_back(to(*mask, DType::boolean));
  autograd::record(
      spec.name, out, {x}, std::move(saved),
      [backward = spec.backward, along, is_masked = static_cast<bool>(mask), from = x.dtype()](
          const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        const SoftmaxRecord call{along, is_masked ? std::optional(kept[0]) : std::nullopt,
                                 kept.output()};
        const Tensor value = backward(call, autograd::materialize(g));
        return {rules::along_lines(to(value, from), call.mask, along, g)};
      },
      autograd::Output::saved);
  return out;
}

namespace {

/// What a line's divisor is as a function of its elements.
struct NormOf {
  Tensor length;
  Tensor slope;  // its derivative by each element
};

NormOf norm_of(const Tensor& x, double ord, const Dims& dims, const std::optional<Tensor>& mask) {
  const Tensor size = abs(x);
  if (ord == 2) {
    const Tensor length = sqrt(sum_along(x * x, dims, mask));
    return {length, x / length};
  }
  if (ord == 1) return {sum_along(size, dims, mask), sign(x)};
  if (ord == 0) return {sum_along(to(x.detach() != 0, x.dtype()), dims, mask), zeros_like(x)};
  if (std::isinf(ord)) {
    // Elements that attain the norm are exactly 1 when divided by it.
    const Tensor ratio = normalize_lines(x.detach(), ord, dims,
                                         {.eps = 0, .mask = mask ? &*mask : nullptr, .dtype = {}});
    const Tensor attains = to(abs(ratio) == 1, x.dtype());
    const Tensor share = attains / sum_along(attains, dims, mask);
    return {sum_along(size * share, dims, mask), sign(x) * share};
  }
  const Tensor length = pow(sum_along(pow(size, ord), dims, mask), 1 / ord);
  const Tensor slope = sign(x) * pow(size / length, ord - 1);
  return {length, where(x.detach() == 0, 0, slope)};
}

Tensor normalize_gradient(const Tensor& given, double ord, const Dims& dims, double eps,
                          const std::optional<Tensor>& mask, const Tensor& g) {
  const Tensor x = mask ? where(*mask, given, 1) : given;
  const NormOf norm = norm_of(x, ord, dims, mask);
  const Tensor is_long = norm.length.detach() > eps;
  const Tensor divisor = where(is_long, norm.length, eps);
  const Tensor shrunk = sum_along(g * x, dims, mask) / (divisor * divisor) * norm.slope;
  return g / divisor - where(is_long, shrunk, 0);
}

}  // namespace

Tensor normalize_lines(const Tensor& x, double ord, const Dims& dims,
                       const NormalizeArguments& arguments) {
  const std::uint32_t bits = dim_bits("normalize", dims, x.ndim());
  const DType dtype = floating_result("normalize", x, arguments.dtype);
  if (is_floating(x.dtype()) && promote(x.dtype(), dtype) != dtype) {
    throw DTypeError("normalize: expected a dtype that holds {}, got {}", x.dtype(), dtype);
  }
  if (std::isnan(ord)) throw ValueError("normalize: expected an order that is a number, got nan");
  const TensorRef mask = mask_as("normalize", x, arguments.mask);
  Tensor out = empty(x.shape(), dtype);
  if (out.size() != 0) {
    const double parameters[] = {ord, arguments.eps};
    run_lines(kernels::normalize_kernel(ord, dtype), bits, {x, mask.get(), dtype, out}, parameters);
  }
  if (!autograd::is_recorded(x)) return out;
  std::vector<SavedTensor> saved{SavedTensor(x)};
  if (mask) saved.emplace_back(to(*mask, DType::boolean));
  autograd::record(
      "normalize", out, {x}, std::move(saved),
      [ord, dims, eps = arguments.eps, is_masked = static_cast<bool>(mask), from = x.dtype(),
       dtype](const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        const std::optional<Tensor> counts = is_masked ? std::optional(kept[1]) : std::nullopt;
        // In halves one overflow would make a whole line NaN.
        const DType wide = promote(dtype, DType::f32);
        const Tensor value = normalize_gradient(to(kept[0], wide), ord, dims, eps, counts,
                                                to(autograd::materialize(g), wide));
        return {rules::along_lines(to(value, from), counts, dims, g)};
      });
  return out;
}

namespace rules {

Gradient along_lines(const Tensor& value, const std::optional<Tensor>& mask, const Dims& dims,
                     const Gradient& arrived) {
  if (!arrived.mask) return {value, mask};
  const Tensor live = any("backward", *autograd::both(mask, arrived.mask), dims, true);
  return {value, autograd::both(mask, ops::expand(live, value.shape()))};
}

Tensor softmax(const SoftmaxRecord& call, const Tensor& g) {
  if (!autograd::is_recording()) {
    return softmax_gradient(kernels::SoftmaxOp::softmax, 1, call, g);
  }
  return call.output * (g - sum_along(g * call.output, call.dim, call.mask));
}

Tensor softmin(const SoftmaxRecord& call, const Tensor& g) {
  if (!autograd::is_recording()) {
    return softmax_gradient(kernels::SoftmaxOp::softmax, -1, call, g);
  }
  return call.output * (sum_along(g * call.output, call.dim, call.mask) - g);
}

Tensor log_softmax(const SoftmaxRecord& call, const Tensor& g) {
  if (!autograd::is_recording()) {
    return softmax_gradient(kernels::SoftmaxOp::log_softmax, 1, call, g);
  }
  const Tensor shares = ops::exp(call.output);
  const Tensor result = g - shares * sum_along(g, call.dim, call.mask);
  // Of elements that are all -inf there is nothing to share.
  const Tensor has_shares = sum_along(shares.detach(), call.dim, call.mask) != 0;
  return where(has_shares, result, 0);
}

}  // namespace rules

}  // namespace loup::ops
