#include "loup/kernels/reduce.h"

#include "loup/kernels/sum.h"

namespace loup::kernels {

const Reducer& reducer(ReduceOp op, ComputeType type) {
  switch (op) {
    case ReduceOp::sum:
      switch (type) {
        case ComputeType::i32: return sum_i32();
        case ComputeType::i64: return sum_i64();
        case ComputeType::f32: return sum_f32();
        case ComputeType::f64: return sum_f64();
      }
  }
  __builtin_unreachable();
}

}  // namespace loup::kernels
