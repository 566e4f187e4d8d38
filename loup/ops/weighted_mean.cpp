#include "loup/ops/weighted_mean.h"

#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"
#include "loup/ops/views.h"

namespace loup::ops {

namespace {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

constexpr const char* weighted_name = "weighted_mean";

/// Dims along which `weight` is repeated beside elements of `shape`.
Dims repeated_dims(const Tensor& weight, const Shape& shape) {
  const int missing = shape.size() - weight.ndim();
  Dims dims;
  for (int i = 0; i < shape.size(); ++i) {
    if (i < missing || (weight.shape()[i - missing] == 1 && shape[i] != 1)) dims.push_back(i);
  }
  return dims;
}

std::pair<Tensor, Tensor> recorded_sums(const Tensor& x, const Tensor& weight, const Dims& dims,
                                        DType dtype, const Tensor* mask);

/// What reaches the weights from the gradient `g` of a sum: the elements in their place, which are
/// summed over the dims that repeat a weight. `live` tells where elements count and g flows.
Gradient weight_gradient(const Tensor& weight, const Tensor& x, DType dtype, const Tensor& g,
                         const std::optional<Tensor>& live) {
  const Dims repeated = repeated_dims(weight, x.shape());
  if (repeated.empty()) return {to(g * to(to(x, dtype), g.dtype()), weight.dtype()), live};
  const Tensor sums = recorded_sums(x, g, repeated, dtype, live ? &*live : nullptr).first;
  Gradient result{to(reshape(sums, weight.shape()), weight.dtype()), {}};
  if (live) result.mask = reshape(any(weighted_name, *live, repeated, true), weight.shape());
  return result;
}

/// The sum of elements times weights and that of the weights; reduced dims stay. The first is
/// recorded.
std::pair<Tensor, Tensor> recorded_sums(const Tensor& x, const Tensor& weight, const Dims& dims,
                                        DType dtype, const Tensor* mask) {
  auto sums = weighted_sums(x, weight, dims, {.mask = mask, .keepdim = true, .dtype = dtype});
  if (!autograd::is_recorded(x) && !autograd::is_recorded(weight)) return sums;
  std::vector<SavedTensor> saved{SavedTensor(x), SavedTensor(weight)};
  if (mask != nullptr) saved.emplace_back(to(mask_as(weighted_name, x, *mask), DType::boolean));
  autograd::record(weighted_name, sums.first, {x, weight}, std::move(saved),
                   [dtype, is_masked = mask != nullptr](const Saved& kept, const Gradient& g) {
                     const Tensor& elements = kept[0];
                     const Tensor& weights = kept[1];
                     std::optional<Tensor> live;
                     if (is_masked) live = kept[2];
                     if (g.mask) live = autograd::both(live, expand(*g.mask, elements.shape()));
                     std::vector<Gradient> back(2);
                     if (kept.needs(0)) {
                       const Tensor each = g.value * to(weights, g.value.dtype());
                       back[0] = {expand(to(each, elements.dtype()), elements.shape()), live};
                     }
                     if (kept.needs(1)) {
                       back[1] = weight_gradient(weights, elements, dtype, g.value, live);
                     }
                     return back;
                   });
  return sums;
}

}  // namespace

Tensor weighted_mean_of(const Tensor& x, const Tensor& weight, const Dims& dims, bool keepdim,
                        std::optional<DType> asked, const Tensor* mask) {
  const DType dtype = asked.value_or(result_type(mean_spec, x.dtype()));
  auto [total, weights] = recorded_sums(x, weight, dims, dtype, mask);
  if (autograd::is_recorded(weight)) {
    weights = reduce(sum_spec, broadcast_to(weight, x.shape()), dims,
                     {.mask = mask, .keepdim = true, .dtype = total.dtype()});
  }
  const Tensor mean = to(total / weights, dtype);
  return keepdim ? mean : squeeze(mean, dims);
}

}  // namespace loup::ops
