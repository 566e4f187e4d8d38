#include "loup/masked/poison.h"

#include <atomic>
#include <limits>

#include "loup/autograd/node.h"
#include "loup/masked/masks.h"
#include "loup/ops/copy.h"
#include "loup/ops/select.h"

namespace loup::masked {

namespace {

std::atomic<int> poisons = 0;  // that are alive

Scalar garbage(DType dtype) {
  if (dtype == DType::boolean) return true;
  if (is_floating(dtype)) return std::numeric_limits<double>::quiet_NaN();
  constexpr std::int64_t bytes = 0x5a5a5a5a5a5a5a5a;
  return bytes >> (64 - 8 * item_bytes(dtype));
}

/// Recorded, so that gradients reach x through it.
ops::Operand seen(const char* operation, const Tensor& x, const Tensor* mask) {
  if (mask == nullptr || poisons.load(std::memory_order_relaxed) == 0) return x;
  return ops::where(whole_mask(operation, x, *mask), x, garbage(x.dtype()));
}

}  // namespace

Poison::Poison() { poisons.fetch_add(1, std::memory_order_relaxed); }
Poison::~Poison() { poisons.fetch_sub(1, std::memory_order_relaxed); }

Seen::Seen(const char* operation, const Tensor& x, const Tensor* mask)
    : operand_(seen(operation, x, mask)) {}

Seen::Seen(const char* operation, const MaskedOperand& x)
    : operand_(x.values().is_number() ? x.values()
                                      : seen(operation, x.values().tensor(), x.mask())) {}

Tensor zero_filled(const char* operation, const MaskedTensor& x) {
  const Seen data(operation, x);
  const bool is_kept = autograd::is_recorded(data);
  return ops::filled(data, is_kept ? ops::clone(x.get_mask()) : x.get_mask(), 0);
}

}  // namespace loup::masked
