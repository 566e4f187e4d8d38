#pragma once

#include "loup/kernels/reduce.h"

namespace loup::kernels {

// The reducers of each operator, for elements of `dtype` as they are; null where they have to be
// converted first. Files are split where they take long to compile.

const Reducer* sum_int(DType dtype);
const Reducer* sum_f32();
const Reducer* sum_f64();
const Reducer* sum_half(DType dtype);
const Reducer* mean_int(DType dtype);
const Reducer* mean_float(DType dtype);
const Reducer* mean_half(DType dtype);
const Reducer* prod(DType dtype);
const Reducer* amax(DType dtype);
const Reducer* amin(DType dtype);
const Reducer* var(DType dtype);
const Reducer* var_half(DType dtype);
const Reducer* minmax(DType dtype);
const Reducer* argmax(DType dtype);
const Reducer* argmin(DType dtype);
const Reducer* arg_extreme_half(bool is_largest, DType dtype);
const Reducer* log_sum_exp(DType dtype);
const Reducer* log_sum_exp_half(DType dtype);
/// `op` is one of the norms of powers.
const Reducer* norm(ReduceOp op, DType dtype);
const Reducer* norm_half(ReduceOp op, DType dtype);
/// The norms of no power: the largest or the least magnitude.
const Reducer* norm_extreme(bool is_largest, DType dtype);

}  // namespace loup::kernels
