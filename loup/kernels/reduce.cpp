#include "loup/kernels/reduce.h"

#include "loup/kernels/sum.h"

namespace loup::kernels {

const Reducer* find_reducer(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::sum: return sum(dtype);
  }
  __builtin_unreachable();
}

const Reducer& reducer(ReduceOp op, ComputeType type) {
  return *find_reducer(op, storage_type(type));
}

}  // namespace loup::kernels
