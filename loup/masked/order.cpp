#include "loup/masked/order.h"

#include "loup/base/error.h"
#include "loup/masked/create.h"
#include "loup/masked/moves.h"
#include "loup/masked/ops.h"
#include "loup/masked/poison.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/logic.h"
#include "loup/ops/masking.h"
#include "loup/ops/search.h"
#include "loup/ops/sort.h"
#include "loup/ops/unary.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

Sorted taken(const MaskedTensor& x, std::int64_t dim, const Tensor& indices) {
  if (x.ndim() == 0) return {x.clone(), indices};
  return {gather(x, dim, indices), indices};
}

}  // namespace

Tensor argsort(const MaskedTensor& x, std::int64_t dim, bool descending) {
  // What does not count is equal, so that it keeps its order.
  Tensor by_value = ops::argsort(zero_filled("argsort", x.detach()), dim, descending);
  if (x.ndim() == 0) return by_value;
  // Sorting is stable: a second time by the mask leaves the order of what counts.
  const Tensor is_masked = ops::logical_not(ops::gather(x.get_mask(), dim, by_value));
  return ops::gather(by_value, dim, ops::argsort(is_masked, dim));
}

Sorted sort(const MaskedTensor& x, std::int64_t dim, bool descending) {
  return taken(x, dim, argsort(x, dim, descending));
}

Sorted topk(const MaskedTensor& x, std::int64_t k, std::int64_t dim, bool largest) {
  const Tensor order = argsort(x, dim, largest);
  const std::int64_t size = x.ndim() == 0 ? 1 : x.get_data().size(dim);
  if (k < 0 || k > size) {
    throw ValueError("topk: expected k from 0 to {}, got {}", size, k);
  }
  return taken(x, dim, x.ndim() == 0 ? order : ops::narrow(order, dim, 0, k));
}

MaskedTensor masked_select(const MaskedTensor& x, const Tensor& condition) {
  return alike(x, [&](const Tensor& t) { return ops::masked_select(t, condition); });
}

MaskedTensor masked_fill(const MaskedTensor& x, const Tensor& condition,
                         const ops::Operand& value) {
  return as_masked_tensor(ops::masked_fill(x.get_data(), condition, value),
                          ops::masked_fill(x.get_mask(), condition, Scalar(true)));
}

void masked_fill_(MaskedTensor& x, const Tensor& condition, const ops::Operand& value) {
  const MaskedTensor result = masked_fill(x, condition, value);
  x.assign_("masked_fill_", result.get_data(), result.get_mask());
}

Unique unique(const MaskedTensor& x) {
  const Tensor elements = ops::masked_select(Seen("unique", x.detach()), x.get_mask());
  const ops::Unique found = ops::unique(elements, {.dim = {}, .inverse = true, .counts = true});
  Tensor inverse = zeros(x.shape(), DType::i64);
  ops::index_put_(inverse, {x.get_mask()}, found.inverse);
  return {found.values, with_mask_of(x, inverse), found.counts};
}

MaskedTensor bucketize(const MaskedTensor& x, const Tensor& boundaries, bool right) {
  return with_mask_of(x, ops::searchsorted(boundaries, Seen("bucketize", x), right));
}

MaskedTensor isclose(const MaskedOperand& x, const MaskedOperand& y,
                     const ops::Closeness& closeness) {
  const char* const name = "isclose";
  const Tensor close = ops::isclose(Seen(name, x), Seen(name, y), closeness);
  const MaskedOperand* const operands[] = {&x, &y};
  return as_masked_tensor(close, common_mask(name, operands, close.shape()));
}

bool allclose(const MaskedOperand& x, const MaskedOperand& y, const ops::Closeness& closeness) {
  return masked::all(isclose(x, y, closeness)).get_data().item<bool>();
}

bool equal(const MaskedTensor& x, const MaskedTensor& y) {
  return ops::equal(x.get_mask(), y.get_mask()) &&
         ops::equal(zero_filled("equal", x.detach()), zero_filled("equal", y.detach()));
}

}  // namespace loup::masked
