#include "loup/ops/log_add_exp.h"

#include <array>
#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/elementwise.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/reduce.h"
#include "loup/ops/select.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

void check_summand(const char* operation, const Tensor& x) {
  if (!is_floating(x.dtype())) {
    throw DTypeError("{}: expected floating elements, got {}", operation, x.dtype());
  }
}

using MaskPair = std::array<TensorRef, 2>;

Tensor broadcast_view(const char* operation, const Tensor& x, const Shape& shape) {
  return x.with_layout(broadcast(operation, "operands", x.layout(), shape));
}

/// The rule sees operands and masks as they were broadcast; what is absent is -inf there.
void record_log_sum(const char* operation, Tensor& out, const Tensor& a, const Tensor& b,
                    const MaskPair& masks) {
  std::vector<SavedTensor> saved{SavedTensor(a), SavedTensor(b)};
  std::array<std::size_t, 2> places{};  // of masks among what is saved; 0: there is none
  for (std::size_t i = 0; i < 2; ++i) {
    if (!masks[i]) continue;
    places[i] = saved.size();
    saved.emplace_back(to(broadcast_view(operation, *masks[i], out.shape()), DType::boolean));
  }
  autograd::record(operation, out, {a, b}, std::move(saved),
                   [places](const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
                     const auto present = [&](std::size_t i) {
                       return places[i] != 0 ? where(kept[places[i]], kept[i], -infinity) : kept[i];
                     };
                     const rules::Pair shares = rules::log_sum(
                         {present(0), present(1)}, {kept.needs(0), kept.needs(1)}, g.value);
                     std::vector<Gradient> gradients(2);
                     for (std::size_t i = 0; i < 2; ++i) {
                       if (!kept.needs(i)) continue;
                       gradients[i] = {to(shares[i], kept[i].dtype()), g.mask};
                       if (places[i] != 0)
                         gradients[i].mask = autograd::both(g.mask, kept[places[i]]);
                     }
                     return gradients;
                   });
}

}  // namespace

Tensor log_add_exp_of(const char* operation, const Tensor& a, const Tensor* a_mask, const Tensor& b,
                      const Tensor* b_mask, std::optional<DType> asked) {
  check_summand(operation, a);
  check_summand(operation, b);
  const MaskPair masks{mask_as(operation, a, a_mask), mask_as(operation, b, b_mask)};
  const DType dtype = logaddexp.compute_dtype(a, b);
  const bool is_recorded = autograd::is_recorded(a) || autograd::is_recorded(b);
  // What half types give is rounded to them first.
  const bool writes_asked = asked && !is_recorded && item_bytes(dtype) >= 4;
  const Shape shape = common_shape(operation, a.shape(), b.shape());
  Tensor out = empty(shape, writes_asked ? *asked : dtype);
  const auto array_of = [&](const Tensor& x) {
    return broadcast_view(operation, x, shape).array();
  };
  if (!a_mask && !b_mask) {
    const std::array arrays{array_of(a), array_of(b)};
    kernels::elementwise(*kernels::find_binary(kernels::BinaryOp::logaddexp, compute_type(dtype)),
                         shape, out.array(), arrays);
  } else {
    const Tensor all = ones({}, DType::boolean);
    const std::array arrays{array_of(a), array_of(b), array_of(masks[0] ? *masks[0] : all),
                            array_of(masks[1] ? *masks[1] : all)};
    kernels::elementwise(kernels::present_logaddexp(compute_type(dtype)), shape, out.array(),
                         arrays);
  }
  if (is_recorded) {
    record_log_sum(operation, out, repeated(operation, a, shape), repeated(operation, b, shape),
                   masks);
  }
  return to(out, asked.value_or(dtype));
}

}  // namespace loup::ops
