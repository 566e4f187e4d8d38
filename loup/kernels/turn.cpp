#include "loup/kernels/turn.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/turn.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// What each 128-bit block of a vector holds lies `stride` elements after the one before.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const hn::TFromD<D>* from, std::int64_t stride) {
  constexpr std::int64_t bytes = lanes<D> * static_cast<std::int64_t>(sizeof(hn::TFromD<D>));
  if constexpr (bytes == 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + bytes / 32 * stride, stride),
                       load_blocks(half, from, stride));
  }
}

/// A tile of `side` rows and as many columns as a vector has lanes: each 128-bit block of a vector
/// turns a square of its own.
template <class D>
struct Tile {
  using T = hn::TFromD<D>;
  static constexpr std::int64_t side = 16 / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t width = lanes<D>;
  using Row = hn::Vec<D>;

  /// Writes only the first `rows` rows, but reads all.
  static HWY_INLINE void turn(T* to, std::int64_t to_row, const T* from, std::int64_t from_col,
                              std::int64_t rows = side) {
    const D d;
    Row tile[side];
    for (std::int64_t i = 0; i < side; ++i) {
      tile[i] = load_blocks(d, from + i * from_col, side * from_col);
    }
    // Interleaving row i with row i + side / 2 as often as it takes moves every element home.
    for (std::int64_t done = 1; done < side; done *= 2) {
      Row next[side];
      for (std::int64_t i = 0; i < side / 2; ++i) {
        next[2 * i] = hn::InterleaveLower(d, tile[i], tile[i + side / 2]);
        next[2 * i + 1] = hn::InterleaveUpper(d, tile[i], tile[i + side / 2]);
      }
      std::copy_n(next, side, tile);
    }
    for (std::int64_t i = 0; i < side; ++i) {
      if (i < rows) hn::StoreU(tile[i], d, to + i * to_row);
    }
  }
};

/// Planes too narrow for a tile, in squares that both stay in the cache.
template <class T>
void turn_slowly(T* to, std::int64_t to_row, const T* from, std::int64_t from_col,
                 std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t square = 32;
  for (std::int64_t c0 = 0; c0 < cols; c0 += square) {
    const std::int64_t c1 = std::min(cols, c0 + square);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = c0; c < c1; ++c) to[r * to_row + c] = from[r + c * from_col];
    }
  }
}

/// Tiles of D's lanes, or of fewer when there are not so many columns.
template <class D, class T = hn::TFromD<D>>
void turn_by(D /*d*/, T* to, std::int64_t to_row, const T* from, std::int64_t from_col,
             std::int64_t rows, std::int64_t cols) {
  using Tile = Tile<D>;
  if (cols < Tile::width) {
    if constexpr (Tile::width > Tile::side) {
      return turn_by(hn::Half<D>(), to, to_row, from, from_col, rows, cols);
    }
    return turn_slowly(to, to_row, from, from_col, rows, cols);
  }
  if (rows < Tile::side) {
    // Tiles read rows that are not asked for: what lies between this column and the next, and not
    // what lies behind the last one.
    const std::int64_t last = from_col > 0 ? (Tile::side - rows + from_col - 1) / from_col : cols;
    std::int64_t c = 0;
    for (; c + Tile::width <= cols - last; c += Tile::width) {
      Tile::turn(to + c, to_row, from + c * from_col, from_col, rows);
    }
    return turn_slowly(to + c, to_row, from + c * from_col, from_col, rows, cols - c);
  }
  // The last tiles of a row and of a column reach back over what their neighbours did, too.
  // Columns outside: their lines may be a power of two apart and push each other out of the cache.
  for (std::int64_t c0 = 0; c0 < cols; c0 += Tile::width) {
    const std::int64_t c = std::min(c0, cols - Tile::width);
    for (std::int64_t r0 = 0; r0 < rows; r0 += Tile::side) {
      const std::int64_t r = std::min(r0, rows - Tile::side);
      Tile::turn(to + r * to_row + c, to_row, from + r + c * from_col, from_col);
    }
  }
}

template <class T>
void turn(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_col,
          std::int64_t rows, std::int64_t cols) {
  turn_by(hn::ScalableTag<T>(), reinterpret_cast<T*>(to), to_row, reinterpret_cast<const T*>(from),
          from_col, rows, cols);
}

TurnRun find(std::int64_t item_bytes) {
  switch (item_bytes) {
    case 1: return turn<std::uint8_t>;
    case 2: return turn<std::uint16_t>;
    case 4: return turn<std::uint32_t>;
    default: return turn<std::uint64_t>;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find);
TurnRun find_turn(std::int64_t item_bytes) { return HWY_DYNAMIC_DISPATCH(find)(item_bytes); }
}  // namespace loup::kernels
#endif
