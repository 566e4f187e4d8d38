#pragma once

#include <cstdint>

#include "loup/base/dtype.h"

namespace loup::test {

/// Half the distance from 1 to the next number.
constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    case DType::f32: return 0x1p-24;
    case DType::f64: return 0x1p-53;
    default: return 0;
  }
}

/// How far a result of `dtype` made of `count` elements may be from the exact one, as a part of the
/// sum of magnitudes. Blocks of 16 elements are added in the compute type, so longer rows are not
/// worse; the result is rounded once more to `dtype`.
constexpr double tolerance(DType dtype, std::int64_t count) {
  if (!is_floating(dtype)) return 0;
  const double computed = unit_roundoff(storage_type(compute_type(dtype)));
  const auto additions = static_cast<double>(count < 20 ? count : 20);
  return unit_roundoff(dtype) + computed * additions;
}

}  // namespace loup::test
