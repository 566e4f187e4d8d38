#include "loup/kernels/elementwise.h"
namespace loup::kernels {
const ElementwiseKernel* unary_trigonometric(UnaryOp, ComputeType) { return nullptr; }
const ElementwiseKernel* unary_special(UnaryOp, ComputeType) { return nullptr; }
const ElementwiseKernel* binary_special(BinaryOp, ComputeType) { return nullptr; }
}
