#include "loup/ops/normalize.h"

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

Tensor sum_along(const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask) {
  return reduce(sum_spec, x, dims, {.mask = mask ? &*mask : nullptr, .keepdim = true});
}

}  // namespace

Tensor softmax_lines(const SoftmaxSpec& spec, const Tensor& x, std::int64_t dim,
                     const LineArguments& arguments) {
  const int along = normalize_dim(spec.name, dim, x.ndim());
  const DType dtype = floating_result(spec.name, x, arguments.dtype);
  std::optional<Tensor> mask;
  if (arguments.mask != nullptr) mask = mask_as(spec.name, x, *arguments.mask);
  Tensor out = empty(x.shape(), dtype);
  if (out.size() != 0) {
    const std::uint32_t dims = x.ndim() == 0 ? 0 : 1U << static_cast<unsigned>(along);
    const LinePlan plan = make_line_plan(x.layout(), mask ? &mask->layout() : nullptr, dims);
    run_lines(kernels::softmax_kernel(spec.kernel, compute_type(dtype)), plan,
              {x, mask ? &*mask : nullptr, dtype, out}, &spec.sign);
  }
  if (!autograd::is_recorded(x)) return out;
  std::vector<SavedTensor> saved;
  if (mask) saved.emplace_back(to(*mask, DType::boolean));
  autograd::record(
      spec.name, out, {x}, std::move(saved),
      [backward = spec.backward, along, is_masked = mask.has_value(), from = x.dtype()](
          const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        const SoftmaxRecord call{along, is_masked ? std::optional(kept[0]) : std::nullopt,
                                 kept.output()};
        const Tensor value = backward(call, autograd::materialize(g));
        return {rules::along_lines(to(value, from), call.mask, along, g)};
      },
      autograd::Output::saved);
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
  return call.output * (g - sum_along(g * call.output, call.dim, call.mask));
}

Tensor softmin(const SoftmaxRecord& call, const Tensor& g) {
  return call.output * (sum_along(g * call.output, call.dim, call.mask) - g);
}

Tensor log_softmax(const SoftmaxRecord& call, const Tensor& g) {
  const Tensor shares = ops::exp(call.output);
  const Tensor result = g - shares * sum_along(g, call.dim, call.mask);
  // Of elements that are all -inf there is nothing to share.
  const Tensor has_shares = sum_along(shares.detach(), call.dim, call.mask) != 0;
  return where(has_shares, result, 0);
}

}  // namespace rules

}  // namespace loup::ops
