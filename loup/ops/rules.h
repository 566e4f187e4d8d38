#pragma once

#include <cstdint>
#include <optional>

#include "loup/autograd/gradient.h"

namespace loup::ops {

/// What the backward rule of a reduction may need of the call it belongs to.
struct ReduceRecord {
  Shape shape;  // of the input
  DType dtype;
  std::uint32_t reduced;  // dims, as bits
  bool keepdim;
  std::optional<Tensor> mask;  // bool, of the input's shape
  // Only where the operator saves them; they carry their records, so rules can be differentiated.
  Tensor input = {};   // as it was reduced
  Tensor output = {};  // before any conversion
  double parameter = 0;
};
using ReduceRule = autograd::Gradient (*)(const ReduceRecord&, const autograd::Gradient&);

}  // namespace loup::ops

/// Backward rules, written with operators: recording them again gives gradients of gradients.
namespace loup::ops::rules {

// Of reductions: elements that did not count get structural zeros, the mask travels on as it is.
LOUP_EXPORT autograd::Gradient sum(const ReduceRecord& call, const autograd::Gradient& gradient);
LOUP_EXPORT autograd::Gradient mean(const ReduceRecord& call, const autograd::Gradient& gradient);
LOUP_EXPORT autograd::Gradient prod(const ReduceRecord& call, const autograd::Gradient& gradient);
/// Elements that attain the extreme share its gradient.
LOUP_EXPORT autograd::Gradient extreme(const ReduceRecord& call,
                                       const autograd::Gradient& gradient);
LOUP_EXPORT autograd::Gradient var(const ReduceRecord& call, const autograd::Gradient& gradient);
LOUP_EXPORT autograd::Gradient std_of(const ReduceRecord& call, const autograd::Gradient& gradient);
LOUP_EXPORT autograd::Gradient log_sum_exp(const ReduceRecord& call,
                                           const autograd::Gradient& gradient);
/// The order is the call's parameter.
LOUP_EXPORT autograd::Gradient norm(const ReduceRecord& call, const autograd::Gradient& gradient);

/// Sums the gradient over the dims in which a tensor of `shape` was repeated.
LOUP_EXPORT autograd::Gradient expand(const Shape& shape, const autograd::Gradient& gradient);

}  // namespace loup::ops::rules
