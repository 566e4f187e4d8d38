#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/export.h"
#include "loup/kernels/reduce.h"

namespace loup::kernels {

/// A block whose rows or columns are lines, and where the results go.
struct LineBlock {
  Block in;
  void* out;  // of the kernel's type; columns are contiguous
  std::int64_t out_row;
  bool streams;   // past the caches: for outputs that would only push other things out of them
  void* scratch;  // of line_scratch() bytes, or column_scratch() for whole columns
  const void* given = nullptr;  // gradients: the results of the call, rows as far apart as out's
  std::int64_t strip = 0;       // whole columns: so many are gathered in scratch at a time
};

/// What is known of one line: the largest element and the sum of exponentials beside it, or a sum
/// of powers.
struct LineState {
  double first, second;
};

/// An operator whose output has the shape of its input, and whose elements depend on all of their
/// line. `parameters` are the operator's own.
///
/// Elements that do not count are never used, whatever they hold.
struct LineKernel {
  DType type;  // of the elements read and written: floating

  // Rows that fit the caches, from one reading of them.
  void (*rows)(const LineBlock& block, const double* parameters);

  // Columns, and longer rows: what is known of a line is added up piece by piece in its state, then
  // results are written from it.
  LineState (*empty)(const double* parameters);
  void (*measure_rows)(const LineBlock& block, LineState* states, const double* parameters);
  void (*measure_columns)(const LineBlock& block, LineState* states, const double* parameters);
  LineState (*merge)(const LineState& a, const LineState& b, const double* parameters);
  void (*apply_rows)(const LineBlock& block, const LineState* states, const double* parameters);
  void (*apply_columns)(const LineBlock& block, const LineState* states, const double* parameters);

  // Columns that fit the caches, from one reading of them, with column_scratch() bytes of scratch.
  // Null where there is nothing to gain.
  void (*columns)(const LineBlock& block, const double* parameters) = nullptr;
};

/// Bytes of scratch for blocks of so many columns.
LOUP_EXPORT std::size_t line_scratch(std::int64_t cols);
/// Exponentials of whole columns are computed in pieces of so many rows.
inline constexpr std::int64_t column_piece = 128;
constexpr std::int64_t column_pieces(std::int64_t rows) {
  return (rows + column_piece - 1) / column_piece;
}
/// The same for whole columns of `rows` elements of `item` bytes.
LOUP_EXPORT std::size_t column_scratch(std::int64_t rows, std::int64_t cols, std::int64_t item);

enum class SoftmaxOp : std::uint8_t { softmax, log_softmax };
/// Parameter: 1, or -1 for the softmax of -x.
LOUP_EXPORT const LineKernel& softmax_kernel(SoftmaxOp op, DType type);
/// The gradients of lines from those of their results, which are `given`. Parameter: as above.
LOUP_EXPORT const LineKernel& softmax_gradient_kernel(SoftmaxOp op, ComputeType type);
/// Lines divided by their norm of an order. Parameters: the order, and the least divisor.
LOUP_EXPORT const LineKernel& normalize_kernel(double order, DType type);

// One source each, because each takes some seconds to compile.
const LineKernel& softmax_f32(SoftmaxOp op);
const LineKernel& softmax_f64(SoftmaxOp op);
const LineKernel& softmax_half(SoftmaxOp op, DType type);
const LineKernel& softmax_gradient_f32(SoftmaxOp op);
const LineKernel& softmax_gradient_f64(SoftmaxOp op);
const LineKernel& normalize_f32(double order);
const LineKernel& normalize_f64(double order);
const LineKernel& normalize_half(double order, DType type);

}  // namespace loup::kernels
