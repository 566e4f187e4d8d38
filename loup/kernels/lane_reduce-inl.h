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
//   add(d, lanes, v, counts)   one more element for each lane that counts
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

/// K vectors of lanes: the virtual vector. A recursion, not an array: g++ 12 keeps arrays in memory.
template <class Op, class D, int K>
struct VirtualLanes {
  static constexpr std::int64_t N = lanes<D>;
  typename Op::template Lanes<D> first;
  VirtualLanes<Op, D, K - 1> rest;

  HWY_INLINE void start() {
    first = Op::start(D());
    rest.start();
  }
  template <class T, class Mask>
  HWY_INLINE void add(const T* x, Mask mask) {
    Op::add(D(), first, load(D(), x), lanes_that_count(D(), mask));
    rest.add(x + N, mask + N);
  }
  /// Adds the first `count` elements of a chunk that may be read to the end of its last vector.
  template <class T, class Mask>
  HWY_INLINE void add_tail(const T* x, Mask mask, std::int64_t count) {
    if (count <= 0) return;
    if (count >= N) {
      Op::add(D(), first, load(D(), x), lanes_that_count(D(), mask));
    } else {
      Op::add(D(), first, load(D(), x), lanes_that_count(D(), mask, count));
    }
    rest.add_tail(x + N, mask + N, count - N);
  }
  template <int J>
  HWY_INLINE const typename Op::template Lanes<D>& get() const {
    if constexpr (J == 0) {
      return first;
    } else {
      return rest.template get<J - 1>();
    }
  }
  /// The lanes of vectors J, J + width, J + 2 width …
  template <int J = 0, int width = 1>
  HWY_INLINE typename Op::template Lanes<D> joined() const {
    if constexpr (width == K) {
      return get<J>();
    } else {
      return Op::join(D(), joined<J, 2 * width>(), joined<J + width, 2 * width>());
    }
  }
};
template <class Op, class D>
struct VirtualLanes<Op, D, 0> {
  HWY_INLINE void start() {}
  template <class T, class Mask>
  HWY_INLINE void add(const T* /*x*/, Mask /*mask*/) {}
  template <class T, class Mask>
  HWY_INLINE void add_tail(const T* /*x*/, Mask /*mask*/, std::int64_t /*count*/) {}
};

/// Joins the lanes of one vector and merges them into one state.
template <class Op, class D>
HWY_INLINE void join_into(D d, const typename Op::template Lanes<D>& x, typename Op::Partial* state,
                          std::int64_t n) {
  if constexpr (lanes<D> == 1) {
    Op::into(d, x, state, n);
  } else {
    const hn::Half<D> h;
    join_into<Op>(h, Op::join(h, lower_half(h, x), upper_half(h, x)), state, n);
  }
}

template <class Op>
struct LaneReduction : Op {
  using T = typename Op::Element;
  using P = typename Op::Partial;
  static constexpr std::int64_t kept_lanes = 1;

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, P* out, std::int64_t plane) {
    using D = hn::ScalableTag<typename Op::Lane>;
    constexpr std::int64_t step = chunk_lanes<T>;
    const std::int64_t full = row.cols - row.cols % step;
    VirtualLanes<Op, D, static_cast<int>(step / lanes<D>)> v;
    v.start();
    for (std::int64_t i = 0; i < full; i += step) v.add(row.x + i, row.mask + i);
    v.add_tail(row.x_tail, row.mask_tail, row.cols - full);
    empty_row(out, plane);
    join_into<Op>(D(), v.joined(), out, plane);
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
    Op::into(d, x, state, n);
  }
  static void init(void* states, std::int64_t n) { Op::clear(static_cast<P*>(states), n, n); }
  static void merge(void* into, const void* from, std::int64_t n) {
    Op::merge_states(static_cast<P*>(into), n, static_cast<const P*>(from), n, n);
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
