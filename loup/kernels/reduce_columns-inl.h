// The loops over columns that every reduction shares: tiles of rows side by side. Included once per
// instruction set, by reduce-inl.h, which says what an Op is.

#if defined(LOUP_KERNELS_REDUCE_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_REDUCE_COLUMNS_INL_H_
#undef LOUP_KERNELS_REDUCE_COLUMNS_INL_H_
#else
#define LOUP_KERNELS_REDUCE_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "loup/kernels/reduce.h"
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// Rows folded together: horizontal sums of single rows would cost more than short rows themselves.
inline constexpr std::int64_t group_rows = 8;

/// Up to `group_rows` rows that are folded in registers before the states are touched.
template <class T, class Mask>
struct Tile {
  const T* x[group_rows];
  Mask mask[group_rows];
  std::int64_t rows;
  // Of row r: index + place[r] * index_step.
  std::int64_t index;
  std::int64_t index_step;
  std::int8_t place[group_rows];
};

/// The rows of a block from `first` on that count, of group_rows. Rows are tiled by their position,
/// so a mask of whole rows gives the bits of the same mask written out.
template <class T, class Rows, class Mask = decltype(Rows().mask(0))>
HWY_NOINLINE Tile<T, Mask> make_tile(const Block& b, Rows rows, std::int64_t first) {
  Tile<T, Mask> tile;
  tile.rows = 0;
  tile.index = b.index + first * b.index_row;
  tile.index_step = b.index_row;
  const std::int64_t end = std::min(b.rows, first + group_rows);
  for (std::int64_t r = first; r < end; ++r) {
    if (!rows.counts(r)) continue;
    tile.x[tile.rows] = static_cast<const T*>(b.x) + r * b.x_row;
    tile.mask[tile.rows] = rows.mask(r);
    tile.place[tile.rows] = static_cast<std::int8_t>(r - first);
    ++tile.rows;
  }
  return tile;
}

/// The rows behind a block as if all of them counted: mostly another block's, to be fetched alone.
template <class T, class Rows, class Mask = decltype(Rows().mask(0))>
HWY_NOINLINE Tile<T, Mask> tile_behind(const Block& b, Rows rows) {
  Tile<T, Mask> tile{};
  tile.rows = group_rows;
  for (std::int64_t r = 0; r < group_rows; ++r) {
    const auto bytes = static_cast<std::uintptr_t>((b.rows + r) * b.x_row) * sizeof(T);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): may lie behind the array, where no pointer may.
    tile.x[r] = reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(b.x) + bytes);
    tile.mask[r] = rows.mask(b.rows + r);
  }
  return tile;
}

/// A copy of a few columns, which may be read to the end of a vector.
template <class T, class Mask, std::int64_t N>
struct Rest {
  Tile<T, Mask> tile;
  HWY_NOINLINE Rest(const Tile<T, Mask>& from, std::int64_t c, std::int64_t count) : tile(from) {
    for (std::int64_t r = 0; r < from.rows; ++r) {
      for (std::int64_t i = 0; i < N; ++i) {
        x_[r][i] = from.x[r][c + std::min(i, count - 1)];
        mask_[r][i] = i < count && from.mask[r][c + i] ? 1 : 0;
      }
      tile.x[r] = x_[r];
      if constexpr (std::is_same_v<Mask, ByteMask>) tile.mask[r].bytes = mask_[r];
    }
  }

 private:
  T x_[group_rows][N];
  std::uint8_t mask_[group_rows][N];
};

/// The columns from c on of a tile of any number of rows.
template <class Op, class D, class T, class Mask>
HWY_NOINLINE void tile_of_rows(D d, typename Op::Partial* state, std::int64_t n,
                               const Tile<T, Mask>& tile, std::int64_t c) {
  Op::template tile<0>(d, state, n, tile, c);
}

/// The last columns, fewer than a vector has lanes: operands and states go through padded copies.
/// (Narrower vectors would do as well and take several times as long to compile.)
template <class Op, class D, class T, class Mask>
HWY_NOINLINE void across_rest(D d, const States& states, const Tile<T, Mask>& tile, std::int64_t c,
                              std::int64_t count) {
  using P = typename Op::Partial;
  constexpr std::int64_t N = lanes<D>;
  const Rest<T, Mask, N> rest(tile, c, count);
  P padded[Op::planes * N] = {};
  P* const state = static_cast<P*>(states.data) + states.first + c;
  for (int p = 0; p < Op::planes; ++p) std::copy_n(state + p * states.count, count, padded + p * N);
  tile_of_rows<Op>(d, padded, N, rest.tile, 0);
  for (int p = 0; p < Op::planes; ++p) std::copy_n(padded + p * N, count, state + p * states.count);
}

/// What lies this many bytes ahead in the rows of a tile is fetched, and at their end what the next
/// tile begins with. Masks are few bytes, and hardware keeps up with them.
inline constexpr std::int64_t tile_ahead = 2048;

/// So many bytes of a row are fetched at once: the more, the more hardware fetches by itself; but
/// kernels that read masks as well have too much under way then.
template <class Mask>
inline constexpr std::int64_t fetched_bytes = std::is_same_v<Mask, NoMask> ? 256 : 64;

template <class T, class Mask>
HWY_INLINE void prefetch_tile(const Tile<T, Mask>& tile, const Tile<T, Mask>& next, std::int64_t c,
                              std::int64_t cols) {
  const std::int64_t ahead = c + std::min(cols, tile_ahead / static_cast<std::int64_t>(sizeof(T)));
  const bool is_inside = ahead < cols;
  const T* const* const x = is_inside ? tile.x : next.x;
  const std::int64_t at = is_inside ? ahead : ahead - cols;
  for (std::int64_t r = 0; r < group_rows; ++r) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(x[r] + at);
    for (std::int64_t i = 0; i < fetched_bytes<Mask>; i += 64) hwy::Prefetch(bytes + i);
  }
}

/// All that the next tile will read, fetched to the second cache in the order in which it lies in
/// memory, which eight rows side by side keep less busy. Without a mask hardware keeps up, and in a
/// cache it would take longer.
template <class T, class Mask>
struct NextTile {
  const Tile<T, Mask>& tile;
  std::int64_t cols;
  std::int64_t row = 0;
  std::int64_t col = 0;

  /// As much as a tile has in one column of cache lines.
  HWY_INLINE void fetch() {
    if constexpr (std::is_same_v<Mask, ByteMask>) {
      constexpr std::int64_t bytes = group_rows * 64;
      constexpr std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(T));
      fetch_lines<bytes>(reinterpret_cast<const std::uint8_t*>(tile.x[row] + col));
      fetch_lines<count>(tile.mask[row].bytes + col);
      col += count;
      if (col < cols) return;
      col = 0;
      row = std::min(row + 1, group_rows - 1);
    }
  }

 private:
  template <std::int64_t bytes>
  static HWY_INLINE void fetch_lines(const std::uint8_t* at) {
    for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, 0, 2);
  }
};

/// Both tiles are complete.
template <class Op, class D, class T, class Mask>
HWY_INLINE std::int64_t across_whole_tile(D d, typename Op::Partial* state, std::int64_t n,
                                          const Tile<T, Mask>& tile, const Tile<T, Mask>& next,
                                          std::int64_t cols, bool is_far) {
  constexpr std::int64_t N = lanes<D>;
  constexpr std::int64_t step = fetched_bytes<Mask> / static_cast<std::int64_t>(sizeof(T));
  NextTile<T, Mask> behind{next, cols};
  std::int64_t c = 0;
  while (c + N <= cols) {
    prefetch_tile(tile, next, c, cols);
    if (is_far) behind.fetch();
    const std::int64_t end = std::min(c + step, cols - N + 1);
    do {
      Op::template tile<group_rows>(d, state + c, n, tile, c);
      c += N;
    } while (c < end);
  }
  return c;
}

template <class Op, class T, class Mask>
HWY_NOINLINE void across_tile(const States& states, const Tile<T, Mask>& tile,
                              const Tile<T, Mask>& next, std::int64_t cols, bool is_far) {
  using D = hn::ScalableTag<typename Op::Lane>;
  const D d;
  if (tile.rows == 0) return;
  auto* const state = static_cast<typename Op::Partial*>(states.data) + states.first;
  std::int64_t c = 0;
  if (tile.rows == group_rows) {
    const auto& fetched = next.rows == group_rows ? next : tile;
    c = across_whole_tile<Op>(d, state, states.count, tile, fetched, cols, is_far);
  } else {
    for (; c + lanes<D> <= cols; c += lanes<D>) {
      tile_of_rows<Op>(d, state + c, states.count, tile, c);
    }
  }
  if (c < cols) across_rest<Op>(d, states, tile, c, cols - c);
}

template <class Op, class Rows>
HWY_INLINE void across_rows(const States& states, const Block& b, Rows rows) {
  using T = typename Op::Element;
  std::int64_t counted = 0;
  if constexpr (requires { Op::open_columns(states, b.cols); }) Op::open_columns(states, b.cols);
  auto tile = make_tile<T>(b, rows, 0);
  for (std::int64_t first = 0; first < b.rows; first += group_rows) {
    const std::int64_t end = first + group_rows;
    const bool is_followed = end >= b.rows && b.is_far;
    const auto next = is_followed ? tile_behind<T>(b, rows) : make_tile<T>(b, rows, end);
    across_tile<Op>(states, tile, next, b.cols, b.is_far);
    counted += tile.rows;
    tile = next;
  }
  if constexpr (requires { Op::add_whole_rows(states, b.cols, counted); }) {
    if constexpr (std::is_same_v<Rows, WholeRows>) Op::add_whole_rows(states, b.cols, counted);
  }
  if constexpr (requires { Op::open_columns(states, b.cols); }) Op::close_columns(states, b.cols);
}

template <class Op>
void across(const States& states, const Block& b) {
  if (b.mask == nullptr || b.mask_col == 0) {
    across_rows<Op>(states, b, WholeRows{b.mask, b.mask_row});
  } else {
    across_rows<Op>(states, b, MaskedRows{b.mask, b.mask_row});
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
