#include "loup/ops/masking.h"

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/compact.h"
#include "loup/kernels/copy.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

void check_mask(const char* operation, const Tensor& mask) {
  if (mask.dtype() != DType::boolean) {
    throw DTypeError("{}: expected a mask of bool, got {}", operation, mask.dtype());
  }
}

Tensor placed(const Tensor& mask, const Tensor& y);

/// The elements of `x` where `mask`, of the same shape, is true.
Tensor selected(const Tensor& x, const Tensor& mask) {
  const std::vector<std::int64_t> starts = kernels::count_true(mask.shape(), mask.array());
  Tensor result = empty({starts.back()}, x.dtype());
  kernels::compact(x.shape(), mask.array(), x.array(), result.raw_data(), starts);
  if (autograd::is_recorded(x)) {
    autograd::record(
        "masked_select", result, {x}, {SavedTensor(mask)},
        [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
          const Tensor& chosen = saved[0];
          return {{placed(chosen, g.value), g.mask ? placed(chosen, *g.mask) : chosen}};
        });
  }
  return result;
}

/// Zeros, with the elements of the vector `y` where the mask is true.
Tensor placed(const Tensor& mask, const Tensor& y) {
  const std::vector<std::int64_t> starts = kernels::count_true(mask.shape(), mask.array());
  Tensor result = zeros(mask.shape(), y.dtype());
  kernels::place(mask.shape(), mask.array(), result.array(), contiguous(y.detach()).raw_data(),
                 starts);
  if (autograd::is_recorded(y)) {
    autograd::record("masked_select", result, {y}, {SavedTensor(mask)},
                     [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                       Gradient back{selected(g.value, saved[0]), {}};
                       if (g.mask) back.mask = selected(*g.mask, saved[0]);
                       return {back};
                     });
  }
  return result;
}

/// The number that is filled in, of x's dtype.
Tensor filling(const char* operation, const Tensor& x, const Operand& value) {
  if (!value.shape().empty()) {
    throw ShapeError("{}: expected a number or a 0-d tensor as value, got shape {}", operation,
                     value.shape());
  }
  return to(value.as_tensor(x.dtype()), x.dtype());
}

/// All of the first dim, then of the second, …: shape [dims, elements].
Tensor coordinates(const Tensor& x) {
  const Tensor mask = to(x.detach(), DType::boolean);
  const std::vector<std::int64_t> starts = kernels::count_true(mask.shape(), mask.array());
  const Tensor result = empty({x.ndim(), starts.back()}, DType::i64);
  kernels::coordinates(mask.shape(), mask.array(),
                       reinterpret_cast<std::int64_t*>(result.raw_data()), starts);
  return result;
}

}  // namespace

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  check_mask("masked_select", mask);
  const Shape shape = common_shape("masked_select", x.shape(), mask.shape());
  return selected(repeated("masked_select", x, shape), repeated("masked_select", mask, shape));
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value) {
  check_mask("masked_fill", mask);
  return where(mask, filling("masked_fill", x, value), x);
}

void masked_fill_(Tensor& x, const Tensor& mask, const Operand& value) {
  check_mask("masked_fill_", mask);
  const Layout whole = broadcast("masked_fill_", "a mask", mask.layout(), x.shape());
  const Tensor number = filling("masked_fill_", x, value);
  if (is_floating(x.dtype()) && (autograd::is_recorded(x) || autograd::is_recorded(number))) {
    return replace_("masked_fill_", x, where(mask, number, x));
  }
  const Tensor chosen =
      mask.storage() == x.storage() ? clone(mask.with_layout(whole)) : mask.with_layout(whole);
  const Tensor apart = number.storage() == x.storage() ? clone(number) : number;
  prepare_in_place("masked_fill_", x);
  const Array filled{apart.raw_data(), apart.dtype(), Dims::filled(x.ndim(), 0)};
  kernels::select(x.shape(), x.array(), chosen.array(), filled, x.array());
}

Tensor nonzero(const Tensor& x) { return transpose(coordinates(x), 0, 1); }

std::vector<Tensor> nonzero_tuple(const Tensor& x) {
  const Tensor all = coordinates(x.ndim() == 0 ? unsqueeze(x, 0) : x);
  std::vector<Tensor> result;
  for (std::int64_t d = 0; d < all.shape()[0]; ++d) result.push_back(select(all, 0, d));
  return result;
}

}  // namespace loup::ops
