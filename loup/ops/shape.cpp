#include "loup/ops/shape.h"

#include <algorithm>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/triangle.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

/// How far each dim is rolled, from 0 up to its size.
Dims total_shifts(const Shape& shape, const Dims& shifts, const Dims& dims) {
  Dims result = Dims::filled(shape.size(), 0);
  for (int i = 0; i < dims.size(); ++i) {
    const int dim = normalize_dim("roll", dims[i], shape.size());
    if (shape.empty() || shape[dim] == 0) continue;
    const std::int64_t shift = shifts[i] % shape[dim];
    result[dim] = (result[dim] + shift + shape[dim]) % shape[dim];
  }
  return result;
}

Tensor rolled(const Tensor& x, const Dims& shifts) {
  Tensor result = empty_like(x);
  const int ndim = x.ndim();
  // Every rolled dim falls into two pieces that change places: 2^dims blocks, some empty.
  for (std::uint32_t block = 0; block < 1U << ndim; ++block) {
    Layout from = x.layout();
    Layout to = result.layout();
    for (int d = 0; d < ndim; ++d) {
      const std::int64_t size = x.shape()[d];
      const bool wraps = (block >> static_cast<unsigned>(d) & 1U) != 0;
      const std::int64_t length = wraps ? shifts[d] : size - shifts[d];
      from = loup::narrow(from, d, wraps ? size - shifts[d] : 0, length);
      to = loup::narrow(to, d, wraps ? 0 : shifts[d], length);
    }
    kernels::copy(from.shape, result.with_layout(to).array(), x.with_layout(from).array());
  }
  if (autograd::is_recorded(x)) {
    Dims back = shifts;
    for (int d = 0; d < ndim; ++d) back[d] = shifts[d] == 0 ? 0 : x.shape()[d] - shifts[d];
    autograd::record("roll", result, {x}, {},
                     [back](const Saved&, const Gradient& g) -> std::vector<Gradient> {
                       Gradient gradient{rolled(g.value, back), {}};
                       if (g.mask) gradient.mask = rolled(*g.mask, back);
                       return {gradient};
                     });
  }
  return result;
}

/// `shape` cut at `dim` into what is outside, the dim itself and what is inside of it.
Shape around(const Shape& shape, int dim) {
  Shape result{1, shape[dim], 1};
  for (int i = 0; i < shape.size(); ++i) {
    if (i != dim) result[i < dim ? 0 : 2] *= shape[i];
  }
  return result;
}

/// Copies of the whole dim side by side (`whole`), or of each element.
Tensor repeat_dim(const Tensor& x, int dim, std::int64_t repeats, bool whole) {
  if (repeats == 1) return x;
  Shape shape = x.shape();
  shape[dim] *= repeats;
  // As a matrix of at most four dims, so that no tensor has too many.
  Shape inside = around(x.shape(), dim);
  const int place = whole ? 1 : 2;
  const Tensor once = unsqueeze(reshape(x, inside), place);
  inside.insert(place, repeats);
  return reshape(expand(once, inside), shape);
}

void check_repeats(const char* operation, const Dims& repeats) {
  for (const std::int64_t count : repeats) {
    if (count < 0) throw ValueError("{}: expected repeats of at least 0, got {}", operation, count);
  }
}

Tensor repeated_along(const Tensor& x, const Dims& repeats) {
  Shape shape = x.shape();
  while (shape.size() < repeats.size()) shape.insert(0, 1);
  Tensor result = reshape(x, shape);
  // Innermost first: the copies that are copied again are the small ones.
  for (int d = repeats.size(); d-- > 0;) result = repeat_dim(result, d, repeats[d], true);
  // One that is not repeated at all is a copy, too.
  return result.storage() == x.storage() ? clone(result) : result;
}

/// Where the triangle keeps its elements.
Tensor triangle_mask(const Shape& shape, kernels::Triangle kind, std::int64_t diagonal) {
  const int ndim = shape.size();
  const Shape matrix{shape[ndim - 2], shape[ndim - 1]};
  const Tensor all = ones({1, 1}, DType::boolean);
  const Tensor mask = empty(matrix, DType::boolean);
  kernels::triangle(matrix, mask.array(), expand(all, matrix).array(), kind, diagonal);
  return expand(mask, shape);
}

Tensor triangle(const char* operation, const Tensor& x, kernels::Triangle kind,
                std::int64_t diagonal) {
  if (x.ndim() < 2) {
    throw ShapeError("{}: expected at least 2 dims, got shape {}", operation, x.shape());
  }
  Tensor result = empty_like(x);
  kernels::triangle(x.shape(), result.array(), x.array(), kind, diagonal);
  if (autograd::is_recorded(x)) {
    autograd::record(operation, result, {x}, {},
                     [=](const Saved&, const Gradient& g) -> std::vector<Gradient> {
                       const Tensor kept = triangle_mask(g.value.shape(), kind, diagonal);
                       return {{g.value, autograd::both(g.mask, kept)}};
                     });
  }
  return result;
}

}  // namespace

Tensor movedim(const Tensor& x, const Dims& from, const Dims& to) {
  return apply_view("movedim", x, [=](const Layout& l) { return loup::movedim(l, from, to); });
}

Tensor swapaxes(const Tensor& x, std::int64_t a, std::int64_t b) { return transpose(x, a, b); }

Tensor unflatten(const Tensor& x, std::int64_t dim, const Shape& sizes) {
  return reshape(x, unflat_shape(x.shape(), dim, sizes));
}

Tensor diagonal(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  return apply_view("diagonal", x,
                    [=](const Layout& l) { return loup::diagonal(l, offset, dim1, dim2); });
}

Tensor flip(const Tensor& x, const Dims& dims) {
  return clone(apply_view("flip", x, [=](const Layout& l) { return loup::flip(l, dims); }));
}

Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims) {
  if (dims.empty()) {
    if (shifts.size() != 1) {
      throw ValueError("roll: expected one shift without dims, got {}", shifts);
    }
    const Tensor flat = reshape(x, {-1});
    return reshape(rolled(flat, total_shifts(flat.shape(), shifts, 0)), x.shape());
  }
  if (shifts.size() != dims.size()) {
    throw ValueError("roll: expected as many shifts as dims, got {} and {}", shifts, dims);
  }
  return rolled(x, total_shifts(x.shape(), shifts, dims));
}

Tensor repeat(const Tensor& x, const Dims& repeats) {
  check_repeats("repeat", repeats);
  if (repeats.size() < x.ndim()) {
    throw ShapeError("repeat: expected at least {} repeats for shape {}, got {}", x.ndim(),
                     x.shape(), repeats);
  }
  return repeated_along(x, repeats);
}

Tensor tile(const Tensor& x, const Dims& repeats) {
  check_repeats("tile", repeats);
  Dims all = repeats;
  while (all.size() < x.ndim()) all.insert(0, 1);
  return repeated_along(x, all);
}

Tensor repeat_interleave(const Tensor& x, std::int64_t repeats, std::optional<std::int64_t> dim) {
  check_repeats("repeat_interleave", repeats);
  if (!dim || x.ndim() == 0) {
    if (dim) normalize_dim("repeat_interleave", *dim, 0);
    const Tensor flat = reshape(x, {-1});
    const Tensor result = repeat_dim(flat, 0, repeats, false);
    return result.storage() == x.storage() ? clone(result) : result;
  }
  const Tensor result =
      repeat_dim(x, normalize_dim("repeat_interleave", *dim, x.ndim()), repeats, false);
  return result.storage() == x.storage() ? clone(result) : result;
}

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  return triangle("tril", x, kernels::Triangle::lower, diagonal);
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  return triangle("triu", x, kernels::Triangle::upper, diagonal);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> tensors, Indexing indexing) {
  if (tensors.empty()) throw ValueError("meshgrid: expected at least one tensor, got none");
  const bool swaps = indexing == Indexing::xy && tensors.size() > 1;
  const auto place = [swaps](int i) { return swaps && i < 2 ? 1 - i : i; };
  const int count = static_cast<int>(tensors.size());
  Shape grid = Dims::filled(count, 1);
  for (int i = 0; i < count; ++i) {
    const Tensor& x = tensors[static_cast<std::size_t>(i)];
    if (x.ndim() > 1) {
      throw ShapeError("meshgrid: expected tensors of at most one dim, got shape {}", x.shape());
    }
    grid[place(i)] = x.size();
  }
  std::vector<Tensor> result;
  for (int i = 0; i < count; ++i) {
    Shape line = Dims::filled(count, 1);
    line[place(i)] = grid[place(i)];
    result.push_back(expand(reshape(tensors[static_cast<std::size_t>(i)], line), grid));
  }
  return result;
}

}  // namespace loup::ops
