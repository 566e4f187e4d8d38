#include "loup/kernels/lines.h"

namespace loup::kernels {

namespace {

/// Kernels run over the end by vectors of up to so many lanes.
constexpr std::int64_t widest = 16;

}  // namespace

std::size_t line_scratch(std::int64_t cols) {
  // Two rows, of which one is computed while the other is written; or three numbers for every
  // column.
  return static_cast<std::size_t>(3 * (cols + 2 * widest)) * sizeof(double);
}

std::size_t column_scratch(std::int64_t rows, std::int64_t cols, std::int64_t item) {
  return line_scratch(cols) +
         static_cast<std::size_t>((rows + column_pieces(rows) + 5) * (cols + widest) * item);
}

const LineKernel& softmax_kernel(SoftmaxOp op, DType type) {
  if (item_bytes(type) == 2) return softmax_half(op, type);
  return type == DType::f64 ? softmax_f64(op) : softmax_f32(op);
}

const LineKernel& softmax_gradient_kernel(SoftmaxOp op, ComputeType type) {
  return type == ComputeType::f64 ? softmax_gradient_f64(op) : softmax_gradient_f32(op);
}

const LineKernel& normalize_kernel(double order, DType type) {
  if (item_bytes(type) == 2) return normalize_half(order, type);
  return type == DType::f64 ? normalize_f64(order) : normalize_f32(order);
}

}  // namespace loup::kernels
