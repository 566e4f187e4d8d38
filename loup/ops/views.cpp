#include "loup/ops/views.h"

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/ops/copy.h"
#include "loup/ops/rules.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

// The gradient of a view is its undoing, which is an operator again, so that views have gradients
// of every order. Most are undone by another view; what shows only a part is undone by zeros around
// it.

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

/// Records that `output` is `x` moved by a function that `undo` reverses, on values and masks
/// alike.
template <class Undo>
void record_move(const char* operation, Tensor& output, const Tensor& x, const Undo& undo) {
  autograd::record(operation, output, {x}, {}, [undo](const Saved&, const Gradient& g) {
    std::vector<Gradient> back(1);
    back[0].value = undo(g.value);
    if (g.mask) back[0].mask = undo(*g.mask);
    return back;
  });
}

template <class Undo>
Tensor shown(const char* operation, const Tensor& x, const Layout& layout, const Undo& undo) {
  Tensor result = x.with_layout(layout);
  if (autograd::is_recorded(x)) record_move(operation, result, x, undo);
  return result;
}

/// Another shape over the same elements.
Tensor reshaped(const char* operation, const Tensor& x, const Layout& layout) {
  return shown(operation, x, layout,
               [shape = x.shape()](const Tensor& g) { return reshape(g, shape); });
}

/// Zeros of `shape` with the elements of `x` where `show`, a view, looks.
template <class Show>
Tensor embedded(const char* operation, const Tensor& x, const Shape& shape, const Show& show) {
  Tensor result = zeros(shape, x.dtype());
  kernels::copy(x.shape(), show(result).array(), x.array());
  if (autograd::is_recorded(x)) record_move(operation, result, x, show);
  return result;
}

/// A part of x. What it does not show has a gradient of structural zero, but only a mask that is
/// already there is worth carrying along.
template <class Show>
Tensor part(const char* operation, const Tensor& x, const Layout& layout, const Show& show) {
  return shown(operation, x, layout, [=, shape = x.shape()](const Tensor& g) {
    return embedded(operation, g, shape, show);
  });
}

}  // namespace

Tensor apply_view(const char* operation, const Tensor& x, const LayoutMap& map) {
  // Not every gradient lies in memory as its tensor did, and some maps mind.
  return part(operation, x, map(x.layout()),
              [=](const Tensor& whole) { return apply_view(operation, contiguous(whole), map); });
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b) {
  return shown("transpose", x, loup::transpose(x.layout(), a, b),
               [=](const Tensor& g) { return transpose(g, a, b); });
}

Tensor t(const Tensor& x) {
  if (x.ndim() > 2) {
    throw ShapeError("t: expected at most 2 dims, got shape {}; use mT or transpose", x.shape());
  }
  return transpose(x, 0, -1);
}

Tensor permute(const Tensor& x, const Dims& order) {
  const Layout layout = loup::permute(x.layout(), order);
  Dims inverse = order;
  for (int i = 0; i < order.size(); ++i) inverse[normalize_dim("permute", order[i], x.ndim())] = i;
  return shown("permute", x, layout, [=](const Tensor& g) { return permute(g, inverse); });
}

Tensor squeeze(const Tensor& x, const Dims& dims) {
  return reshaped("squeeze", x, loup::squeeze(x.layout(), dims));
}

Tensor unsqueeze(const Tensor& x, std::int64_t dim) {
  return reshaped("unsqueeze", x, loup::unsqueeze(x.layout(), dim));
}

Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return part("narrow", x, loup::narrow(x.layout(), dim, start, length),
              [=](const Tensor& whole) { return narrow(whole, dim, start, length); });
}

Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index) {
  return part("select", x, loup::select(x.layout(), dim, index),
              [=](const Tensor& whole) { return select(whole, dim, index); });
}

Tensor slice(const Tensor& x, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step) {
  return part("slice", x, loup::slice(x.layout(), dim, start, stop, step),
              [=](const Tensor& whole) { return slice(whole, dim, start, stop, step); });
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
  const std::optional<Layout> layout = loup::view(x.layout(), shape);
  if (!layout) {
    throw ShapeError(
        "view: expected a shape that needs no copy of shape {} with strides {}, got {}; use "
        "reshape",
        x.shape(), x.strides(), shape);
  }
  return reshaped("view", x, *layout);
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape wanted = resolve_shape("reshape", x.shape(), shape);
  const std::optional<Layout> layout = loup::view(x.layout(), wanted);
  return layout ? reshaped("reshape", x, *layout) : view(clone(x), wanted);
}

Tensor flatten(const Tensor& x, std::int64_t first, std::int64_t last) {
  return reshape(x, flat_shape(x.shape(), first, last));
}

Tensor ravel(const Tensor& x) { return reshape(x, {-1}); }

}  // namespace loup::ops
