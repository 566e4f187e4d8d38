#include "loup/ops/views.h"

#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/ops/copy.h"
#include "loup/ops/rules.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

/// Zeros of `shape` with the elements of `x` where `map` looks.
Tensor undo_view(const char* operation, const Tensor& x, const Shape& shape, const LayoutMap& map) {
  Tensor result = zeros(shape, x.dtype());
  const Tensor seen = result.with_layout(map(result.layout()));
  kernels::copy(x.shape(), seen.array(), x.array());
  if (autograd::is_recorded(x)) {
    autograd::record(operation, result, {x}, {},
                     [=](const Saved&, const Gradient& g) -> std::vector<Gradient> {
                       // Not every gradient lies in memory as its tensor did, and `view` minds.
                       Gradient back{apply_view(operation, contiguous(g.value), map), {}};
                       if (g.mask) back.mask = apply_view(operation, contiguous(*g.mask), map);
                       return {back};
                     });
  }
  return result;
}

}  // namespace

Tensor apply_view(const char* operation, const Tensor& x, const LayoutMap& map) {
  Tensor result = x.with_layout(map(x.layout()));
  if (autograd::is_recorded(x)) {
    autograd::record(
        operation, result, {x}, {},
        [=, shape = x.shape()](const Saved&, const Gradient& g) -> std::vector<Gradient> {
          // What the view does not show has a gradient of structural zero too, but only a mask that
          // is already there is worth carrying along.
          Gradient back{undo_view(operation, g.value, shape, map), {}};
          if (g.mask) back.mask = undo_view(operation, *g.mask, shape, map);
          return {back};
        });
  }
  return result;
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b) {
  return apply_view("transpose", x, [=](const Layout& l) { return loup::transpose(l, a, b); });
}

Tensor permute(const Tensor& x, const Dims& order) {
  return apply_view("permute", x, [=](const Layout& l) { return loup::permute(l, order); });
}

Tensor squeeze(const Tensor& x, const Dims& dims) {
  return apply_view("squeeze", x, [=](const Layout& l) { return loup::squeeze(l, dims); });
}

Tensor unsqueeze(const Tensor& x, std::int64_t dim) {
  return apply_view("unsqueeze", x, [=](const Layout& l) { return loup::unsqueeze(l, dim); });
}

Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return apply_view("narrow", x,
                    [=](const Layout& l) { return loup::narrow(l, dim, start, length); });
}

Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index) {
  return apply_view("select", x, [=](const Layout& l) { return loup::select(l, dim, index); });
}

Tensor slice(const Tensor& x, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step) {
  return apply_view("slice", x,
                    [=](const Layout& l) { return loup::slice(l, dim, start, stop, step); });
}

Tensor expand(const Tensor& x, const Shape& shape) {
  Tensor result = x.with_layout(loup::expand(x.layout(), shape));
  if (autograd::is_recorded(x)) {
    autograd::record("expand", result, {x}, {},
                     [from = x.shape()](const Saved&, const Gradient& g) -> std::vector<Gradient> {
                       return {rules::expand(from, g)};
                     });
  }
  return result;
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) { return expand(x, shape); }

Tensor view(const Tensor& x, const Shape& shape) {
  return apply_view("view", x, [=](const Layout& l) {
    const std::optional<Layout> result = loup::view(l, shape);
    if (!result) {
      throw ShapeError(
          "view: expected a shape that needs no copy of shape {} with strides {}, got "
          "{}; use reshape",
          l.shape, l.strides, shape);
    }
    return *result;
  });
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape wanted = resolve_shape("reshape", x.shape(), shape);
  return loup::view(x.layout(), wanted) ? view(x, wanted) : view(clone(x), wanted);
}

Tensor flatten(const Tensor& x, std::int64_t first, std::int64_t last) {
  return reshape(x, flat_shape(x.shape(), first, last));
}

}  // namespace loup::ops
