// What the mathematical functions of vectors share. Included once per instruction set, from kernel
// files only.

#if defined(LOUP_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_MATH_INL_H_
#undef LOUP_KERNELS_MATH_INL_H_
#else
#define LOUP_KERNELS_MATH_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numbers>

#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;
using FloatVec = hn::Vec<Floats>;
using Doubles = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<Doubles>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Polynomials by Estrin's scheme: halves are independent, so that vectors do not wait for each
/// other's last multiplication.
template <const auto& coefficients, std::size_t from, std::size_t count, class D, class V>
HWY_INLINE V polynomial_part(D d, const V* powers) {
  if constexpr (count == 1) {
    return hn::Set(d, static_cast<hn::TFromD<D>>(coefficients[from]));
  } else {
    constexpr std::size_t half = std::bit_floor(count - 1);
    return hn::MulAdd(powers[std::bit_width(half) - 1],
                      polynomial_part<coefficients, from + half, count - half>(d, powers),
                      polynomial_part<coefficients, from, half>(d, powers));
  }
}
/// The sum of coefficients[i] x^i.
template <const auto& coefficients, class D, class V = hn::Vec<D>>
HWY_INLINE V polynomial(D d, V x) {
  constexpr std::size_t count = std::size(coefficients);
  V powers[4] = {x, x, x, x};
  if constexpr (count > 2) powers[1] = hn::Mul(x, x);
  if constexpr (count > 4) powers[2] = hn::Mul(powers[1], powers[1]);
  if constexpr (count > 8) powers[3] = hn::Mul(powers[2], powers[2]);
  static_assert(count <= 16);
  return polynomial_part<coefficients, 0, count>(d, powers);
}

/// x between low and high; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamp(D d, V x, double low, double high) {
  // The order matters: when one operand is NaN, x86 takes the second.
  using T = hn::TFromD<D>;
  const auto below = hn::Min(hn::Set(d, static_cast<T>(high)), x);
  return hn::Max(hn::Set(d, static_cast<T>(low)), below);
}

/// 1/x to 46 bits, for |x| in the range of floats: a third of the time of a division.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V quick_reciprocal(D d, V x) {
  const hn::Rebind<float, D> narrow;
  const auto one = hn::Set(d, 1.0);
  const auto guess = hn::PromoteTo(d, hn::Div(hn::Set(narrow, 1.0F), hn::DemoteTo(narrow, x)));
  return hn::MulAdd(guess, hn::NegMulAdd(x, guess, one), guess);
}

/// sqrt(x) to 46 bits, for x in the range of floats but not denormal: a third of the time of an
/// exact one. 0 becomes about 1e-18.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V quick_sqrt(D d, V x) {
  const hn::Rebind<float, D> narrow;
  const auto half = hn::Set(d, 0.5);
  const auto positive = hn::Add(x, hn::Set(d, 1e-36));
  const auto guess =
      hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(narrow, positive)));
  // Goldschmidt: root goes to sqrt(x) and half_inverse to 0.5 / sqrt(x); 11 bits, 22, 44.
  auto root = hn::Mul(positive, guess);
  auto half_inverse = hn::Mul(half, guess);
  const auto error = hn::NegMulAdd(root, half_inverse, half);
  root = hn::MulAdd(root, error, root);
  half_inverse = hn::MulAdd(half_inverse, error, half_inverse);
  return hn::MulAdd(root, hn::NegMulAdd(root, half_inverse, half), root);
}

/// `result`, but f(x) in the lanes of `wrong`.
template <double (*f)(double), class D, class V = hn::Vec<D>>
HWY_NOINLINE V replace_lanes(D d, V x, hn::Mask<D> wrong, V result) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T in[lanes<D>];
  HWY_ALIGN T out[lanes<D>];
  hn::Store(x, d, in);
  hn::Store(hn::IfThenElseZero(wrong, hn::Set(d, T{1})), d, out);
  for (std::int64_t i = 0; i < lanes<D>; ++i) {
    if (out[i] != 0) out[i] = static_cast<T>(f(in[i]));
  }
  return hn::IfThenElse(wrong, hn::Load(d, out), result);
}

/// The same for functions of two numbers.
template <double (*f)(double, double), class D, class V = hn::Vec<D>>
HWY_NOINLINE V replace_lanes(D d, V x, V y, hn::Mask<D> wrong, V result) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T a[lanes<D>];
  HWY_ALIGN T b[lanes<D>];
  HWY_ALIGN T out[lanes<D>];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  hn::Store(hn::IfThenElseZero(wrong, hn::Set(d, T{1})), d, out);
  for (std::int64_t i = 0; i < lanes<D>; ++i) {
    if (out[i] != 0) out[i] = static_cast<T>(f(a[i], b[i]));
  }
  return hn::IfThenElse(wrong, hn::Load(d, out), result);
}

/// The sign bit of a number that may be NaN, 0 or infinite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Mask<D> has_sign(D d, V x) {
  const hn::RebindToSigned<D> words;
  return hn::RebindMask(d, hn::Lt(hn::BitCast(words, x), hn::Zero(words)));
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
