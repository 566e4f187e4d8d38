#pragma once

#include "loup/kernels/reduce.h"

namespace loup::kernels {

// One source each, because each takes some seconds to compile.
const Reducer& sum_i32();
const Reducer& sum_i64();
const Reducer& sum_f32();
const Reducer& sum_f64();

inline const Reducer& sum(ComputeType type) {
  switch (type) {
    case ComputeType::i32: return sum_i32();
    case ComputeType::i64: return sum_i64();
    case ComputeType::f32: return sum_f32();
    case ComputeType::f64: return sum_f64();
  }
  __builtin_unreachable();
}

}  // namespace loup::kernels
