#include "loup/kernels/reduce.h"

#include "loup/kernels/reducers.h"

namespace loup::kernels {

const Reducer* find_reducer(ReduceOp op, DType dtype) {
  const bool is_half = dtype == DType::f16 || dtype == DType::bf16;
  switch (op) {
    case ReduceOp::sum:
      if (dtype == DType::f32) return sum_f32();
      if (dtype == DType::f64) return sum_f64();
      return is_half ? sum_half(dtype) : sum_int(dtype);
    case ReduceOp::mean:
      if (is_half) return mean_half(dtype);
      return is_floating(dtype) ? mean_float(dtype) : mean_int(dtype);
    case ReduceOp::prod: return prod(dtype);
    case ReduceOp::amax: return amax(dtype);
    case ReduceOp::amin: return amin(dtype);
    case ReduceOp::var: return is_half ? var_half(dtype) : var(dtype);
    case ReduceOp::minmax: return minmax(dtype);
    case ReduceOp::argmax: return is_half ? arg_extreme_half(true, dtype) : argmax(dtype);
    case ReduceOp::argmin: return is_half ? arg_extreme_half(false, dtype) : argmin(dtype);
    case ReduceOp::log_sum_exp: return is_half ? log_sum_exp_half(dtype) : log_sum_exp(dtype);
    case ReduceOp::norm_0:
    case ReduceOp::norm_1:
    case ReduceOp::norm_2: return is_half ? norm_half(op, dtype) : norm(op, dtype);
    case ReduceOp::norm_most: return norm_extreme(true, dtype);
    case ReduceOp::norm_least: return norm_extreme(false, dtype);
  }
  __builtin_unreachable();
}

const Reducer& reducer(ReduceOp op, ComputeType type) {
  return *find_reducer(op, storage_type(type));
}

}  // namespace loup::kernels
