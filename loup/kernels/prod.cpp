#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/prod.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/base/dtype.h"
#include "loup/kernels/lane_reduce-inl.h"
#include "loup/kernels/reducers.h"
#include "loup/kernels/virtual_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

/// Products of floats and half types, in double: partial products may be far beyond the range of
/// the result.
template <class T>
struct ProdFloat {
  using Element = T;
  using Lane = double;
  using Partial = double;
  static constexpr int planes = 1;
  static constexpr DType result = dtype_of<FullType<T>>();
  template <class D>
  using Lanes = Lanes1<D>;

  template <class D>
  static HWY_INLINE Lanes1<D> start(D d) {
    return {hn::Set(d, 1.0)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = counts.select(d, hn::Mul(x.a, v), x.a);
  }
  template <class D>
  static HWY_INLINE Lanes1<D> join(D /*d*/, const Lanes1<D>& x, const Lanes1<D>& y) {
    return {hn::Mul(x.a, y.a)};
  }
  template <class D>
  static HWY_INLINE void into(D d, const Lanes1<D>& x, double* state, std::int64_t /*n*/) {
    hn::StoreU(hn::Mul(hn::LoadU(d, state), x.a), d, state);
  }
  static HWY_INLINE void clear(double* state, std::int64_t /*n*/, std::int64_t count) {
    std::fill_n(state, count, 1.0);
  }
  static HWY_INLINE void merge_states(double* into, std::int64_t /*n*/, const double* from,
                                      std::int64_t /*m*/, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) into[i] *= from[i];
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const from = static_cast<const double*>(states);
    std::transform(from, from + n, static_cast<FullType<T>*>(out),
                   [](double value) { return static_cast<FullType<T>>(value); });
  }
};

/// Products of half types in float, and the least of them on the way: where one is no normal
/// number, digits are lost.
template <class T>
struct HalfProduct {
  using Element = T;
  using Lane = float;
  template <class D>
  using Lanes = Lanes2<D>;

  template <class D>
  static HWY_INLINE Lanes2<D> start(D d) {
    return {hn::Set(d, 1.0F), hn::Set(d, 1.0F)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes2<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = counts.select(d, hn::Mul(x.a, v), x.a);
    x.b = hn::Min(x.b, hn::Abs(x.a));
  }
  template <class D>
  static HWY_INLINE bool is_right(D d, const Lanes2<D>& x) {
    using Limits = std::numeric_limits<float>;
    return hn::AllTrue(d, hn::And(hn::Ge(x.b, hn::Set(d, Limits::min())),
                                  hn::Le(hn::Abs(x.a), hn::Set(d, Limits::max()))));
  }
};

/// Rows of half types: a few elements of each lane in float, or in double where those products
/// overflow or vanish; all of the lane in double.
template <class T>
struct HalfProd : LaneReduction<ProdFloat<T>> {
  static constexpr std::int64_t block = 512;
  static constexpr std::int64_t width = chunk_lanes<T>;

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t /*plane*/) {
    HWY_ALIGN double products[width];
    std::fill_n(products, width, 1.0);
    const Filled or_one{static_cast<T>(1.0F), AsItIs()};
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      const auto quick = virtual_lanes<HalfProduct<T>>(row, first, end, or_one);
      bool is_right = true;
      quick.visit([&](std::int64_t /*lane*/, const auto& x) HWY_ATTR {
        is_right &= HalfProduct<T>::is_right(hn::ScalableTag<float>(), x);
      });
      if (HWY_LIKELY(is_right)) {
        multiply(products, quick);
      } else {
        multiply_apart(products, row, first, end);
      }
    }
    for (std::int64_t n = width / 2; n > 0; n /= 2) {
      for (std::int64_t i = 0; i < n; ++i) products[i] *= products[i + n];
    }
    *out = products[0];
  }

 private:
  template <class VirtualLanes>
  static HWY_INLINE void multiply(double* products, const VirtualLanes& factors) {
    factors.visit([&]<class Lanes>(std::int64_t lane, const Lanes& x) HWY_ATTR {
      const hn::DFromV<decltype(x.a)> d;
      constexpr std::int64_t N = lanes<hn::DFromV<decltype(x.a)>>;
      HWY_ALIGN double wide[N];
      store_wide(d, x.a, wide);
      for (std::int64_t i = 0; i < N; ++i) products[lane + i] *= wide[i];
    });
  }
  /// One by one: also in double, a product of some of the factors may be too large or too small.
  template <class Mask>
  static HWY_NOINLINE void multiply_apart(double* products, const Row<T, Mask>& row,
                                          std::int64_t first, std::int64_t end) {
    const hn::ScalableTag<double> d;
    RowLanes<ProdFloat<T>, T> v;
    v.visit([&](std::int64_t lane, auto& x) HWY_ATTR { x.a = hn::Load(d, products + lane); });
    extend_lanes<ProdFloat<T>>(v, row, first, end);
    v.visit([&](std::int64_t lane, auto& x) HWY_ATTR { hn::Store(x.a, d, products + lane); });
  }
};

/// Integer products wrap modulo 2^64. No instruction set of ours below AVX-512 multiplies vectors
/// of 64-bit integers.
template <class T>
struct ProdInt {
  using Element = T;
  using Lane = T;
  using Partial = std::uint64_t;
  static constexpr int planes = 1;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = DType::i64;

  /// x, or 1 where it does not count: without a branch, which masks would mislead.
  static HWY_INLINE std::uint64_t factor(T x, bool counts) {
    return 1 + ((static_cast<std::uint64_t>(x) - 1) & (0 - std::uint64_t{counts}));
  }

  static void init(void* states, std::int64_t n) {
    std::fill_n(static_cast<Partial*>(states), n, Partial{1});
  }
  static HWY_INLINE void empty_row(Partial* out, std::int64_t /*plane*/) { *out = 1; }
  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, Partial* out, std::int64_t /*plane*/) {
    Partial products[] = {1, 1, 1, 1};
    std::int64_t i = 0;
    for (; i + 4 <= row.cols; i += 4) {
      for (std::int64_t k = 0; k < 4; ++k) {
        products[k] *= factor(row.x[i + k], row.mask[i + k]);
      }
    }
    for (; i < row.cols; ++i) products[0] *= factor(row.x[i], row.mask[i]);
    *out = products[0] * products[1] * products[2] * products[3];
  }
  static HWY_INLINE void fold(const Partial* from, Partial* to, std::int64_t rows) {
    std::copy_n(from, rows, to);
  }
  static HWY_INLINE void absorb(Partial* state, std::int64_t /*n*/, const Partial* row) {
    *state *= *row;
  }
  static HWY_INLINE void absorb_group(Partial* state, std::int64_t n, const Partial* rows) {
    for (std::int64_t i = 0; i < group_rows; ++i) absorb(state + i, n, rows + i);
  }
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D /*d*/, Partial* state, std::int64_t /*n*/,
                              const Tile<T, Mask>& tile, std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < lanes<D>; ++i) {
        state[i] *= factor(tile.x[r][c + i], tile.mask[r][c + i]);
      }
    }
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      static_cast<Partial*>(into)[i] *= static_cast<const Partial*>(from)[i];
    }
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    std::memcpy(out, states, static_cast<std::size_t>(n) * sizeof(Partial));
  }
};

}  // namespace

const Reducer* find_prod(DType dtype) {
  switch (dtype) {
    case DType::i32: return &reducer_of<ProdInt<std::int32_t>>;
    case DType::i64: return &reducer_of<ProdInt<std::int64_t>>;
    case DType::f32: return &reducer_of<LaneReduction<ProdFloat<float>>>;
    case DType::f64: return &reducer_of<LaneReduction<ProdFloat<double>>>;
    case DType::bf16: return &reducer_of<HalfProd<BFloat16>>;
    case DType::f16: return &reducer_of<HalfProd<Float16>>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_prod);
const Reducer* prod(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_prod)(dtype); }
}  // namespace loup::kernels
#endif
