#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "loup/base/array.h"
#include "loup/base/dims.h"
#include "loup/export.h"

// Elements found by indices. A loop over `shape` visits a dense array, whose strides are those of
// the loop, and an indexed one, of which some dims are reached through arrays of indices instead.

namespace loup::kernels {

/// One dim that indices reach.
struct IndexedDim {
  Array indices;      // of an integer dtype, with strides over the loop; negative ones count back
  std::int64_t size;  // how many elements the dim has
  std::int64_t step;  // from one to the next, in elements
};

/// At position p of the loop stands element p · array.strides + Σ index(p) · step of the array.
struct Indexed {
  Array array;  // strides over the loop: 0 along those of its dims that only serve the indices
  std::span<const IndexedDim> dims;
};

/// to = from, element by element; both have one dtype. False when an index is out of range: then
/// nothing was read through it, and `to` holds anything.
LOUP_EXPORT bool gather(const Shape& shape, const Array& to, const Indexed& from);

/// The other way round. Where several elements go to one place the last in row-major order stays.
/// False when an index is out of range: then nothing was written through it, but others may have
/// been.
LOUP_EXPORT bool scatter(const Shape& shape, const Indexed& to, const Array& from);
/// Adds to what is there, in row-major order; true or true is true. Half types are rounded after
/// every addition. False as for scatter().
LOUP_EXPORT bool scatter_add(const Shape& shape, const Indexed& to, const Array& from);

struct OutOfRange {
  int dim;  // which of the indexed dims
  std::int64_t index;
};
/// The first index that is out of range.
LOUP_EXPORT std::optional<OutOfRange> find_out_of_range(const Shape& shape,
                                                        std::span<const IndexedDim> dims);

}  // namespace loup::kernels
