#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/export.h"

// What can be asked about rows in the order of kernels/sort.h: NaN is the greatest, and all NaN are
// equal, as are 0 and -0.

namespace loup::kernels {

/// For each of `wanted` values how many elements of a sorted row of `count` stand before it: those
/// that are smaller, or, from the `right`, those that are not greater. All have one dtype.
LOUP_EXPORT void search_row(DType dtype, const std::byte* row, std::int64_t count,
                            const std::byte* values, std::int64_t wanted, bool right,
                            std::int64_t* places);

/// The order of rows of `cols` elements each, first element first. Equal rows keep theirs.
LOUP_EXPORT void sort_lines(DType dtype, const std::byte* from, std::int64_t rows,
                            std::int64_t cols, std::int64_t* positions);

/// Whether a row is the first of several equal ones, in the order that `positions` gives; null: as
/// they stand.
LOUP_EXPORT void mark_first(DType dtype, const std::byte* from, const std::int64_t* positions,
                            std::int64_t rows, std::int64_t cols, bool* is_first);

}  // namespace loup::kernels
