// The loops of the elementwise kernels. Included once per instruction set, from kernel files only.
//
// An operator is a struct, made from nothing or from the parameters of a call, with
//   cost                   as in ElementwiseKernel
//   op(d, x), op(d, x, y)  the results of one vector; op(x), op(x, y) for Scalars
// An access says what lies in memory and what in lanes:
//   Lanes<T>    T in both
//   WideLanes   float in memory, double in lanes: one rounding at the end hides the small errors
//               before it, and neither overflow nor denormals need care
//   Tests<T>    T in both, and a mask as the result: bool; WideTests likewise
//   Scalars<T>  no lanes
// Results do not depend on neighbours: an incomplete last vector goes through the same code.

#if defined(LOUP_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_LANES_INL_H_
#undef LOUP_KERNELS_LANES_INL_H_
#else
#define LOUP_KERNELS_LANES_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "loup/kernels/elementwise.h"
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

template <class T>
struct Lanes {
  using In = T;
  using Out = T;
  using D = hn::ScalableTag<T>;
  static HWY_INLINE hn::Vec<D> load(D d, const T* x) { return hn::LoadU(d, x); }
  static HWY_INLINE void store(D d, hn::Vec<D> v, T* out) { hn::StoreU(v, d, out); }
};

struct WideLanes {
  using In = float;
  using Out = float;
  using D = hn::ScalableTag<double>;
  using Narrow = hn::Rebind<float, D>;
  static HWY_INLINE hn::Vec<D> load(D d, const float* x) {
    return hn::PromoteTo(d, hn::LoadU(Narrow{}, x));
  }
  static HWY_INLINE void store(D /*d*/, hn::Vec<D> v, float* out) {
    hn::StoreU(hn::DemoteTo(Narrow{}, v), Narrow{}, out);
  }
};

/// Double lanes for either float type.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, WideLanes, Lanes<double>>;

template <class T>
struct Tests {
  using In = T;
  using Out = bool;
  using D = hn::ScalableTag<T>;
  static HWY_INLINE hn::Vec<D> load(D d, const T* x) { return hn::LoadU(d, x); }
  static HWY_INLINE void store(D /*d*/, hn::Mask<D> m, bool* out) {
    const hn::RebindToUnsigned<D> words;
    const hn::Rebind<std::uint8_t, D> bytes;
    const auto ones = hn::IfThenElseZero(hn::RebindMask(words, m), hn::Set(words, 1));
    hn::StoreU(hn::TruncateTo(bytes, ones), bytes, reinterpret_cast<std::uint8_t*>(out));
  }
};

/// Tests of floats in lanes of doubles.
struct WideTests {
  using In = float;
  using Out = bool;
  using D = hn::ScalableTag<double>;
  static HWY_INLINE hn::Vec<D> load(D d, const float* x) { return WideLanes::load(d, x); }
  static HWY_INLINE void store(D d, hn::Mask<D> m, bool* out) { Tests<double>::store(d, m, out); }
};

template <class T>
struct Scalars {
  using In = T;
  using Out = T;
};
template <class Access>
inline constexpr bool has_lanes = !std::is_same_v<Access, Scalars<typename Access::In>>;

template <class Op>
HWY_INLINE Op make_op([[maybe_unused]] const double* parameters) {
  if constexpr (std::is_constructible_v<Op, const double*>) {
    return Op(parameters);
  } else {
    return Op{};
  }
}

template <class Access, class Op>
void map_unary(const void* const* inputs, void* out, std::int64_t count, const double* parameters) {
  const Op op = make_op<Op>(parameters);
  const auto* const x = static_cast<const typename Access::In*>(inputs[0]);
  auto* const y = static_cast<typename Access::Out*>(out);
  std::int64_t i = 0;
  if constexpr (has_lanes<Access>) {
    const typename Access::D d;
    constexpr std::int64_t N = lanes<decltype(d)>;
    for (; i + N <= count; i += N) Access::store(d, op(d, Access::load(d, x + i)), y + i);
    if (i == count) return;
    HWY_ALIGN typename Access::In x_rest[N] = {};
    HWY_ALIGN typename Access::Out y_rest[N];
    std::copy_n(x + i, count - i, x_rest);
    Access::store(d, op(d, Access::load(d, x_rest)), y_rest);
    std::copy_n(y_rest, count - i, y + i);
  } else {
    for (; i < count; ++i) y[i] = static_cast<typename Access::Out>(op(x[i]));
  }
}

template <class Access, class Op>
void map_binary(const void* const* inputs, void* out, std::int64_t count,
                const double* parameters) {
  const Op op = make_op<Op>(parameters);
  const auto* const a = static_cast<const typename Access::In*>(inputs[0]);
  const auto* const b = static_cast<const typename Access::In*>(inputs[1]);
  auto* const y = static_cast<typename Access::Out*>(out);
  std::int64_t i = 0;
  if constexpr (has_lanes<Access>) {
    const typename Access::D d;
    constexpr std::int64_t N = lanes<decltype(d)>;
    for (; i + N <= count; i += N) {
      Access::store(d, op(d, Access::load(d, a + i), Access::load(d, b + i)), y + i);
    }
    if (i == count) return;
    HWY_ALIGN typename Access::In a_rest[N] = {};
    HWY_ALIGN typename Access::In b_rest[N] = {};
    HWY_ALIGN typename Access::Out y_rest[N];
    std::copy_n(a + i, count - i, a_rest);
    std::copy_n(b + i, count - i, b_rest);
    Access::store(d, op(d, Access::load(d, a_rest), Access::load(d, b_rest)), y_rest);
    std::copy_n(y_rest, count - i, y + i);
  } else {
    for (; i < count; ++i) y[i] = static_cast<typename Access::Out>(op(a[i], b[i]));
  }
}

template <class Access, class Op>
void map_ternary(const void* const* inputs, void* out, std::int64_t count,
                 const double* parameters) {
  const Op op = make_op<Op>(parameters);
  using T = typename Access::In;
  const auto* const a = static_cast<const T*>(inputs[0]);
  const auto* const b = static_cast<const T*>(inputs[1]);
  const auto* const c = static_cast<const T*>(inputs[2]);
  auto* const y = static_cast<T*>(out);
  const typename Access::D d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    hn::StoreU(op(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, y + i);
  }
  if (i == count) return;
  HWY_ALIGN T rest[3][N] = {};
  std::copy_n(a + i, count - i, rest[0]);
  std::copy_n(b + i, count - i, rest[1]);
  std::copy_n(c + i, count - i, rest[2]);
  hn::StoreU(op(d, hn::LoadU(d, rest[0]), hn::LoadU(d, rest[1]), hn::LoadU(d, rest[2])), d,
             rest[0]);
  std::copy_n(rest[0], count - i, y + i);
}

template <class Access, class Op>
inline constexpr ElementwiseKernel unary_kernel{map_unary<Access, Op>,
                                                {dtype_of<typename Access::In>()},
                                                dtype_of<typename Access::Out>(),
                                                Op::cost};
template <class Access, class Op>
inline constexpr ElementwiseKernel binary_kernel{
    map_binary<Access, Op>,
    {dtype_of<typename Access::In>(), dtype_of<typename Access::In>()},
    dtype_of<typename Access::Out>(),
    Op::cost};
template <class Access, class Op>
inline constexpr ElementwiseKernel ternary_kernel{
    map_ternary<Access, Op>,
    {dtype_of<typename Access::In>(), dtype_of<typename Access::In>(),
     dtype_of<typename Access::In>()},
    dtype_of<typename Access::Out>(),
    Op::cost};

/// The kernel of one file's operators for a compute type: `Family<T>::find(op)`.
template <template <class> class Family, class Op>
const ElementwiseKernel* find_by_type(Op op, ComputeType type) {
  switch (type) {
    case ComputeType::i32: return Family<std::int32_t>::find(op);
    case ComputeType::i64: return Family<std::int64_t>::find(op);
    case ComputeType::f32: return Family<float>::find(op);
    case ComputeType::f64: return Family<double>::find(op);
  }
  return nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
