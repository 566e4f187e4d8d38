#include "loup/ops/median.h"

#include <atomic>
#include <limits>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/line_plan.h"
#include "loup/ops/nth_lines.h"
#include "loup/ops/nth_rules.h"
#include "loup/ops/reduce.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

/// Writes the medians of all lines to `out`, which has an element for each.
void write_medians(const Tensor& x, const TensorRef& mask, int dim, Hidden hidden,
                   const Tensor& out) {
  const DType dtype = out.dtype();
  std::atomic<bool> is_any_hidden = false;
  const auto write = [&](std::int64_t line, const LineKeys& keys) {
    std::byte* const own = out.raw_data() + line * item_bytes(dtype);
    if (keys.count > 0 && !keys.has_nan) {
      return kernels::write_key(dtype, keys.at((keys.count - 1) / 2), own);
    }
    const bool has_nan = is_floating(dtype);
    if (!has_nan) is_any_hidden.store(true, std::memory_order_relaxed);
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      *reinterpret_cast<T*>(own) =
          convert<T>(has_nan ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    });
  };
  const std::uint32_t bits = 1U << static_cast<unsigned>(dim);
  if (const auto line = small_line({x, mask.get(), dtype, out}, bits, dtype)) {
    visit_small(*line, dtype, write);
  } else {
    NthLines(x, mask.get(), dim, dtype).for_each(write);
  }
  if (is_any_hidden && hidden == Hidden::error) {
    throw ValueError(
        "median: expected an element that counts in every line of {}, got a line that is fully "
        "masked; a MaskedTensor gives a masked result",
        dtype);
  }
}

}  // namespace

Tensor median_along(const Tensor& x, std::int64_t dim, const MedianArguments& arguments) {
  const int d = normalize_dim("median", dim, x.ndim());
  const TensorRef mask = mask_as("median", x, arguments.mask);
  if (x.ndim() == 0) {
    MedianArguments own = arguments;
    const TensorRef line = mask ? TensorRef(reshape(*mask, {1})) : TensorRef();
    own.mask = line.get();
    own.keepdim = false;
    return median_along(reshape(x, {1}), 0, own);
  }
  if (x.shape()[d] == 0) {
    throw IndexError("median: expected elements along dim {}, got shape {}", dim, x.shape());
  }
  const DType dtype = arguments.dtype.value_or(x.dtype());
  const bool is_recorded = autograd::is_recorded(x) && is_floating(dtype);
  if (is_recorded && dtype != x.dtype()) return median_along(to(x, dtype), dim, arguments);
  Shape shape = x.shape();
  if (arguments.keepdim) {
    shape[d] = 1;
  } else {
    shape.erase(d);
  }
  Tensor out = empty(shape, dtype);
  if (out.size() != 0) write_medians(x, mask, d, arguments.hidden, out);
  if (is_recorded) {
    const Tensor values = arguments.keepdim ? out.detach() : unsqueeze(out.detach(), d);
    const NthUse use = use_of(x.detach(), mask.get(), d, values);
    record_nth("median", out, x, d, arguments.keepdim, {use});
  }
  return out;
}

}  // namespace loup::ops
