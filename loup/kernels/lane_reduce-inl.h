// Reductions made of independent lanes: element i of a row belongs to virtual lane i mod 32 (or 16
// for eight-byte elements), and lanes are joined at the end of the row: l + 16, l + 8, … l + 1.
// Included once per instruction set.
//
// An operator is a struct with
//   Element, Lane         type of elements in memory, and in a vector
//   Partial, planes       a state is `planes` numbers of type Partial
//   result                what finish() writes
//   Lanes<D>              the partial results of one vector of lanes: a struct Lanes1, Lanes2 …
//   start(d)              those of nothing
//   settled(d, lanes)     lanes as they are joined, where that is another struct
//   add(d, lanes, v, counts)   one more element for each lane that counts
//   Careful, is_doubtful(d, lanes)   the operator to be asked in place of one that is not always
//                         right, and whether it has to be
//   join(d, a, b)         both; the elements of a come first
//   into(d, lanes, state, n)   lane i into state i; planes of states lie n apart
//   clear(state, n, count)     `count` states of nothing
//   merge_states(into, n, from, m, count)   `count` states into as many others
// and finish of kernels::Reducer. `LaneReduction` makes the rest of what reduce-inl.h asks for.

#if defined(LOUP_KERNELS_LANE_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_LANE_REDUCE_INL_H_
#undef LOUP_KERNELS_LANE_REDUCE_INL_H_
#else
#define LOUP_KERNELS_LANE_REDUCE_INL_H_
#endif

#include <limits>

#include "loup/kernels/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

template <class D>
struct Lanes1 {
  hn::Vec<D> a;
};
template <class D>
struct Lanes2 {
  hn::Vec<D> a, b;
};
template <class H, class D>
HWY_INLINE Lanes1<H> lower_half(H h, const Lanes1<D>& x) {
  return {hn::LowerHalf(h, x.a)};
}
template <class H, class D>
HWY_INLINE Lanes1<H> upper_half(H h, const Lanes1<D>& x) {
  return {hn::UpperHalf(h, x.a)};
}
template <class H, class D>
HWY_INLINE Lanes2<H> lower_half(H h, const Lanes2<D>& x) {
  return {hn::LowerHalf(h, x.a), hn::LowerHalf(h, x.b)};
}
template <class H, class D>
HWY_INLINE Lanes2<H> upper_half(H h, const Lanes2<D>& x) {
  return {hn::UpperHalf(h, x.a), hn::UpperHalf(h, x.b)};
}

struct AsItIs {
  template <class V>
  HWY_INLINE V operator()(V v) const {
    return v;
  }
};

/// A map, and the element to be read where elements do not count: what the map makes of it changes
/// nothing.
template <class T, class Map>
struct Filled {
  T absent;
  Map map;
  template <class V>
  HWY_INLINE V operator()(V v) const {
    return map(v);
  }
};
/// Whether chunks are read as pairs (simd-inl.h).
template <class T, class D, class Map>
inline constexpr bool takes_pairs = is_paired<T, D> && requires(Map map) { map.absent; };

/// Brings the lanes of pairs in order.
template <class D>
HWY_INLINE void unpair_lanes(D d, Lanes1<D>& even, Lanes1<D>& odd) {
  unpair(d, even.a, odd.a);
}
template <class D>
HWY_INLINE void unpair_lanes(D d, Lanes2<D>& even, Lanes2<D>& odd) {
  unpair(d, even.a, odd.a);
  unpair(d, even.b, odd.b);
}

template <class Op, class D>
HWY_INLINE auto settled(D d, const typename Op::template Lanes<D>& x) {
  if constexpr (requires { Op::settled(d, x); }) {
    return Op::settled(d, x);
  } else {
    return x;
  }
}

/// K vectors of lanes: the virtual vector. A recursion, not an array: g++ 12 keeps arrays in
/// memory.
template <class Op, class D, int K>
struct VirtualLanes {
  static constexpr std::int64_t N = lanes<D>;
  typename Op::template Lanes<D> first;
  VirtualLanes<Op, D, K - 1> rest;

  HWY_INLINE void start() {
    first = Op::start(D());
    rest.start();
  }
  /// Adds map(x) of one chunk.
  template <class T, class Mask, class Map>
  HWY_INLINE void add(const T* x, Mask mask, Map map) {
    if constexpr (takes_pairs<T, D, Map>) {
      add_pair(load_pair(D(), x, mask, map.absent), map);
    } else {
      Op::add(D(), first, map(load(D(), x)), lanes_that_count(D(), mask));
      rest.add(x + N, mask + N, map);
    }
  }
  /// Adds the first `count` elements of a chunk that may be read to the end of its last vector.
  template <class T, class Mask, class Map>
  HWY_INLINE void add_tail(const T* x, Mask mask, std::int64_t count, Map map) {
    if (count <= 0) return;
    if constexpr (takes_pairs<T, D, Map>) {
      add_pair(load_pair(D(), x, mask, map.absent, count), map);
    } else {
      Op::add(D(), first, map(load(D(), x)), lanes_that_count(D(), mask, std::min(count, N)));
      rest.add_tail(x + N, mask + N, count - N, map);
    }
  }
  template <class Map>
  HWY_INLINE void add_pair(const Pair<D>& pair, Map map) {
    Op::add(D(), first, map(pair.even), AllLanes());
    Op::add(D(), rest.first, map(pair.odd), AllLanes());
  }
  template <int J>
  HWY_INLINE const typename Op::template Lanes<D>& get() const {
    if constexpr (J == 0) {
      return first;
    } else {
      return rest.template get<J - 1>();
    }
  }
  /// Calls `use(lane, lanes)` with each vector and its first lane.
  template <class Use>
  HWY_INLINE void visit(Use use, std::int64_t lane = 0) const {
    use(lane, first);
    if constexpr (K > 1) rest.visit(use, lane + N);
  }
  template <class Use>
  HWY_INLINE void visit(Use use, std::int64_t lane = 0) {
    use(lane, first);
    if constexpr (K > 1) rest.visit(use, lane + N);
  }
  /// The lanes of vectors J, J + width, J + 2 width …
  template <int J = 0, int width = 1>
  HWY_INLINE auto joined() const {
    if constexpr (width == K) {
      return settled<Op>(D(), get<J>());
    } else {
      return Op::join(D(), joined<J, 2 * width>(), joined<J + width, 2 * width>());
    }
  }
};
template <class Op, class D>
struct VirtualLanes<Op, D, 0> {
  HWY_INLINE void start() {}
  template <class T, class Mask, class Map>
  HWY_INLINE void add(const T* /*x*/, Mask /*mask*/, Map /*map*/) {}
  template <class T, class Mask, class Map>
  HWY_INLINE void add_tail(const T* /*x*/, Mask /*mask*/, std::int64_t /*count*/, Map /*map*/) {}
};

/// All lanes of a vector as one.
template <class Op, class D, class L>
HWY_INLINE auto join_lanes(D /*d*/, const L& x) {
  if constexpr (lanes<D> == 1) {
    return x;
  } else {
    const hn::Half<D> h;
    return join_lanes<Op>(h, Op::join(h, lower_half(h, x), upper_half(h, x)));
  }
}

/// All virtual lanes of a row of T.
template <class Op, class T>
using RowLanes =
    VirtualLanes<Op, hn::ScalableTag<typename Op::Lane>,
                 static_cast<int>(chunk_lanes<T> / lanes<hn::ScalableTag<typename Op::Lane>>)>;

/// Adds map(x) of the elements from `first` to `end` of a row to its virtual lanes, those of pairs
/// as they are read. Both are multiples of a chunk, or `end` is the end of the row.
template <class Op, class T, class Mask, class Map = AsItIs>
HWY_INLINE void extend_lanes(RowLanes<Op, T>& v, const Row<T, Mask>& row, std::int64_t first,
                             std::int64_t end, Map map = {}) {
  constexpr std::int64_t step = chunk_lanes<T>;
  const std::int64_t full = row.cols - row.cols % step;
  for (std::int64_t i = first; i < std::min(end, full); i += step) {
    prefetch<static_cast<int>(step * sizeof(T) / 64)>(row.x + i, row.mask + i);
    v.add(row.x + i, row.mask + i, map);
  }
  if (end > full) v.add_tail(row.x_tail, row.mask_tail, row.cols - full, map);
}

/// What map(x) of these elements give.
template <class Op, class T, class Mask, class Map = AsItIs>
HWY_INLINE auto virtual_lanes(const Row<T, Mask>& row, std::int64_t first, std::int64_t end,
                              Map map = {}) {
  RowLanes<Op, T> v;
  v.start();
  extend_lanes<Op>(v, row, first, end, map);
  using D = hn::ScalableTag<typename Op::Lane>;
  if constexpr (takes_pairs<T, D, Map>) unpair_lanes(D(), v.first, v.rest.first);
  return v;
}

/// The same as one vector of lanes.
template <class Op, class T, class Mask, class Map = AsItIs>
HWY_INLINE auto reduce_lanes(const Row<T, Mask>& row, std::int64_t first, std::int64_t end,
                             Map map = {}) {
  return virtual_lanes<Op>(row, first, end, map).joined();
}

/// The same as a single lane.
template <class Op, class T, class Mask, class Map = AsItIs>
HWY_NOINLINE auto reduce_elements(const Row<T, Mask>& row, std::int64_t first, std::int64_t end,
                                  Map map = {}) {
  return join_lanes<Op>(hn::ScalableTag<typename Op::Lane>(),
                        reduce_lanes<Op>(row, first, end, map));
}

/// Sums in lanes of the type L.
template <class T, class L>
struct LaneSum {
  using Element = T;
  using Lane = L;
  using Partial = double;
  static constexpr int planes = 1;
  template <class D>
  using Lanes = Lanes1<D>;

  template <class D>
  static HWY_INLINE Lanes1<D> start(D d) {
    return {hn::Zero(d)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = counts.select(d, hn::Add(x.a, v), x.a);
  }
  template <class D>
  static HWY_INLINE Lanes1<D> join(D /*d*/, const Lanes1<D>& x, const Lanes1<D>& y) {
    return {hn::Add(x.a, y.a)};
  }
  template <class D>
  static HWY_INLINE void into(D d, const Lanes1<D>& x, double* state, std::int64_t /*n*/) {
    static_assert(std::is_same_v<L, double>);
    hn::StoreU(hn::Add(hn::LoadU(d, state), x.a), d, state);
  }
  static HWY_INLINE void clear(double* state, std::int64_t /*n*/, std::int64_t count) {
    std::fill_n(state, count, 0.0);
  }
  static HWY_INLINE void merge_states(double* into, std::int64_t /*n*/, const double* from,
                                      std::int64_t /*m*/, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
  }
};

/// Sums of magnitudes of half types, in float.
template <class T>
struct HalfMagnitudes : LaneSum<T, float> {
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = counts.select(d, hn::Add(x.a, hn::Abs(v)), x.a);
  }
};

/// Whether a sum, in float, of the squares of map(x) of a block of half types is right: some of
/// bfloat16 overflow or vanish. Those of float16 do not, nor do differences of two of them.
template <class T, class Mask, class Map>
HWY_INLINE bool is_right_sum_of_squares([[maybe_unused]] double sum,
                                        [[maybe_unused]] const Row<T, Mask>& row,
                                        [[maybe_unused]] std::int64_t first,
                                        [[maybe_unused]] std::int64_t end,
                                        [[maybe_unused]] const Filled<T, Map>& map) {
  static_assert(is_half<T>);
  if constexpr (std::is_same_v<T, Float16>) {
    return true;
  } else {
    // Beside this much, what two thousand elements lost is nothing.
    constexpr double least = 0x1p-100;
    constexpr double most = std::numeric_limits<float>::max();
    if (HWY_LIKELY(sum >= least && sum <= most)) return true;
    if (sum != 0) return false;
    // Blocks of zeros, or of which nothing counts, are common.
    return hn::GetLane(reduce_elements<HalfMagnitudes<T>>(row, first, end, map).a) == 0;
  }
}

template <class Op>
struct LaneReduction : Op {
  using T = typename Op::Element;
  using P = typename Op::Partial;
  static constexpr std::int64_t kept_lanes = 1;

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, P* out, std::int64_t plane) {
    const hn::ScalableTag<typename Op::Lane> d;
    const auto found = reduce_lanes<Op>(row, 0, row.cols);
    if constexpr (requires { typename Op::Careful; }) {
      if (HWY_UNLIKELY(Op::is_doubtful(d, found))) {
        LaneReduction<typename Op::Careful>::row_apart(row, out, plane);
        return;
      }
    }
    empty_row(out, plane);
    Op::into(hn::CappedTag<typename Op::Lane, 1>(), join_lanes<Op>(d, found), out, plane);
  }
  template <class Mask>
  static HWY_NOINLINE void row_apart(const Row<T, Mask>& elements, P* out, std::int64_t plane) {
    row(elements, out, plane);
  }
  static HWY_INLINE void empty_row(P* out, std::int64_t plane) { Op::clear(out, plane, 1); }
  static HWY_INLINE void fold(const P* from, P* to, std::int64_t rows) {
    std::copy_n(from, rows, to);
  }
  static HWY_INLINE void absorb(P* state, std::int64_t n, const P* row) {
    Op::merge_states(state, n, row, group_rows, 1);
  }
  static HWY_INLINE void absorb_group(P* state, std::int64_t n, const P* rows) {
    Op::merge_states(state, n, rows, group_rows, group_rows);
  }
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, P* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    auto x = Op::start(d);
    for (std::int64_t r = 0; r < rows; ++r) {
      Op::add(d, x, load(d, tile.x[r] + c), lanes_that_count(d, tile.mask[r] + c));
    }
    const auto found = settled<Op>(d, x);
    if constexpr (requires { typename Op::Careful; }) {
      if (HWY_UNLIKELY(Op::is_doubtful(d, found))) {
        tile_of_rows<LaneReduction<typename Op::Careful>>(d, state, n, tile, c);
        return;
      }
    }
    Op::into(d, found, state, n);
  }
  static void init(void* states, std::int64_t n) { Op::clear(static_cast<P*>(states), n, n); }
  static void merge(void* into, const void* from, std::int64_t n) {
    Op::merge_states(static_cast<P*>(into), n, static_cast<const P*>(from), n, n);
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
