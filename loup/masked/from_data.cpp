#include "loup/masked/from_data.h"

#include <utility>

#include "loup/autograd/gradient.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/masked/masks.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

Tensor data_in(const char* operation, const MaskedOperand& x) {
  if (x.values().is_number()) {
    throw ValueError("{}: expected a tensor, got a number", operation);
  }
  return x.values().tensor();
}

/// x where `counts` is true, and its own mask, if it has one.
MaskedTensor counting_only(const MaskedOperand& x, const Tensor& counts) {
  const std::optional<Tensor> own = x.mask() != nullptr ? std::optional(*x.mask()) : std::nullopt;
  return as_masked_tensor(x.values().tensor(), *autograd::both(counts, own));
}

/// The bounds of an interval, which numpy.ma takes in either order, too.
std::pair<Scalar, Scalar> in_order(Scalar a, Scalar b) {
  return b.to<double>() < a.to<double>() ? std::pair(b, a) : std::pair(a, b);
}

}  // namespace

MaskedTensor from_nan(const MaskedOperand& x) {
  const Tensor data = data_in("from_nan", x).detach();
  return counting_only(x, ops::logical_not(ops::isnan(data)));
}

MaskedTensor masked_invalid(const MaskedOperand& x) {
  return counting_only(x, ops::isfinite(data_in("masked_invalid", x).detach()));
}

MaskedTensor masked_where(const Tensor& condition, const MaskedOperand& x) {
  const Tensor data = data_in("masked_where", x);
  if (condition.dtype() != DType::boolean) {
    throw DTypeError("masked_where: expected a condition of bool, got {}", condition.dtype());
  }
  return counting_only(x, whole_mask("masked_where", data, ops::logical_not(condition)));
}

MaskedTensor masked_equal(const MaskedOperand& x, Scalar value) {
  return counting_only(x, ops::ne(data_in("masked_equal", x).detach(), value));
}

MaskedTensor masked_inside(const MaskedOperand& x, Scalar v1, Scalar v2) {
  const auto [low, high] = in_order(v1, v2);
  const Tensor data = data_in("masked_inside", x).detach();
  const Tensor is_inside = ops::logical_and(ops::ge(data, low), ops::le(data, high));
  return counting_only(x, ops::logical_not(is_inside));
}

MaskedTensor masked_outside(const MaskedOperand& x, Scalar v1, Scalar v2) {
  const auto [low, high] = in_order(v1, v2);
  const Tensor data = data_in("masked_outside", x).detach();
  const Tensor is_outside = ops::logical_or(ops::lt(data, low), ops::gt(data, high));
  return counting_only(x, ops::logical_not(is_outside));
}

Tensor lengths_to_mask(const Tensor& lengths, std::optional<std::int64_t> most) {
  if (is_floating(lengths.dtype()) || lengths.dtype() == DType::boolean) {
    throw DTypeError("lengths_to_mask: expected lengths of integers, got {}", lengths.dtype());
  }
  const bool is_empty = lengths.size() == 0;
  const std::int64_t longest =
      is_empty ? 0 : masked::amax(ops::to(lengths, DType::i64)).item<std::int64_t>();
  const std::int64_t shortest =
      is_empty ? 0 : masked::amin(ops::to(lengths, DType::i64)).item<std::int64_t>();
  const std::int64_t size = most.value_or(longest);
  if (shortest < 0) {
    throw ValueError("lengths_to_mask: expected lengths of at least 0, got {}", shortest);
  }
  if (longest > size) {
    throw ValueError("lengths_to_mask: expected lengths of at most {}, got {}", size, longest);
  }
  return ops::lt(arange(0, size, 1, DType::i64), ops::unsqueeze(lengths, -1));
}

}  // namespace loup::masked
