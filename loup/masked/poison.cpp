#include "loup/masked/poison.h"

#include <atomic>
#include <limits>

#include "loup/masked/masks.h"
#include "loup/ops/select.h"

namespace loup::masked {

namespace {

std::atomic<bool> is_poison_on = false;

Scalar garbage(DType dtype) {
  if (dtype == DType::boolean) return true;
  if (is_floating(dtype)) return std::numeric_limits<double>::quiet_NaN();
  constexpr std::int64_t bytes = 0x5a5a5a5a5a5a5a5a;
  return bytes >> (64 - 8 * item_bytes(dtype));
}

/// Recorded, so that gradients reach x through it.
ops::Operand seen(const char* operation, const Tensor& x, const Tensor* mask) {
  if (mask == nullptr || !is_poison_on.load(std::memory_order_relaxed)) return x;
  return ops::where(whole_mask(operation, x, *mask), x, garbage(x.dtype()));
}

}  // namespace

Poison::Poison() : previous_(switch_poison(true)) {}
Poison::~Poison() { switch_poison(previous_); }

bool switch_poison(bool is_on) { return is_poison_on.exchange(is_on, std::memory_order_relaxed); }

Seen::Seen(const char* operation, const Tensor& x, const Tensor* mask)
    : operand_(seen(operation, x, mask)) {}

Seen::Seen(const char* operation, const MaskedOperand& x)
    : operand_(x.values().is_number() ? x.values()
                                      : seen(operation, x.values().tensor(), x.mask())) {}

}  // namespace loup::masked
