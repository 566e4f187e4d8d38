#include "loup/ops/contract.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/ops/copy.h"
#include "loup/ops/gather.h"
#include "loup/ops/logic.h"
#include "loup/ops/masking.h"
#include "loup/ops/reduce.h"
#include "loup/ops/rules.h"
#include "loup/ops/shape.h"
#include "loup/ops/unary.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;

namespace {

/// Matrices, and which of their elements count.
struct Factor {
  Tensor value;
  std::optional<Tensor> mask;
};

/// The same function of values and of masks.
template <class F>
Factor both_by(const Factor& x, const F& f) {
  return {f(x.value), x.mask ? std::optional(f(*x.mask)) : std::nullopt};
}
Factor turned_factor(const Factor& x) {
  return both_by(x, [](const Tensor& t) { return transpose(t, -2, -1); });
}

// --- one product of matrices under masks ---

/// Some of the lines of a matrix.
struct Lines {
  Tensor index;  // which, where these are not all of them
  bool are_all = true;
};

Lines lines_where(const std::optional<Tensor>& live) {
  if (!live || all(*live).item<bool>()) return {};
  return {flatten(nonzero(*live)), false};
}

std::optional<Tensor> live_along(const char* operation, const Factor& x, std::int64_t dim) {
  if (!x.mask) return std::nullopt;
  return any(operation, *x.mask, dim, false);
}

Tensor select_lines(const Tensor& x, const Lines& rows, const Lines& cols) {
  const auto line = [](const Tensor& t, std::int64_t dim, const Lines& lines) {
    // What is repeated along the dim is the same for any choice of lines, unless it is of none.
    const bool is_same = lines.are_all || (t.size(dim) == 1 && lines.index.size() > 0);
    return is_same ? t : index_select(t, dim, lines.index);
  };
  // Copies lie in memory as the matrix does: the order of additions may depend on it.
  if (is_row_major(x)) return line(line(x, 0, rows), 1, cols);
  return transpose(line(line(transpose(x, 0, 1), 1, rows), 0, cols), 0, 1);
}

/// One row or column for those that only repeat each other.
Tensor mask_without_repeats(const Tensor& mask) {
  Layout layout = mask.layout();
  for (int i = 0; i < 2; ++i) {
    if (layout.strides[i] == 0 && layout.shape[i] > 1) layout.shape[i] = 1;
  }
  return mask.with_layout(layout);
}

/// The chosen lines, with 0 for elements among them that do not count; the mask stays only where
/// there are such.
Factor packed(const Factor& x, const Lines& rows, const Lines& cols) {
  const Tensor value = select_lines(x.value, rows, cols);
  if (!x.mask) return {value, {}};
  const Tensor mask = select_lines(mask_without_repeats(*x.mask), rows, cols);
  if (all(mask).item<bool>()) return {value, {}};
  return {filled(value, mask, 0), expand(mask, value.shape())};
}

bool is_finite(const Tensor& x) { return !is_floating(x.dtype()) || all(isfinite(x)).item<bool>(); }

Tensor masked_product(const char* operation, const Factor& a, const Factor& b) {
  const Lines rows = lines_where(live_along(operation, a, 1));
  const Lines cols = lines_where(live_along(operation, b, 0));
  const Lines depth =
      lines_where(autograd::both(live_along(operation, a, 0), live_along(operation, b, 1)));
  const Factor left = packed(a, rows, depth);
  const Factor right = packed(b, depth, cols);
  // Zeros stand in for what does not count, unless they would meet inf or NaN.
  const bool zeros_serve =
      (!left.mask || is_finite(right.value)) && (!right.mask || is_finite(left.value));
  Tensor c = zeros_serve ? product(left.value, right.value)
                         : product_counted(left.value, left.mask, right.value, right.mask);
  if (!cols.are_all) {
    Tensor wide = zeros({c.size(0), b.value.size(1)}, c.dtype());
    index_copy_(wide, 1, cols.index, c);
    c = std::move(wide);
  }
  if (!rows.are_all) {
    Tensor high = zeros({a.value.size(0), c.size(1)}, c.dtype());
    index_copy_(high, 0, rows.index, c);
    c = std::move(high);
  }
  return c;
}

// --- batches ---

Shape batch_of(const Tensor& x) {
  Shape batch = x.shape();
  batch.erase(x.ndim() - 1);
  batch.erase(x.ndim() - 2);
  return batch;
}

Shape with_matrix(Shape batch, std::int64_t rows, std::int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}

Factor expanded(const Factor& x, const Shape& batch) {
  return both_by(
      x, [&](const Tensor& t) { return expand(t, with_matrix(batch, t.size(-2), t.size(-1))); });
}

Tensor matrix_at(const Tensor& x, std::int64_t i) {
  Layout layout = x.layout();
  while (layout.shape.size() > 2) {
    const int last = layout.shape.size() - 3;
    layout.offset += i % layout.shape[last] * layout.strides[last];
    i /= layout.shape[last];
    layout.shape.erase(last);
    layout.strides.erase(last);
  }
  return x.with_layout(layout);
}

Tensor forward(const char* operation, const Factor& a, const Factor& b) {
  const Shape a_batch = batch_of(a.value);
  const Shape b_batch = batch_of(b.value);
  const std::int64_t k = a.value.size(-1);
  // One matrix for a whole batch: its rows may as well belong to one tall matrix.
  if (!a_batch.empty() && element_count(b_batch) == 1 && k > 0) {
    const Factor tall = both_by(a, [&](const Tensor& t) { return reshape(t, {-1, k}); });
    const Factor flat = both_by(b, [&](const Tensor& t) { return reshape(t, {k, t.size(-1)}); });
    const Shape batch = common_shape(operation, a_batch, b_batch);
    return reshape(forward(operation, tall, flat),
                   with_matrix(batch, a.value.size(-2), b.value.size(-1)));
  }
  const Shape batch = common_shape(operation, a_batch, b_batch);
  const Factor left = expanded(a, batch);
  const Factor right = expanded(b, batch);
  if (!a.mask && !b.mask) return product(left.value, right.value);
  if (batch.empty()) return masked_product(operation, left, right);
  const Tensor c =
      empty(with_matrix(batch, left.value.size(-2), right.value.size(-1)), a.value.dtype());
  parallel_for(element_count(batch), [&](std::int64_t i) {
    const auto entry = [i](const Tensor& t) { return matrix_at(t, i); };
    const Tensor result = masked_product(operation, both_by(left, entry), both_by(right, entry));
    kernels::copy(result.shape(), entry(c).array(), result.array());
  });
  return c;
}

// --- gradients ---

/// Where an element of p · q may have a part: its row of p and its column of q are not masked away.
std::optional<Tensor> live_products(const char* operation, const Factor& p, const Factor& q,
                                    const Shape& shape) {
  std::optional<Tensor> live;
  if (p.mask) live = expand(any(operation, *p.mask, -1, true), shape);
  if (q.mask) live = autograd::both(live, expand(any(operation, *q.mask, -2, true), shape));
  if (live && all(*live).item<bool>()) live.reset();
  return live;
}

/// The gradient p · q of a factor `x`, summed over the batch entries that shared it.
Gradient factor_gradient(const char* operation, Factor p, Factor q, const Factor& x) {
  const Shape batch = common_shape(operation, batch_of(p.value), batch_of(q.value));
  if (!batch.empty() && element_count(batch_of(x.value)) == 1) {
    // The sum over the batch is a part of the contraction, so that what is masked in all of an
    // entry's products is left out of it.
    p = both_by(expanded(p, batch), [](const Tensor& t) {
      return reshape(movedim(t, -2, 0), {t.size(-2), element_count(batch_of(t)) * t.size(-1)});
    });
    q = both_by(expanded(q, batch), [](const Tensor& t) {
      return reshape(t, {element_count(batch_of(t)) * t.size(-2), t.size(-1)});
    });
  }
  // A gradient that lies in memory as its tensor does is undone by views without a copy.
  Gradient result;
  result.value =
      is_row_major(x.value)
          ? contract(operation, p.value, p.mask, q.value, q.mask)
          : transpose(contract(operation, transpose(q.value, -2, -1), turned_factor(q).mask,
                               transpose(p.value, -2, -1), turned_factor(p).mask),
                      -2, -1);
  result.mask = live_products(operation, p, q, result.value.shape());
  if (result.value.ndim() < x.value.ndim()) {
    result.value = reshape(result.value, x.value.shape());
    if (result.mask) result.mask = reshape(*result.mask, x.value.shape());
  }
  result = rules::expand(x.value.shape(), result);
  result.mask = autograd::both(result.mask, x.mask);
  return result;
}

std::optional<Tensor> detached(const std::optional<Tensor>& x) {
  return x ? std::optional(x->detach()) : std::nullopt;
}

}  // namespace

Tensor contract(const char* operation, const Tensor& a, const std::optional<Tensor>& a_mask,
                const Tensor& b, const std::optional<Tensor>& b_mask) {
  Tensor c = forward(operation, {a.detach(), detached(a_mask)}, {b.detach(), detached(b_mask)});
  if (!autograd::is_recorded(a) && !autograd::is_recorded(b)) return c;
  std::vector<autograd::SavedTensor> saved{autograd::SavedTensor(a), autograd::SavedTensor(b)};
  for (const auto& mask : {a_mask, b_mask}) {
    if (mask) saved.emplace_back(*mask);
  }
  autograd::record(operation, c, {a, b}, std::move(saved),
                   [operation, has_a = a_mask.has_value(), has_b = b_mask.has_value()](
                       const autograd::Saved& kept, const Gradient& g) {
                     Factor left{kept[0], {}};
                     Factor right{kept[1], {}};
                     if (has_a) left.mask = kept[2];
                     if (has_b) right.mask = kept[has_a ? 3 : 2];
                     const Factor from{g.value, g.mask};
                     std::vector<Gradient> back(2);
                     if (kept.needs(0)) {
                       back[0] = factor_gradient(operation, from, turned_factor(right), left);
                     }
                     if (kept.needs(1)) {
                       back[1] = factor_gradient(operation, turned_factor(left), from, right);
                     }
                     return back;
                   });
  return c;
}

}  // namespace loup::ops
