#include "loup/base/dtype.h"

#include <array>

#include <fmt/format.h>

namespace loup {

namespace {

template <class T>
using PerDType = std::array<T, dtype_count>;

constexpr std::size_t index(DType dtype) { return static_cast<std::size_t>(dtype); }

constexpr PerDType<PerDType<DType>> promotion_table() {
  using enum DType;
  constexpr DType b1 = boolean;
  return {{
      // boolean u8    i8    i16   i32   i64   f16   bf16  f32   f64
      {b1, u8, i8, i16, i32, i64, f16, bf16, f32, f64},
      {u8, u8, i16, i16, i32, i64, f16, bf16, f32, f64},
      {i8, i16, i8, i16, i32, i64, f16, bf16, f32, f64},
      {i16, i16, i16, i16, i32, i64, f16, bf16, f32, f64},
      {i32, i32, i32, i32, i32, i64, f16, bf16, f32, f64},
      {i64, i64, i64, i64, i64, i64, f16, bf16, f32, f64},
      {f16, f16, f16, f16, f16, f16, f16, f32, f32, f64},
      {bf16, bf16, bf16, bf16, bf16, bf16, f32, bf16, f32, f64},
      {f32, f32, f32, f32, f32, f32, f32, f32, f32, f64},
      {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
  }};
}

}  // namespace

std::string_view name(DType dtype) {
  constexpr PerDType<std::string_view> names = {"bool",    "uint8",  "int8",    "int16",
                                                "int32",   "int64",  "float16", "bfloat16",
                                                "float32", "float64"};
  return names[index(dtype)];
}

DType promote(DType a, DType b) {
  static constexpr auto table = promotion_table();
  return table[index(a)][index(b)];
}

}  // namespace loup

fmt::format_context::iterator fmt::formatter<loup::DType>::format(
    loup::DType dtype, fmt::format_context& context) const {
  return fmt::format_to(context.out(), "{}", loup::name(dtype));
}
