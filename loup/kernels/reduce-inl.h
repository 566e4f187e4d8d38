// The loops over rows and columns that every reduction shares. Included once per instruction set.
//
// A reduction describes itself by a struct Op:
//   Element, Lane         type of elements in memory, and in a vector
//   Partial               type of partial results
//   planes                how many arrays of Partial a state has
//   kept_lanes            how many partial results a row leaves behind (a power of two)
//   row(row, out, plane)  one row into kept_lanes partial results in each plane
//   spread(d, lane, v, counts, out, plane)   lanes of a row so short that each is a partial result;
//                         where kept_lanes is more than 1
//   short_rows(block, rows, first, out, plane)   a group of rows of at most short_cols columns, all
//                         of which count and may be read past their end; if it is worth it
//   empty_row(out, plane) the partial results of a row of which nothing counts
//   fold(from, to, rows)  kept_lanes partial results of each row into one, for one plane
//   absorb(state, n, v)   a folded row into a state; planes of states lie n apart, of rows
//                         group_rows
//   absorb_group(state, n, v)   the same for group_rows rows and states
//   add_whole_rows(states, cols, rows)   what tiles without a mask leave out, because it is the
//                         same in all columns; if there is such a thing
//   open_columns, close_columns(states, cols)   from states as they are merged to states as tiles
//                         see them, and back; where those differ
//   tile<rows>(d, state, n, tile, c)   the columns from c on, one vector of them, into the states
//                         from `state` on; the tile has `rows` rows, or tile.rows when that is 0
// (or, in place of the last three, the across of kernels::Reducer itself)
// and the init, merge and finish of kernels::Reducer; `second` and finish_second where there are
// two results.
//
// The tree of operations depends on the number of columns alone: neither on the instruction set nor
// on how many rows are around.

#if defined(LOUP_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_REDUCE_INL_H_
#undef LOUP_KERNELS_REDUCE_INL_H_
#else
#define LOUP_KERNELS_REDUCE_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "loup/kernels/reduce_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// A row is consumed in chunks of this many bytes, the virtual vector that all instruction sets
/// share: 32 lanes of four bytes, 16 of eight.
inline constexpr std::int64_t chunk_bytes = 128;

/// Half types are widened to four bytes as they are loaded.
template <class T>
inline constexpr std::int64_t chunk_lanes = chunk_bytes / (sizeof(T) == 8 ? 8 : 4);

/// A row, and a copy of its last incomplete chunk wherever reading past the end is not safe.
template <class T, class Mask>
struct Row {
  const T* x;
  Mask mask;
  const T* x_tail;
  Mask mask_tail;
  std::int64_t cols;
  std::int64_t index;  // of the first element, for what asks where an element is
  std::int64_t index_step;
};
template <class T, class Mask>
Row(const T*, Mask, const T*, Mask, std::int64_t, std::int64_t, std::int64_t) -> Row<T, Mask>;

template <class T, class Mask>
HWY_INLINE FullType<T> element_at(const Row<T, Mask>& row, std::int64_t i) {
  const std::int64_t full = row.cols - row.cols % chunk_lanes<T>;
  return static_cast<FullType<T>>(i < full ? row.x[i] : row.x_tail[i - full]);
}

/// Room for the incomplete chunk at the end of a row.
template <class T>
struct TailBuffer {
  HWY_ALIGN T x[chunk_lanes<T>];
  HWY_ALIGN std::uint8_t mask[chunk_lanes<T>];

  HWY_NOINLINE Row<T, NoMask> copy(const T* row, NoMask /*m*/, std::int64_t cols) {
    const std::int64_t full = cols - cols % chunk_lanes<T>;
    std::copy_n(row + full, cols - full, x);
    return {row, {}, x, {}, cols, 0, 0};
  }
  HWY_NOINLINE Row<T, ByteMask> copy(const T* row, ByteMask m, std::int64_t cols) {
    const std::int64_t full = cols - cols % chunk_lanes<T>;
    std::copy_n(row + full, cols - full, x);
    std::copy_n(m.bytes + full, cols - full, mask);
    return {row, m, x, {mask}, cols, 0, 0};
  }
};

/// How many rows from the start may be read one chunk past their end, because the next rows lie in
/// the same memory.
template <class T>
HWY_INLINE std::int64_t readable_rows(const Block& b, bool has_bytes) {
  std::int64_t step = b.x_row;
  if (has_bytes) step = std::min(step, b.mask_row);
  if (step <= 0) return 0;
  return std::max<std::int64_t>(0, b.rows - (chunk_lanes<T> + step - 1) / step);
}

/// The partial results of one group of rows.
template <class Op>
struct Group {
  static constexpr std::int64_t plane = group_rows * Op::kept_lanes;
  HWY_ALIGN typename Op::Partial partials[Op::planes * plane];

  HWY_INLINE void fold_into(const States& states, std::int64_t first, bool shared,
                            std::int64_t rows) {
    // Rows that leave many partial results are worth inlining: they may be short.
    if constexpr (Op::kept_lanes > 1) {
      fold(states, first, shared, rows);
    } else {
      fold_once(states, first, shared, rows);
    }
  }

 private:
  HWY_NOINLINE void fold_once(const States& states, std::int64_t first, bool shared,
                              std::int64_t rows) {
    fold(states, first, shared, rows);
  }
  HWY_INLINE void fold(const States& states, std::int64_t first, bool shared, std::int64_t rows) {
    using P = typename Op::Partial;
    HWY_ALIGN P folded[Op::planes * group_rows];
    for (int p = 0; p < Op::planes; ++p) {
      Op::fold(partials + p * plane, folded + p * group_rows, rows);
    }
    P* const state = static_cast<P*>(states.data) + states.first;
    if (shared) {
      for (std::int64_t r = 0; r < rows; ++r) Op::absorb(state, states.count, folded + r);
    } else if (rows == group_rows) {
      Op::absorb_group(state + first, states.count, folded);
    } else {
      for (std::int64_t r = 0; r < rows; ++r) {
        Op::absorb(state + first + r, states.count, folded + r);
      }
    }
  }
};

/// A group of rows no longer than the partial results they leave: nothing to add up in them.
/// Vectors are read past the end of each row.
template <class Op, class Rows>
HWY_INLINE void spread_short_rows(const Block& b, Rows rows, std::int64_t first, Group<Op>& group) {
  using T = typename Op::Element;
  const hn::CappedTag<typename Op::Lane, Op::kept_lanes> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  const T* x = static_cast<const T*>(b.x) + first * b.x_row;
  for (std::int64_t lane = 0; lane < Op::kept_lanes; lane += N) {
    const std::int64_t count = std::clamp<std::int64_t>(b.cols - lane, 0, N);
    const std::int64_t at = count > 0 ? lane : 0;
    for (std::int64_t r = 0; r < group_rows; ++r) {
      const auto counts = lanes_that_count(d, rows.mask(first + r) + at, count).counts;
      Op::spread(d, lane, load(d, x + r * b.x_row + at), counts,
                 group.partials + r * Op::kept_lanes, group.plane);
    }
  }
}

/// Fetches ahead for a group of short rows that lie side by side: further than along a long row,
/// whose elements take less time.
template <class T, class Rows>
HWY_INLINE void prefetch_group(const Block& b, Rows rows, std::int64_t first) {
  if (b.x_row != b.cols || (b.mask != nullptr && b.mask_row != b.cols)) return;
  constexpr std::int64_t turn = 64;  // a cache line of the mask
  const T* const x = static_cast<const T*>(b.x) + first * b.cols;
  for (std::int64_t i = 0; i < group_rows * b.cols; i += turn) {
    constexpr auto lines = static_cast<int>(turn * sizeof(T) / 64);
    prefetch<lines, 2 * bytes_ahead>(x + i, rows.mask(first) + i);
  }
}

template <class Op, class Rows>
HWY_INLINE void along_rows(const States& states, bool shared, const Block& b, std::int64_t readable,
                           Rows rows) {
  using T = typename Op::Element;
  const T* const x = static_cast<const T*>(b.x);
  const std::int64_t full = b.cols - b.cols % chunk_lanes<T>;
  Group<Op> group;
  TailBuffer<T> buffer;
  for (std::int64_t first = 0; first < b.rows; first += group_rows) {
    const std::int64_t count = std::min(group_rows, b.rows - first);
    if constexpr (Op::kept_lanes > 1) {
      if (b.cols <= Op::kept_lanes && first + group_rows <= readable && rows.all()) {
        prefetch_group<T>(b, rows, first);
        spread_short_rows<Op>(b, rows, first, group);
        group.fold_into(states, first, shared, group_rows);
        continue;
      }
    }
    if constexpr (requires { Op::short_cols; }) {
      if (b.cols <= Op::short_cols && first + group_rows <= readable && rows.all()) {
        prefetch_group<T>(b, rows, first);
        Op::short_rows(b, rows, first, group.partials, group.plane);
        group.fold_into(states, first, shared, group_rows);
        continue;
      }
    }
    for (std::int64_t r = first; r < first + count; ++r) {
      auto* const out = group.partials + (r - first) * Op::kept_lanes;
      const T* const row = x + r * b.x_row;
      const auto mask = rows.mask(r);
      if (!rows.counts(r)) {
        Op::empty_row(out, group.plane);
        continue;
      }
      const bool is_readable = r < readable || full == b.cols;
      auto whole = is_readable ? Row{row, mask, row + full, mask + full, b.cols, 0, 0}
                               : buffer.copy(row, mask, b.cols);
      whole.index = b.index + r * b.index_row;
      whole.index_step = b.index_col;
      Op::row(whole, out, group.plane);
    }
    group.fold_into(states, first, shared, count);
  }
}

template <class Op>
void along(const States& states, bool shared, const Block& b) {
  using T = typename Op::Element;
  if (b.mask == nullptr || b.mask_col == 0) {
    along_rows<Op>(states, shared, b, readable_rows<T>(b, false), WholeRows{b.mask, b.mask_row});
  } else {
    along_rows<Op>(states, shared, b, readable_rows<T>(b, true), MaskedRows{b.mask, b.mask_row});
  }
}

template <class Op>
constexpr Reducer make_reducer() {
  Reducer made{sizeof(typename Op::Partial) * Op::planes,
               Op::result,
               Op::init,
               along<Op>,
               nullptr,
               Op::merge,
               Op::finish,
               Op::result,
               nullptr};
  if constexpr (requires { Op::across(States(), Block()); }) {
    made.across = Op::across;
  } else {
    made.across = across<Op>;
  }
  if constexpr (requires { Op::second; }) {
    made.second = Op::second;
    made.finish_second = Op::finish_second;
  }
  return made;
}
template <class Op>
inline constexpr Reducer reducer_of = make_reducer<Op>();

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
