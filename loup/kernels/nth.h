#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/export.h"

// Order statistics. Elements are compared as keys: signed integers of 4 or 8 bytes in the same
// order, -0 before 0. NaN have no place in that order, so kernels only tell whether there are any.

namespace loup::kernels {

/// Kernels write whole vectors: room behind the last key, in keys.
inline constexpr std::int64_t key_slack = 16;

/// How elements of one dtype are ordered, for the best instruction set of this CPU. Results do not
/// depend on which that is.
struct NthKernel {
  std::int64_t key_bytes;
  /// Writes the keys of the elements that count, one after the other, and sets `has_nan` when one
  /// of them is NaN. Returns how many; `mask` null: all count. There is room for `count` keys and
  /// key_slack more.
  std::int64_t (*collect)(const std::byte* x, const std::uint8_t* mask, std::int64_t count,
                          std::byte* keys, bool& has_nan);
  /// The key that stands at place `nth` when all are sorted; 0 <= nth < count. The keys stay as
  /// they are, with key_slack behind them; `spare` is other memory with as much room.
  std::int64_t (*select)(std::byte* keys, std::int64_t count, std::int64_t nth, std::byte* spare);
  /// The key that stands behind `key`, which stands at place `nth`; nth + 1 < count.
  std::int64_t (*next)(const std::byte* keys, std::int64_t count, std::int64_t nth,
                       std::int64_t key);
};

LOUP_EXPORT const NthKernel& nth_kernel(DType dtype);

/// Writes the element of a key.
LOUP_EXPORT void write_key(DType dtype, std::int64_t key, std::byte* to);
/// The element of a key, rounded where it is an int64.
LOUP_EXPORT double value_of_key(DType dtype, std::int64_t key);

/// Lines side by side: `count` of them, of `size` elements each, and steps in elements.
struct NthBlock {
  const std::byte* x;
  const std::uint8_t* mask;  // null: all elements count
  std::int64_t x_line, x_step;
  std::int64_t mask_line, mask_step;
  std::int64_t lines, size;
};
/// For each line the first position of an element that counts and equals the value of its line, NaN
/// equal to NaN; -1 where there is none. Values and positions lie `value_line` elements apart.
LOUP_EXPORT void find_first(DType dtype, const NthBlock& block, const std::byte* values,
                            std::int64_t value_line, std::int64_t* positions);

}  // namespace loup::kernels
