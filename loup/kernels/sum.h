#pragma once

#include "loup/kernels/reduce.h"

namespace loup::kernels {

// One source each, because each takes some seconds to compile.
const Reducer& sum_i32();
const Reducer& sum_i64();
const Reducer& sum_f32();
const Reducer& sum_f64();
const Reducer* sum_f16();  // null where this CPU cannot widen float16
const Reducer* sum_bf16();

inline const Reducer* sum(DType dtype) {
  switch (dtype) {
    case DType::i32: return &sum_i32();
    case DType::i64: return &sum_i64();
    case DType::f16: return sum_f16();
    case DType::bf16: return sum_bf16();
    case DType::f32: return &sum_f32();
    case DType::f64: return &sum_f64();
    default: return nullptr;
  }
}

}  // namespace loup::kernels
