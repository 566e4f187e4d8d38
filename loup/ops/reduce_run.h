#pragma once

#include <cstdint>

#include "loup/kernels/reduce.h"
#include "loup/ops/plan.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// What is reduced, and how.
struct ReduceTask {
  kernels::ReduceOp op;
  const Tensor& x;
  DType cast;  // what elements are converted to first
  const Tensor* mask;
  double parameter;
  const Tensor* weight = nullptr;  // what each element is multiplied by, and summed itself
};

/// Runs the kernel along a plan. Writes to `first` its first result, to `second` the other; either
/// may be null. Under weights that other is the same reduction of the weights. `bytes` are read.
void run_reduction(const ReducePlan& plan, const ReduceTask& task, const Tensor* first,
                   const Tensor* second, std::int64_t bytes);

/// The same without a plan, where all is reduced and one row of elements that the kernel can read
/// where they lie is all there is; otherwise false. (Planning would take longer than reducing it.)
bool reduce_row(const ReduceTask& task, const Tensor& out, bool is_second);

/// Fills an output of which nothing is reduced: the reduction of no elements.
void write_identity(const kernels::Reducer& reducer, DType cast, const Tensor& out, bool is_second,
                    double parameter);

}  // namespace loup::ops
