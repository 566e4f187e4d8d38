#include "loup/ops/reduce_pair.h"

#include <vector>

#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;
using kernels::ReduceOp;

namespace {

constexpr ReduceSpec extreme_spec(ReduceOp kernel) {
  return {.name = "minmax",
          .summary = "",
          .kernel = kernel,
          .types = ReduceTypes::kept,
          .needs_elements = true,
          .backward = rules::extreme,
          .saves_input = true};
}
constexpr ReduceSpec least_spec = extreme_spec(ReduceOp::amin);
constexpr ReduceSpec most_spec = extreme_spec(ReduceOp::amax);

/// `shape` with size 1 where dims are reduced.
Shape kept_shape(const Shape& shape, std::uint32_t reduced, bool keeps_reduced) {
  Shape result = shape;
  for (int i = 0; i < shape.size(); ++i) {
    const bool is_reduced = (reduced >> static_cast<unsigned>(i) & 1U) != 0;
    if (is_reduced != keeps_reduced) result[i] = 1;
  }
  return result;
}

void record_pick(const ReduceSpec& spec, const Tensor& x, std::uint32_t reduced, const Tensor* mask,
                 Tensor& values, const Tensor& indices) {
  const Shape kept = kept_shape(x.shape(), reduced, false);
  const Shape taken = kept_shape(x.shape(), reduced, true);
  const Tensor places = reshape(arange(0, element_count(taken), 1, DType::i64), taken);
  std::optional<Tensor> picked = places == reshape(indices, kept);
  if (mask != nullptr)
    picked = autograd::both(picked, to(mask_as(spec.name, x, *mask), DType::boolean));
  autograd::record(spec.name, values, {x}, {SavedTensor(*picked)},
                   [kept](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                     const Shape& shape = saved[0].shape();
                     Gradient result{expand(reshape(g.value, kept), shape), saved[0]};
                     if (g.mask) {
                       result.mask =
                           autograd::both(result.mask, expand(reshape(*g.mask, kept), shape));
                     }
                     return {result};
                   });
}

}  // namespace

std::pair<Tensor, Tensor> reduce_pair(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
                                      const ReduceArguments& arguments) {
  const bool is_recorded = autograd::is_recorded(x);
  if (spec.kernel == ReduceOp::minmax) {
    if (!is_recorded) return reduce_both(spec, x, dims, arguments);
    return {reduce(least_spec, x, dims, arguments), reduce(most_spec, x, dims, arguments)};
  }
  auto [indices, values] = reduce_both(spec, x, dims, arguments);
  if (is_recorded) {
    record_pick(spec, x, dim_bits(spec.name, dims, x.ndim()), arguments.mask, values, indices);
  }
  return {values, indices};
}

}  // namespace loup::ops
