#include "loup/kernels/sort_columns.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/sort_columns.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/simd-inl.h"

// Batcher's odd-even merge sort: a fixed sequence of comparisons of two rows, each of which puts
// the smaller words into the first. Columns never meet, so a vector sorts as many as it has lanes.

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

using Words = hn::CappedTag<std::uint64_t, 8>;

std::int64_t column_count() { return lanes<Words>; }

/// Compares rows [first, last) with those `distance` behind.
HWY_INLINE void compare_rows(std::uint64_t* words, std::int64_t first, std::int64_t last,
                             std::int64_t distance) {
  const Words d;
  constexpr std::int64_t N = lanes<Words>;
  for (std::int64_t row = first; row < last; ++row) {
    std::uint64_t* const upper = words + row * N;
    std::uint64_t* const lower = upper + distance * N;
    const auto a = hn::LoadU(d, upper);
    const auto b = hn::LoadU(d, lower);
    hn::StoreU(hn::Min(a, b), d, upper);
    hn::StoreU(hn::Max(a, b), d, lower);
  }
}

void sort_word_columns(std::uint64_t* words, std::int64_t rows) {
  for (std::int64_t size = 1; size < rows; size *= 2) {
    // Blocks of `size` rows are sorted: merges pairs of them.
    for (std::int64_t distance = size; distance > 0; distance /= 2) {
      for (std::int64_t row = distance % size; row + distance < rows; row += 2 * distance) {
        // Rows of different pairs are not compared.
        if (row / (2 * size) != (row + distance) / (2 * size)) continue;
        compare_rows(words, row, std::min(row + distance, rows - distance), distance);
      }
    }
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(column_count);
HWY_EXPORT(sort_word_columns);

std::int64_t sorted_columns() { return HWY_DYNAMIC_DISPATCH(column_count)(); }
void sort_columns(std::uint64_t* words, std::int64_t rows) {
  HWY_DYNAMIC_DISPATCH(sort_word_columns)(words, rows);
}
}  // namespace loup::kernels
#endif
