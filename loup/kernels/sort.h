#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/export.h"

// Rows of contiguous elements in order. Equal elements stay in the order in which they stood; NaN
// counts as the greatest, and 0 and -0 as equal.

namespace loup::kernels {

/// How rows are sorted.
struct Sorting {
  DType dtype;
  std::int64_t count;  // elements of a row
  bool descending;
};

/// Room that sort_row() needs, aligned to 16 bytes.
LOUP_EXPORT std::int64_t sort_scratch_bytes(const Sorting& sorting);

/// Writes a row in order, and the positions where its elements stood; `values` may be null. With
/// `parts` above 1 that many threads share the work.
LOUP_EXPORT void sort_row(const Sorting& sorting, const std::byte* from, std::byte* values,
                          std::int64_t* positions, std::byte* scratch, std::int64_t parts = 1);

/// Writes the first `kept` elements of the sorted row only, of which there is at least one.
LOUP_EXPORT void select_row(const Sorting& sorting, std::int64_t kept, const std::byte* from,
                            std::byte* values, std::int64_t* positions, std::int64_t parts = 1);

}  // namespace loup::kernels
