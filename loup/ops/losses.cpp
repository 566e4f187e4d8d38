#include "loup/ops/losses.h"

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"
#include "loup/tensor/broadcast.h"

namespace loup::ops {

namespace {

/// What `measure` makes of the differences.
Tensor distance_loss(const char* operation, const Unary& measure, const Tensor& input,
                     const Tensor& target, const LossOptions& options) {
  const Operand x(input);
  const Operand y(target);
  const Operand* const operands[] = {&x, &y};
  const DType dtype = result_type(operands);
  if (!is_floating(dtype)) {
    throw DTypeError("{}: expected floating elements, got {}", operation, dtype);
  }
  common_shape(operation, input.shape(), target.shape());  // checks
  const DType computed = storage_type(compute_type(dtype));
  Tensor losses = to(input, computed) - to(target, computed);
  if (autograd::is_recorded(losses)) {
    losses = measure(losses);
  } else {
    measure.in_place(losses);
  }
  std::optional<Tensor> counts;
  if (options.mask) counts = to(mask_as(operation, losses, *options.mask), DType::boolean);
  return to(reduce_losses(losses, options.reduction, counts ? &*counts : nullptr), dtype);
}

}  // namespace

LossReduction loss_reduction(const char* operation, std::string_view name) {
  if (name == "none") return LossReduction::none;
  if (name == "mean") return LossReduction::mean;
  if (name == "sum") return LossReduction::sum;
  throw ValueError("{}: expected a reduction 'none', 'mean' or 'sum', got '{}'", operation, name);
}

Tensor reduce_losses(const Tensor& losses, LossReduction reduction, const Tensor* counts) {
  switch (reduction) {
    case LossReduction::none: return counts != nullptr ? filled(losses, *counts, 0) : losses;
    case LossReduction::mean: return reduce(mean_spec, losses, {}, {.mask = counts});
    case LossReduction::sum: return reduce(sum_spec, losses, {}, {.mask = counts});
  }
  __builtin_unreachable();
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const LossOptions& options) {
  return distance_loss("mse_loss", square, input, target, options);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const LossOptions& options) {
  return distance_loss("l1_loss", abs, input, target, options);
}

}  // namespace loup::ops
