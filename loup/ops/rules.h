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
};
using ReduceRule = autograd::Gradient (*)(const ReduceRecord&, const autograd::Gradient&);

}  // namespace loup::ops

/// Backward rules, written with operators: recording them again gives gradients of gradients.
namespace loup::ops::rules {

/// Every element that counted gets the gradient of its sum; the mask travels on as it is, so what
/// is masked stays a structural zero.
LOUP_EXPORT autograd::Gradient sum(const ReduceRecord& call, const autograd::Gradient& gradient);

/// Sums the gradient over the dims in which a tensor of `shape` was repeated.
LOUP_EXPORT autograd::Gradient expand(const Shape& shape, const autograd::Gradient& gradient);

}  // namespace loup::ops::rules
