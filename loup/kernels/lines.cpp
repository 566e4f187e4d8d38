#include "loup/kernels/lines.h"

namespace loup::kernels {

namespace {

// Of the widest vectors: 16 lanes.
constexpr std::int64_t widest = 16;

}  // namespace

std::size_t row_scratch(std::int64_t cols) {
  return static_cast<std::size_t>(cols + 2 * widest) * sizeof(double);
}

std::size_t column_scratch(std::int64_t rows, std::int64_t cols) {
  const std::int64_t stride = (cols + widest - 1) / widest * widest;
  return static_cast<std::size_t>((rows + 4) * stride) * sizeof(double);
}

const LineKernel& softmax_kernel(SoftmaxOp op, ComputeType type) {
  return type == ComputeType::f64 ? softmax_f64(op) : softmax_f32(op);
}

const LineKernel& normalize_kernel(double order, ComputeType type) {
  return type == ComputeType::f64 ? normalize_f64(order) : normalize_f32(order);
}

}  // namespace loup::kernels
