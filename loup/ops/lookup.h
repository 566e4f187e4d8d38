#pragma once

#include <vector>

#include "loup/autograd/gradient.h"
#include "loup/tensor/tensor.h"

// Elements found by indices: what gather, scatter, index_select and x[i, j] have in common. A
// lookup is linear in the elements, and each of these functions is the gradient of another.

namespace loup::ops {

/// For every position of `shape`, an element of a tensor of shape `source`.
struct Lookup {
  const char* operation;        // for errors and records
  Shape shape;                  // of the dense side: what is taken, or put
  Shape source;                 // of the side that is indexed
  Dims moves;                   // for each dim of `shape`: the dim of `source` beside it, or -1
  Dims dims;                    // of `source`: those that indices reach
  std::vector<Tensor> indices;  // one for each of them: integers, repeated to `shape`
};

/// DTypeError unless indices may have this dtype: integers, but not bool.
void check_index_dtype(const char* operation, DType dtype);

/// A lookup along `dim` of a tensor of shape `source`, in which every element of the result has an
/// index of its own. ShapeError when the index is longer than the tensor in another dim.
Lookup element_lookup(const char* operation, const Shape& source, int dim, const Tensor& index);

/// IndexError when an index is out of range.
void check_indices(const Lookup& lookup);
/// Repeats `indices`, broadcast to shape `found`, over the other dims of lookup.shape: theirs are
/// those from `place` on. Where the whole shape is empty for other reasons, checks them: no element
/// will be looked up.
void set_indices(Lookup& lookup, std::vector<Tensor> indices, const Shape& found, int place);

/// The elements that are found. IndexError when an index is out of range.
Tensor take(const Lookup& lookup, const Tensor& x);
/// Zeros of shape `source`, with the elements of `y` added where they are found.
Tensor spread_found(const Lookup& lookup, const Tensor& y);

/// The same for gradients: only what is live is added up, and a place is live where something
/// arrived.
autograd::Gradient spread_found(const Lookup& lookup, const autograd::Gradient& g);

/// `x` with the elements of `y`, of the lookup's shape, in place of those that are found; of
/// several for one place the last. Converts `y` to x's dtype.
Tensor put(const Lookup& lookup, const Tensor& x, const Tensor& y);
/// `x` with the elements of `y` added to those that are found, in order. Half types are added up in
/// float32.
Tensor add_at(const Lookup& lookup, const Tensor& x, const Tensor& y);

/// What these two write, into x itself, without a record. `y` has x's dtype, and neither it nor the
/// indices share memory with x. Where an index is out of range some elements may be written before
/// the error.
void write_at(const Lookup& lookup, const Tensor& x, const Tensor& y);
void write_sum_at(const Lookup& lookup, const Tensor& x, const Tensor& y);

/// The same in place; the operation is named as the lookup says.
void put_(const Lookup& lookup, Tensor& x, const Tensor& y);
void add_at_(const Lookup& lookup, Tensor& x, const Tensor& y);

}  // namespace loup::ops
