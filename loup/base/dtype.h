#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "loup/base/half.h"
#include "loup/export.h"

namespace loup {

/// What the elements of a tensor are.
enum class DType : std::uint8_t { boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64 };
inline constexpr int dtype_count = 10;

/// What kernels compute with: every DType is widened to one of these.
enum class ComputeType : std::uint8_t { i32, i64, f32, f64 };

namespace detail {
// Not inside of the function, which would write all of it to the stack in every call.
inline constexpr std::int64_t bytes_of_dtypes[dtype_count] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
}  // namespace detail
constexpr std::int64_t item_bytes(DType dtype) {
  return detail::bytes_of_dtypes[static_cast<std::size_t>(dtype)];
}

constexpr bool is_floating(DType dtype) { return dtype >= DType::f16; }
/// Integers without bool.
constexpr bool is_integer(DType dtype) { return dtype >= DType::u8 && dtype <= DType::i64; }

constexpr ComputeType compute_type(DType dtype) {
  if (is_floating(dtype)) return dtype == DType::f64 ? ComputeType::f64 : ComputeType::f32;
  return dtype == DType::i64 ? ComputeType::i64 : ComputeType::i32;
}

/// The DType that holds elements of a compute type.
constexpr DType storage_type(ComputeType type) {
  constexpr DType types[] = {DType::i32, DType::i64, DType::f32, DType::f64};
  return types[static_cast<std::size_t>(type)];
}

/// The floating dtype of what is computed from elements: their own; of integers float32, of int64
/// float64.
constexpr DType floating_type(DType dtype) {
  if (is_floating(dtype)) return dtype;
  return dtype == DType::i64 ? DType::f64 : DType::f32;
}

/// The name users know: "bool", "uint8", … "bfloat16", "float64".
LOUP_EXPORT std::string_view name(DType dtype);

/// The dtype that holds a result of two operands, by PyTorch's rules.
LOUP_EXPORT DType promote(DType a, DType b);

/// The DType of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return DType::f16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::bf16;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::f64;
  } else {
    static_assert(std::is_integral_v<T>, "not an element type");
    static_assert(std::is_signed_v<T> || sizeof(T) == 1, "of the unsigned types only u8 is there");
    if constexpr (sizeof(T) == 1) {
      return std::is_signed_v<T> ? DType::i8 : DType::u8;
    } else if constexpr (sizeof(T) == 2) {
      return DType::i16;
    } else {
      return sizeof(T) == 4 ? DType::i32 : DType::i64;
    }
  }
}

/// Calls `f(std::type_identity<T>{})` with the element type of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(std::type_identity<bool>{});
    case DType::u8: return f(std::type_identity<std::uint8_t>{});
    case DType::i8: return f(std::type_identity<std::int8_t>{});
    case DType::i16: return f(std::type_identity<std::int16_t>{});
    case DType::i32: return f(std::type_identity<std::int32_t>{});
    case DType::i64: return f(std::type_identity<std::int64_t>{});
    case DType::f16: return f(std::type_identity<Float16>{});
    case DType::bf16: return f(std::type_identity<BFloat16>{});
    case DType::f32: return f(std::type_identity<float>{});
    case DType::f64: return f(std::type_identity<double>{});
  }
  __builtin_unreachable();
}

/// A double that halves round to as `value` itself: where doubles have gaps, bits that they do not
/// have are gathered in the last one.
inline double double_for_half(std::int64_t value) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  constexpr std::int64_t rest = (1 << 12) - 1;
  if (value <= -limit || value >= limit) value = (value | ((value & rest) + rest)) & ~rest;
  return static_cast<double>(value);
}

/// Converts an element as `Tensor::to` does: floats to ints truncate, saturate at int64 and wrap to
/// narrower ints, NaN gives 0; ints wrap; anything but 0 is true. Rounds once, to the nearest.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_integral_v<From>) {
      return To(double_for_half(value));
    } else {
      return To(value);
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // A cast outside the range of int64 is undefined in C++: saturate first, then wrap as ints do.
    constexpr From limit = static_cast<From>(0x1p63);
    if (value >= limit) return static_cast<To>(INT64_MAX);
    if (!(value >= -limit)) return static_cast<To>(value < 0 ? INT64_MIN : 0);
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace loup

template <>
struct LOUP_EXPORT fmt::formatter<loup::DType> : fmt::formatter<fmt::string_view> {
  fmt::format_context::iterator format(loup::DType dtype, fmt::format_context& context) const;
};
