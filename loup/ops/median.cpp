#include "loup/ops/median.h"

#include <atomic>
#include <limits>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/nth_lines.h"
#include "loup/ops/nth_rules.h"
#include "loup/ops/reduce.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

/// The medians, as a tensor with the dim of size 1. `x` is not recorded.
Tensor medians(const Tensor& x, const Tensor* mask, int dim, DType dtype, Hidden hidden) {
  Shape shape = x.shape();
  shape[dim] = 1;
  Tensor out = empty(shape, dtype);
  if (out.size() == 0) return out;
  const std::int64_t bytes = item_bytes(dtype);
  std::byte* const to = out.raw_data();
  std::atomic<bool> is_any_hidden = false;
  NthLines(x, mask, dim, dtype).for_each([&](std::int64_t line, const LineKeys& keys) {
    std::byte* const own = to + line * bytes;
    if (keys.count > 0 && !keys.has_nan) {
      return kernels::write_key(dtype, keys.at((keys.count - 1) / 2), own);
    }
    const bool has_nan = is_floating(dtype);
    if (!has_nan) is_any_hidden.store(true, std::memory_order_relaxed);
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      *reinterpret_cast<T*>(own) =
          convert<T>(has_nan ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    });
  });
  if (is_any_hidden && hidden == Hidden::error) {
    throw ValueError(
        "median: expected an element that counts in every line of {}, got a line that is fully "
        "masked; a MaskedTensor gives a masked result",
        dtype);
  }
  return out;
}

}  // namespace

Tensor median_along(const Tensor& x, std::int64_t dim, const MedianArguments& arguments) {
  const int d = normalize_dim("median", dim, x.ndim());
  std::optional<Tensor> mask;
  if (arguments.mask != nullptr) mask = mask_as("median", x, *arguments.mask);
  if (x.ndim() == 0) {
    MedianArguments own = arguments;
    if (mask) mask = reshape(*mask, {1});
    own.mask = mask ? &*mask : nullptr;
    own.keepdim = false;
    return median_along(reshape(x, {1}), 0, own);
  }
  if (x.shape()[d] == 0) {
    throw IndexError("median: expected elements along dim {}, got shape {}", dim, x.shape());
  }
  const DType dtype = arguments.dtype.value_or(x.dtype());
  const bool is_recorded = autograd::is_recorded(x) && is_floating(dtype);
  if (is_recorded && dtype != x.dtype()) return median_along(to(x, dtype), dim, arguments);
  const Tensor values = x.detach();
  Tensor out = medians(values, mask ? &*mask : nullptr, d, dtype, arguments.hidden);
  Tensor result = arguments.keepdim ? out : squeeze(out, d);
  if (is_recorded) {
    const NthUse use = use_of(values, mask, d, out);
    record_nth("median", result, x, d, arguments.keepdim, {use});
  }
  return result;
}

}  // namespace loup::ops
