#include "loup/ops/gather.h"

#include <utility>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/lookup.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

namespace loup::ops {

namespace {

/// A 0-d tensor is indexed as if it had one dim.
Tensor with_a_dim(const Tensor& x) { return x.ndim() == 0 ? unsqueeze(x, 0) : x; }

Shape shape_of(const Tensor& x) { return x.ndim() == 0 ? Shape{1} : x.shape(); }

/// Each element of the result has an index of its own.
Lookup lookup_along(const char* operation, const Tensor& x, std::int64_t dim, const Tensor& index) {
  return element_lookup(operation, shape_of(x), normalize_dim(operation, dim, x.ndim()),
                        with_a_dim(index));
}

/// A vector of indices for whole slices.
Lookup slice_lookup(const char* operation, const Tensor& x, std::int64_t wanted_dim,
                    const Tensor& index) {
  check_index_dtype(operation, index.dtype());
  const int dim = normalize_dim(operation, wanted_dim, x.ndim());
  if (index.ndim() > 1) {
    throw ShapeError("{}: expected a vector of indices, got shape {}", operation, index.shape());
  }
  const Tensor vector = with_a_dim(index);
  Shape shape = shape_of(x);
  Dims moves;
  for (int i = 0; i < shape.size(); ++i) moves.push_back(i == dim ? -1 : i);
  shape[dim] = vector.size();
  Lookup result{operation, shape, shape_of(x), moves, dim, {}};
  set_indices(result, {vector}, vector.shape(), dim);
  return result;
}

/// What of `source` is written where the lookup looks.
Tensor scattered(const Lookup& lookup, const Tensor& x, const Tensor& source) {
  if (promote(x.dtype(), source.dtype()) != x.dtype()) {
    throw DTypeError("{}: expected a source that {} holds, got {}", lookup.operation, x.dtype(),
                     source.dtype());
  }
  Tensor result = with_a_dim(source);
  bool fits = result.ndim() == lookup.shape.size();
  for (int i = 0; fits && i < result.ndim(); ++i) fits = lookup.shape[i] <= result.shape()[i];
  if (!fits) {
    throw ShapeError("{}: expected a source nowhere shorter than the indices of shape {}, got {}",
                     lookup.operation, lookup.shape, source.shape());
  }
  for (int i = 0; i < result.ndim(); ++i) {
    if (result.shape()[i] != lookup.shape[i]) result = narrow(result, i, 0, lookup.shape[i]);
  }
  return result;
}

/// Slices as many as there are indices.
Tensor slices(const Lookup& lookup, const Tensor& x, const Tensor& source) {
  if (with_a_dim(source).shape() != lookup.shape) {
    throw ShapeError("{}: expected a source of shape {}, got {}", lookup.operation, lookup.shape,
                     source.shape());
  }
  return scattered(lookup, x, source);
}

Tensor everywhere(const Lookup& lookup, const Tensor& x, Scalar value) {
  return expand(full({}, value, x.dtype()), lookup.shape);
}

Tensor scaled(const Tensor& source, Scalar alpha) {
  return alpha.to<double>() == 1 ? source : to(source * alpha, source.dtype());
}

using Change = Tensor (*)(const Lookup&, const Tensor&, const Tensor&);
/// Changes of a 0-d tensor are made in one of one dim.
Tensor change_of(Change change, const Lookup& lookup, const Tensor& x, const Tensor& y) {
  return x.ndim() == 0 ? select(change(lookup, with_a_dim(x), y), 0, 0) : change(lookup, x, y);
}

void require_dims(const char* operation, const Tensor& x) {
  if (x.ndim() == 0) throw ShapeError("{}: expected a tensor with dims, got 0-d", operation);
}

}  // namespace

Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index) {
  const Tensor result = take(slice_lookup("index_select", x, dim, index), with_a_dim(x));
  return x.ndim() == 0 && result.size() == 1 ? select(result, 0, 0) : result;
}

Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index) {
  const Tensor result = take(lookup_along("gather", x, dim, index), with_a_dim(x));
  return index.ndim() == 0 ? select(result, 0, 0) : result;
}

Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<std::int64_t> dim) {
  const char* const name = "take_along_dim";
  if (!dim) {
    const Tensor flat = reshape(indices, {-1});
    return take(lookup_along(name, reshape(x, {-1}), 0, flat), reshape(x, {-1}));
  }
  require_dims(name, x);
  const int d = normalize_dim(name, *dim, x.ndim());
  if (indices.ndim() != x.ndim()) {
    throw ShapeError("{}: expected indices of {} dims, got shape {}", name, x.ndim(),
                     indices.shape());
  }
  Shape of_x = x.shape();
  Shape of_indices = indices.shape();
  of_x[d] = 1;
  of_indices[d] = 1;
  Shape shape = common_shape(name, of_x, of_indices);
  shape[d] = x.shape()[d];
  const Tensor whole = expand(x, shape);
  shape[d] = indices.shape()[d];
  return take(lookup_along(name, whole, d, expand(indices, shape)), whole);
}

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const Lookup lookup = lookup_along("scatter", x, dim, index);
  return change_of(put, lookup, x, scattered(lookup, x, source));
}

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, Scalar value) {
  const Lookup lookup = lookup_along("scatter", x, dim, index);
  return change_of(put, lookup, x, everywhere(lookup, x, value));
}

Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const Lookup lookup = lookup_along("scatter_add", x, dim, index);
  return change_of(add_at, lookup, x, scattered(lookup, x, source));
}

Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Scalar alpha) {
  const Lookup lookup = slice_lookup("index_add", x, dim, index);
  return change_of(add_at, lookup, x, slices(lookup, x, scaled(source, alpha)));
}

Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const Lookup lookup = slice_lookup("index_copy", x, dim, index);
  return change_of(put, lookup, x, slices(lookup, x, source));
}

Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, Scalar value) {
  const Lookup lookup = slice_lookup("index_fill", x, dim, index);
  return change_of(put, lookup, x, everywhere(lookup, x, value));
}

void scatter_(Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  require_dims("scatter_", x);
  const Lookup lookup = lookup_along("scatter_", x, dim, index);
  put_(lookup, x, scattered(lookup, x, source));
}

void scatter_(Tensor& x, std::int64_t dim, const Tensor& index, Scalar value) {
  require_dims("scatter_", x);
  const Lookup lookup = lookup_along("scatter_", x, dim, index);
  put_(lookup, x, everywhere(lookup, x, value));
}

void scatter_add_(Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  require_dims("scatter_add_", x);
  const Lookup lookup = lookup_along("scatter_add_", x, dim, index);
  add_at_(lookup, x, scattered(lookup, x, source));
}

void index_add_(Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                Scalar alpha) {
  require_dims("index_add_", x);
  const Lookup lookup = slice_lookup("index_add_", x, dim, index);
  add_at_(lookup, x, slices(lookup, x, scaled(source, alpha)));
}

void index_copy_(Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  require_dims("index_copy_", x);
  const Lookup lookup = slice_lookup("index_copy_", x, dim, index);
  put_(lookup, x, slices(lookup, x, source));
}

void index_fill_(Tensor& x, std::int64_t dim, const Tensor& index, Scalar value) {
  require_dims("index_fill_", x);
  const Lookup lookup = slice_lookup("index_fill_", x, dim, index);
  put_(lookup, x, everywhere(lookup, x, value));
}

}  // namespace loup::ops
