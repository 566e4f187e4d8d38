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

/// NaN is beyond everything, so that it shows in the result; of equal elements (0 and -0) the first
/// in the order of lanes wins.
template <class T, bool is_largest>
struct Extreme {
  using Element = T;
  using Lane = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  using Partial = Lane;
  static constexpr int planes = 1;
  static constexpr DType result = dtype_of<Lane>();
  template <class D>
  using Lanes = Lanes1<D>;
  using Limits = std::numeric_limits<Lane>;
  static constexpr Lane lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr Lane highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Lane identity = is_largest ? lowest : highest;

  /// Where y takes the place of x.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE hn::Mask<D> is_beyond(D /*d*/, V y, V x) {
    const auto is_further = is_largest ? hn::Gt(y, x) : hn::Lt(y, x);
    if constexpr (std::is_floating_point_v<Lane>) {
      return hn::Or(is_further, hn::IsNaN(y));
    } else {
      return is_further;
    }
  }
  static HWY_INLINE bool is_beyond(Lane y, Lane x) {
    if constexpr (std::is_floating_point_v<Lane>) {
      if (std::isnan(y)) return true;
    }
    return is_largest ? y > x : y < x;
  }

  template <class D>
  static HWY_INLINE Lanes1<D> start(D d) {
    return {hn::Set(d, identity)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = hn::IfThenElse(counts.both(d, is_beyond(d, v, x.a)), v, x.a);
  }
  template <class D>
  static HWY_INLINE Lanes1<D> join(D d, const Lanes1<D>& x, const Lanes1<D>& y) {
    return {hn::IfThenElse(is_beyond(d, y.a, x.a), y.a, x.a)};
  }
  template <class D>
  static HWY_INLINE void into(D d, const Lanes1<D>& x, Lane* state, std::int64_t /*n*/) {
    hn::StoreU(join(d, {hn::LoadU(d, state)}, x).a, d, state);
  }
  static HWY_INLINE void clear(Lane* state, std::int64_t /*n*/, std::int64_t count) {
    std::fill_n(state, count, identity);
  }
  static HWY_INLINE void merge_states(Lane* into, std::int64_t /*n*/, const Lane* from,
                                      std::int64_t /*m*/, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (is_beyond(from[i], into[i])) into[i] = from[i];
    }
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    std::copy_n(static_cast<const Lane*>(states), n, static_cast<Lane*>(out));
  }
};

template <bool is_largest>
const Reducer* find_extreme(DType dtype) {
  switch (dtype) {
    case DType::i32: return &reducer_of<LaneReduction<Extreme<std::int32_t, is_largest>>>;
    case DType::i64: return &reducer_of<LaneReduction<Extreme<std::int64_t, is_largest>>>;
    case DType::f32: return &reducer_of<LaneReduction<Extreme<float, is_largest>>>;
    case DType::f64: return &reducer_of<LaneReduction<Extreme<double, is_largest>>>;
    case DType::bf16: return &reducer_of<LaneReduction<Extreme<BFloat16, is_largest>>>;
    case DType::f16:
      if constexpr (widens_float16) return &reducer_of<LaneReduction<Extreme<Float16, is_largest>>>;
      return nullptr;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
