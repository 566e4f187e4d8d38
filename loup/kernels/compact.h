#pragma once

#include <cstdint>
#include <vector>

#include "loup/base/array.h"
#include "loup/base/dims.h"
#include "loup/export.h"

// The elements where a mask is true, in row-major order. Masks are of bool. All use threads: the
// loop is cut into parts, whose true elements are counted first.

namespace loup::kernels {

/// How many true elements stand before each part of the mask, and, last, how many there are.
LOUP_EXPORT std::vector<std::int64_t> count_true(const Shape& shape, const Array& mask);

// The last argument of the others is what count_true() gave for the mask.

/// Writes the elements of `from` where the mask is true, one after the other.
LOUP_EXPORT void compact(const Shape& shape, const Array& mask, const Array& from, std::byte* to,
                         const std::vector<std::int64_t>& starts);
/// Writes elements that lie one after the other where the mask is true; leaves the others alone.
LOUP_EXPORT void place(const Shape& shape, const Array& mask, const Array& to,
                       const std::byte* from, const std::vector<std::int64_t>& starts);
/// Writes the indices of the true elements: all of the first dim, then of the second, ….
LOUP_EXPORT void coordinates(const Shape& shape, const Array& mask, std::int64_t* to,
                             const std::vector<std::int64_t>& starts);

}  // namespace loup::kernels
