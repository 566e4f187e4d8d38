#include "loup/kernels/reduce.h"

#include "loup/kernels/sum.h"

namespace loup::kernels {

const Reducer& reducer(ReduceOp op, ComputeType type) {
  switch (op) {
    case ReduceOp::sum: return sum(type);
  }
  __builtin_unreachable();
}

}  // namespace loup::kernels
