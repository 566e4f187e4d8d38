#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/minmax.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/extreme-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

/// The least and the largest element in one pass.
template <class T>
struct MinMax {
  using Element = T;
  using Lane = T;
  using Partial = T;
  using Least = Further<T, false>;
  using Most = Further<T, true>;
  static constexpr int planes = 2;
  static constexpr DType result = dtype_of<T>();
  static constexpr DType second = result;
  template <class D>
  using Lanes = Lanes2<D>;

  template <class D>
  static HWY_INLINE Lanes2<D> start(D d) {
    return {hn::Set(d, Least::identity), hn::Set(d, Most::identity)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes2<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = hn::IfThenElse(counts.both(d, Least::is_beyond(d, v, x.a)), v, x.a);
    x.b = hn::IfThenElse(counts.both(d, Most::is_beyond(d, v, x.b)), v, x.b);
  }
  template <class D>
  static HWY_INLINE Lanes2<D> join(D d, const Lanes2<D>& x, const Lanes2<D>& y) {
    return {Least::further(d, x.a, y.a), Most::further(d, x.b, y.b)};
  }
  template <class D>
  static HWY_INLINE void into(D d, const Lanes2<D>& x, T* state, std::int64_t n) {
    hn::StoreU(Least::further(d, hn::LoadU(d, state), x.a), d, state);
    hn::StoreU(Most::further(d, hn::LoadU(d, state + n), x.b), d, state + n);
  }
  static HWY_INLINE void clear(T* state, std::int64_t n, std::int64_t count) {
    std::fill_n(state, count, Least::identity);
    std::fill_n(state + n, count, Most::identity);
  }
  static HWY_INLINE void merge_states(T* into, std::int64_t n, const T* from, std::int64_t m,
                                      std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (Least::is_beyond(from[i], into[i])) into[i] = from[i];
      if (Most::is_beyond(from[m + i], into[n + i])) into[n + i] = from[m + i];
    }
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    std::copy_n(static_cast<const T*>(states), n, static_cast<T*>(out));
  }
  static void finish_second(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    std::copy_n(static_cast<const T*>(states) + n, n, static_cast<T*>(out));
  }
};

}  // namespace

const Reducer* find_minmax(DType dtype) {
  switch (dtype) {
    case DType::i32: return &reducer_of<LaneReduction<MinMax<std::int32_t>>>;
    case DType::i64: return &reducer_of<LaneReduction<MinMax<std::int64_t>>>;
    case DType::f32: return &reducer_of<LaneReduction<MinMax<float>>>;
    case DType::f64: return &reducer_of<LaneReduction<MinMax<double>>>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_minmax);
const Reducer* minmax(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_minmax)(dtype); }
}  // namespace loup::kernels
#endif
