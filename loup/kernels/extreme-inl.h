// The largest and the least element. Included once per instruction set.

#if defined(LOUP_KERNELS_EXTREME_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_EXTREME_INL_H_
#undef LOUP_KERNELS_EXTREME_INL_H_
#else
#define LOUP_KERNELS_EXTREME_INL_H_
#endif

#include <cmath>
#include <limits>
#include <type_traits>

#include "loup/base/dtype.h"
#include "loup/kernels/lane_reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// Which of two numbers lies further out. NaN is beyond everything, so that it shows in the result;
/// of equal numbers (0 and -0) the first in the order of lanes wins. (Not in rows of half types.)
template <class Lane, bool is_largest>
struct Further {
  using Limits = std::numeric_limits<Lane>;
  static constexpr Lane lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr Lane highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  /// The extreme of nothing.
  static constexpr Lane identity = is_largest ? lowest : highest;

  /// Where y takes the place of x.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE hn::Mask<D> is_beyond(D /*d*/, V y, V x) {
    if constexpr (std::is_floating_point_v<Lane>) {
      return hn::Or(is_further(y, x), hn::IsNaN(y));
    } else {
      return is_further(y, x);
    }
  }
  static HWY_INLINE bool is_beyond(Lane y, Lane x) {
    if constexpr (std::is_floating_point_v<Lane>) {
      if (std::isnan(y)) return true;
    }
    return is_largest ? y > x : y < x;
  }
  /// Numbers only.
  template <class V>
  static HWY_INLINE auto is_further(V y, V x) {
    return is_largest ? hn::Gt(y, x) : hn::Lt(y, x);
  }
  /// Numbers only: of NaN and a number y it is y, and y of equal ones.
  template <class V>
  static HWY_INLINE V further_number(V x, V y) {
    return is_largest ? hn::Max(x, y) : hn::Min(x, y);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V further(D d, V x, V y) {
    return hn::IfThenElse(is_beyond(d, y, x), y, x);
  }
};

/// The extreme of the numbers in each lane, and whether there was a NaN: cheaper than a comparison
/// that takes NaN into account.
template <class D>
struct ExtremeLanes {
  hn::Vec<D> a;
  hn::Mask<D> is_nan;
};

/// T, or with `is_magnitude` its absolute value.
template <class T, bool is_largest, bool is_magnitude = false>
struct Extreme {
  using Element = T;
  using Lane = FullType<T>;
  using Partial = Lane;
  using Order = Further<Lane, is_largest>;
  using Limits = std::numeric_limits<Lane>;
  static constexpr int planes = 1;
  static constexpr DType result = dtype_of<Lane>();
  template <class D>
  using Lanes = ExtremeLanes<D>;
  // The largest magnitude of nothing is 0.
  static constexpr Lane nothing = is_magnitude && is_largest ? Lane{0} : Order::identity;

  /// What a lane stands for.
  static HWY_INLINE Lane element(Lane lane) { return lane; }
  template <class D>
  static HWY_INLINE ExtremeLanes<D> start(D d) {
    return {hn::Set(d, nothing), hn::FirstN(d, 0)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, ExtremeLanes<D>& x, hn::Vec<D> v, Counts counts) {
    if constexpr (is_magnitude) v = hn::Abs(v);
    x.a = counts.select(d, Order::further_number(v, x.a), x.a);
    if constexpr (std::is_floating_point_v<Lane>) {
      x.is_nan = hn::Or(x.is_nan, counts.both(d, hn::IsNaN(v)));
    }
  }
  template <class D>
  static HWY_INLINE Lanes1<D> settled(D d, const ExtremeLanes<D>& x) {
    if constexpr (!std::is_floating_point_v<Lane>) return {x.a};
    return {hn::IfThenElse(x.is_nan, hn::Set(d, Limits::quiet_NaN()), x.a)};
  }
  template <class D>
  static HWY_INLINE Lanes1<D> join(D d, const Lanes1<D>& x, const Lanes1<D>& y) {
    return {Order::further(d, x.a, y.a)};
  }
  template <class D>
  static HWY_INLINE void into(D d, const Lanes1<D>& x, Lane* state, std::int64_t /*n*/) {
    hn::StoreU(Order::further(d, hn::LoadU(d, state), x.a), d, state);
  }
  static HWY_INLINE void clear(Lane* state, std::int64_t /*n*/, std::int64_t count) {
    std::fill_n(state, count, nothing);
  }
  static HWY_INLINE void merge_states(Lane* into, std::int64_t /*n*/, const Lane* from,
                                      std::int64_t /*m*/, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      into[i] = Order::is_beyond(from[i], into[i]) ? from[i] : into[i];
    }
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    std::copy_n(static_cast<const Lane*>(states), n, static_cast<Lane*>(out));
  }
};

/// The same, with a sum of the elements in place of tests for NaN: one addition, which is NaN if an
/// element is. It is NaN as well where infinities of both signs (or what overflowed) have met, so a
/// NaN says no more than that the careful operator has to be asked. Everything else sees numbers
/// only.
template <class T, bool is_largest, bool is_magnitude>
struct QuickExtreme : Extreme<T, is_largest, is_magnitude> {
  using Careful = Extreme<T, is_largest, is_magnitude>;
  using typename Careful::Lane;
  using typename Careful::Order;
  template <class D>
  using Lanes = Lanes2<D>;

  template <class D>
  static HWY_INLINE Lanes2<D> start(D d) {
    return {Careful::start(d).a, hn::Zero(d)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes2<D>& x, hn::Vec<D> v, Counts counts) {
    if constexpr (is_magnitude) v = hn::Abs(v);
    v = counts.keep(d, v);
    x.a = counts.select(d, Order::further_number(v, x.a), x.a);
    x.b = hn::Add(x.b, v);
  }
  template <class D>
  static HWY_INLINE bool is_doubtful(D d, const Lanes2<D>& x) {
    return !hn::AllFalse(d, hn::IsNaN(x.b));
  }
  template <class D>
  static HWY_INLINE Lanes2<D> join(D /*d*/, const Lanes2<D>& x, const Lanes2<D>& y) {
    return {Order::further_number(y.a, x.a), hn::Add(x.b, y.b)};
  }
  template <class D>
  static HWY_INLINE void into(D d, const Lanes2<D>& x, Lane* state, std::int64_t /*n*/) {
    hn::StoreU(Order::further_number(x.a, hn::LoadU(d, state)), d, state);
  }
};

/// Half types as integers of 16 bits in the same order: twice as many lanes, and nothing to widen.
/// -0 comes before 0 unless `joins_zeros`; NaN are beyond the infinities, so both extremes are
/// kept.
template <class T, bool is_largest, bool joins_zeros>
struct HalfExtreme {
  using Element = T;
  using Lane = std::int16_t;
  using Careful = Extreme<T, is_largest>;
  using Order = Further<Lane, is_largest>;
  template <class D>
  using Lanes = Lanes2<D>;

  static constexpr Lane key_of(std::uint16_t bits) {
    const int magnitude = bits & 0x7fff;
    return static_cast<Lane>(bits < 0x8000 ? magnitude : (joins_zeros ? 0 : -1) - magnitude);
  }
  static HWY_INLINE FullType<T> element(Lane key) {
    T x;
    const int magnitude = key < 0 ? (joins_zeros ? 0 : -1) - key : key;
    x.bits = static_cast<std::uint16_t>(key < 0 ? 0x8000 | magnitude : magnitude);
    return static_cast<FullType<T>>(x);
  }
  static constexpr std::uint16_t infinite_bits = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;
  static constexpr Lane highest = key_of(infinite_bits);
  static constexpr Lane lowest = key_of(0x8000 | infinite_bits);
  static constexpr Lane nothing = is_largest ? lowest : highest;

  template <class D>
  static HWY_INLINE Lanes2<D> start(D d) {
    return {hn::Set(d, nothing), hn::Zero(d)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes2<D>& x, hn::Vec<D> bits, Counts counts) {
    const auto sign = hn::BroadcastSignBit(bits);
    const auto magnitude = hn::Set(d, Lane{0x7fff});
    const auto key = joins_zeros ? hn::Sub(hn::Xor(hn::And(bits, magnitude), sign), sign)
                                 : hn::Xor(bits, hn::And(sign, magnitude));
    x.a = counts.select(d, Order::further_number(key, x.a), x.a);
    x.b = counts.select(d, Opposite::further_number(key, x.b), x.b);
  }
  template <class D>
  static HWY_INLINE Lanes2<D> join(D /*d*/, const Lanes2<D>& x, const Lanes2<D>& y) {
    return {Order::further_number(y.a, x.a), Opposite::further_number(y.b, x.b)};
  }
  template <class D>
  static HWY_INLINE bool is_doubtful(D d, const Lanes2<D>& x) {
    const auto most = is_largest ? x.a : x.b;
    const auto least = is_largest ? x.b : x.a;
    return !hn::AllFalse(
        d, hn::Or(hn::Gt(most, hn::Set(d, highest)), hn::Lt(least, hn::Set(d, lowest))));
  }

 private:
  using Opposite = Further<Lane, !is_largest>;
};

template <class T, bool is_largest, bool is_magnitude = false>
using FastestExtreme =
    std::conditional_t<std::is_integral_v<T>, Extreme<T, is_largest, is_magnitude>,
                       QuickExtreme<T, is_largest, is_magnitude>>;

/// Half types: their rows as integers.
template <class T, bool is_largest>
struct HalfExtremes : LaneReduction<FastestExtreme<T, is_largest>> {
  using Keys = HalfExtreme<T, is_largest, false>;

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, float* out, std::int64_t /*plane*/) {
    const hn::ScalableTag<std::int16_t> d;
    const auto found = reduce_lanes<Keys>(row, 0, row.cols);
    *out = Keys::is_doubtful(d, found) ? std::numeric_limits<float>::quiet_NaN()
                                       : Keys::element(hn::GetLane(join_lanes<Keys>(d, found).a));
  }
};

template <class T, bool is_largest, bool is_magnitude = false>
inline constexpr const Reducer* extreme_reducer =
    &reducer_of<std::conditional_t<is_half<T> && !is_magnitude, HalfExtremes<T, is_largest>,
                                   LaneReduction<FastestExtreme<T, is_largest, is_magnitude>>>>;

template <bool is_largest>
const Reducer* find_extreme(DType dtype) {
  switch (dtype) {
    case DType::i32: return extreme_reducer<std::int32_t, is_largest>;
    case DType::i64: return extreme_reducer<std::int64_t, is_largest>;
    case DType::f32: return extreme_reducer<float, is_largest>;
    case DType::f64: return extreme_reducer<double, is_largest>;
    case DType::bf16: return extreme_reducer<BFloat16, is_largest>;
    case DType::f16: return extreme_reducer<Float16, is_largest>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
