// Vectors of any dtype loaded as, changed into and stored from four types: i32, i64, f32 and f64.
// Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_CONVERT_INL_H_
#undef LOUP_KERNELS_CONVERT_INL_H_
#else
#define LOUP_KERNELS_CONVERT_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "loup/base/dtype.h"
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// --- half types ---

/// As Float16(float): to nearest, ties to even; the bits in the lower half of each lane.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> float_to_float16(D d, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto word = hn::BitCast(du, v);
  const auto sign = hn::And(hn::ShiftRight<16>(word), hn::Set(du, 0x8000U));
  const auto magnitude = hn::And(word, hn::Set(du, 0x7FFFFFFFU));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1U));
  const auto rounded = hn::Add(hn::Add(magnitude, hn::Set(du, 0xFFFU)), odd);
  const auto normal = hn::ShiftRight<13>(hn::Sub(rounded, hn::Set(du, 0x38000000U)));
  // Adding 0.5 moves the subnormal's bits to the end of the word and rounds them to even.
  const auto shifted = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5F));
  const auto subnormal = hn::Sub(hn::BitCast(du, shifted), hn::Set(du, 0x3F000000U));
  const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3FFU));
  const auto nan = hn::Or(payload, hn::Set(du, 0x7E00U));
  auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000U)), subnormal, normal);
  half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x477FF000U)), half, hn::Set(du, 0x7C00U));
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7F800000U)), nan, half);
  return hn::Or(half, sign);
}

/// As BFloat16(float), the bits in the lower half of each lane. (Highway 1.0.3 cuts them off.)
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> float_to_bfloat16(D /*d*/, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto word = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(word), hn::Set(du, 1U));
  const auto rounded = hn::Add(hn::Add(word, hn::Set(du, 0x7FFFU)), odd);
  const auto nan = hn::Or(word, hn::Set(du, 0x400000U));
  const auto is_number = hn::RebindMask(du, hn::Eq(v, v));
  return hn::ShiftRight<16>(hn::IfThenElse(is_number, rounded, nan));
}

/// The elements of a half type whose bits are given.
template <class T, class D>
HWY_INLINE hn::Vec<D> widen_half(D d, hn::Vec<hn::Rebind<std::uint16_t, D>> bits) {
  if constexpr (std::is_same_v<T, Float16> && widens_float16) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
  } else {
    const auto words = hn::PromoteTo(hn::RebindToUnsigned<D>(), bits);
    if constexpr (std::is_same_v<T, Float16>) return float16_to_float(d, words);
    return hn::BitCast(d, hn::ShiftLeft<16>(words));
  }
}

/// The bits of floats as a half type.
template <class T, class D>
HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, D>> narrow_to_half(D d, hn::Vec<D> v) {
  const hn::Rebind<std::uint16_t, D> bits;
  if constexpr (std::is_same_v<T, BFloat16>) {
    return hn::TruncateTo(bits, float_to_bfloat16(d, v));
  } else if constexpr (widens_float16) {
    return hn::BitCast(bits, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
  } else {
    return hn::TruncateTo(bits, float_to_float16(d, v));
  }
}

// --- load ---

/// What the elements of a dtype are computed with.
template <class T>
using Widened =
    std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>, T,
                       std::conditional_t<is_floating(dtype_of<T>()), float, std::int32_t>>;

/// `D` is a tag of Widened<T>.
template <class T, class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const T* from) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    return hn::LoadU(d, from);
  } else if constexpr (std::is_same_v<T, bool>) {
    const hn::Rebind<std::uint8_t, D> stored;
    const auto bytes = hn::LoadU(stored, reinterpret_cast<const std::uint8_t*>(from));
    return hn::PromoteTo(d, hn::Min(bytes, hn::Set(stored, std::uint8_t{1})));
  } else if constexpr (std::is_integral_v<T>) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
  } else {
    const hn::Rebind<std::uint16_t, D> stored;
    return widen_half<T>(d, hn::LoadU(stored, reinterpret_cast<const std::uint16_t*>(from)));
  }
}

// --- change ---

// `change(d, v, result)` writes v as elements of d into `result`; false when that does not round
// or wrap as convert() does for all lanes.

template <class D>
HWY_INLINE bool change(D /*d*/, hn::Vec<D> v, hn::Vec<D>& result) {
  result = v;
  return true;
}

template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, std::int32_t>()>* = nullptr,
          hwy::EnableIf<!hwy::IsSame<hn::TFromD<D>, std::int32_t>()>* = nullptr>
HWY_INLINE bool change(D d, V v, hn::Vec<D>& result) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    result = hn::PromoteTo(d, v);
  } else {
    result = hn::ConvertTo(d, v);
  }
  return true;
}

template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, std::int64_t>()>* = nullptr,
          hwy::EnableIf<!hwy::IsSame<hn::TFromD<D>, std::int64_t>()>* = nullptr>
HWY_INLINE bool change(D d, V v, hn::Vec<D>& result) {
  const hn::Rebind<std::int64_t, D> di;
  const hn::Rebind<double, D> dd;
  if constexpr (std::is_same_v<hn::TFromD<D>, std::int32_t>) {
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<std::uint64_t, D> wide;
    result = hn::BitCast(d, hn::TruncateTo(du, hn::BitCast(wide, v)));
    return true;
  } else if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    result = hn::ConvertTo(d, v);
    return true;
  } else {
    // By way of double, which must not round: the float would be rounded twice.
    constexpr std::int64_t limit = std::int64_t{1} << 53;
    result = hn::DemoteTo(d, hn::ConvertTo(dd, v));
    return hn::AllTrue(di, hn::And(hn::Lt(v, hn::Set(di, limit)), hn::Lt(hn::Set(di, -limit), v)));
  }
}

/// True when all lanes lie inside of (-limit, limit); not for NaN.
template <class D>
HWY_INLINE bool are_within(D d, hn::Vec<D> v, hn::TFromD<D> limit) {
  return hn::AllTrue(d, hn::Lt(hn::Abs(v), hn::Set(d, limit)));
}

template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, double>()>* = nullptr,
          hwy::EnableIf<!hwy::IsSame<hn::TFromD<D>, double>()>* = nullptr>
HWY_INLINE bool change(D d, V v, hn::Vec<D>& result) {
  const hn::Rebind<double, D> dd;
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    result = hn::DemoteTo(d, v);
    return true;
  } else if constexpr (std::is_same_v<hn::TFromD<D>, std::int32_t>) {
    result = hn::DemoteTo(d, v);
    return are_within(dd, v, 0x1p31);
  } else if constexpr (HWY_TARGET <= HWY_AVX3) {
    result = hn::ConvertTo(d, v);
    return are_within(dd, v, 0x1p63);
  } else {
    result = hn::PromoteTo(d, hn::DemoteTo(hn::Rebind<std::int32_t, D>(), v));
    return are_within(dd, v, 0x1p31);
  }
}

template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, float>()>* = nullptr,
          hwy::EnableIf<!hwy::IsSame<hn::TFromD<D>, float>()>* = nullptr>
HWY_INLINE bool change(D d, V v, hn::Vec<D>& result) {
  const hn::Rebind<float, D> df;
  if constexpr (std::is_same_v<hn::TFromD<D>, std::int32_t>) {
    result = hn::ConvertTo(d, v);
    return are_within(df, v, 0x1p31F);
  } else {
    const hn::Rebind<double, D> dd;
    return change(d, hn::PromoteTo(dd, v), result);
  }
}

// --- change to floats for half types ---

/// Whether floats on the way from one type to the other would be rounded, and once more then.
/// (Integers that no float is are infinite as float16.)
template <class To, class From>
inline constexpr bool rounds_twice =
    is_half<To> &&
    (std::is_same_v<From, double> ||
     (std::is_same_v<To, BFloat16> && std::is_integral_v<From> && sizeof(From) >= 4));

// `change_for_half(d, v, result)` gives floats that halves round to as the elements of v: bits that
// do not fit are gathered in the last one. False when that is not right for all lanes.

/// As float_for_half().
template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, double>()>* = nullptr>
HWY_INLINE bool change_for_half(D d, V v, hn::Vec<D>& result) {
  const hn::Rebind<double, D> dd;
  const hn::Rebind<std::uint64_t, D> du;
  const auto rest = hn::Set(du, (std::uint64_t{1} << 37U) - 1U);
  const auto word = hn::BitCast(du, v);
  const auto last = hn::Add(hn::And(word, rest), rest);
  result = hn::DemoteTo(d, hn::BitCast(dd, hn::AndNot(rest, hn::Or(word, last))));
  return true;
}

template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, std::int64_t>()>* = nullptr>
HWY_INLINE bool change_for_half(D d, V v, hn::Vec<D>& result) {
  const hn::Rebind<double, D> dd;
  hn::Vec<decltype(dd)> wide;
  change(dd, v, wide);
  change_for_half(d, wide, result);
  return are_within(dd, wide, 0x1p53);
}

template <class D, class V, hwy::EnableIf<hwy::IsSame<hn::TFromV<V>, std::int32_t>()>* = nullptr>
HWY_INLINE bool change_for_half(D d, V v, hn::Vec<D>& result) {
  const hn::Rebind<std::int32_t, D> di;
  const auto rest = hn::Set(di, 0xFF);
  const auto last = hn::Add(hn::And(v, rest), rest);
  const auto is_exact = hn::Lt(hn::Abs(v), hn::Set(di, 1 << 24));
  const auto odd = hn::AndNot(rest, hn::Or(v, last));
  result = hn::ConvertTo(d, hn::IfThenElse(is_exact, v, odd));
  return true;
}

// --- store ---

template <class D>
HWY_INLINE void store_truth(D d, hn::Vec<D> v, bool* to) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint8_t, D> stored;
  using Word = hn::TFromD<decltype(du)>;
  // Not by Ne, which is false for NaN on some instruction sets.
  const auto is_zero = hn::RebindMask(du, hn::Eq(v, hn::Zero(d)));
  const auto words = hn::IfThenZeroElse(is_zero, hn::Set(du, Word{1}));
  hn::StoreU(hn::TruncateTo(stored, words), stored, reinterpret_cast<std::uint8_t*>(to));
}

/// `D` is a tag of Widened<T>.
template <class T, class D>
HWY_INLINE void store_narrowed(D d, hn::Vec<D> v, T* to) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    hn::StoreU(v, d, to);
  } else if constexpr (std::is_integral_v<T>) {
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<std::make_unsigned_t<T>, D> stored;
    hn::StoreU(hn::TruncateTo(stored, hn::BitCast(du, v)), stored,
               reinterpret_cast<std::make_unsigned_t<T>*>(to));
  } else {
    const hn::Rebind<std::uint16_t, D> stored;
    hn::StoreU(narrow_to_half<T>(d, v), stored, reinterpret_cast<std::uint16_t*>(to));
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
