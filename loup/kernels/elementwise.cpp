#include "loup/kernels/elementwise.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdlib>

#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/stream.h"

namespace loup::kernels {

namespace {

/// Operand 0 is the output, the others are the inputs.
constexpr std::size_t most_operands = 5;
/// What one thread does at a time.
constexpr std::int64_t task_elements = 16 * 1024;
/// Tasks are at least this wide where rows lie closer together than columns: they are to have many
/// rows.
constexpr std::int64_t turned_cols = 128;
/// What is converted at a time: the operands of this many elements fit the first-level cache.
constexpr std::int64_t piece_elements = 1024;
/// Results beyond this many bytes are written past the caches, which would not keep them anyway.
constexpr std::int64_t streamed_bytes = 32 * 1024 * 1024;
/// Rows at least this long are handed to the kernel one by one; shorter ones are packed together.
constexpr std::int64_t long_row = 32;

struct Operand {
  std::byte* data;
  DType dtype;     // in memory
  DType computed;  // as the kernel sees it
  std::int64_t row, col;

  /// Whether rows lie closer together than columns.
  bool is_turned() const { return row != 0 && std::abs(row) < std::abs(col); }
};

/// A rows × cols part of the loop, small enough for the scratch memory.
struct Piece {
  std::int64_t rows, cols;
};

class Task {
 public:
  Task(const ElementwiseKernel& kernel, std::span<Operand> operands, const double* parameters,
       bool streams)
      : kernel_(kernel), operands_(operands), parameters_(parameters), streams_(streams) {}

  void operator()(std::int64_t rows, std::int64_t cols) {
    const Piece most = piece_size(rows, cols);
    for (std::int64_t r = 0; r < rows; r += most.rows) {
      for (std::int64_t c = 0; c < cols; c += most.cols) {
        const Piece piece{std::min(most.rows, rows - r), std::min(most.cols, cols - c)};
        run(piece, r, c, r == 0 && c == 0, piece.cols == cols);
      }
    }
    if (streams_) end_stream();
  }

 private:
  static bool is_native(const Operand& x) { return x.dtype == x.computed; }

  Piece piece_size(std::int64_t rows, std::int64_t cols) const {
    bool is_direct = true;
    bool is_turned = false;
    for (const Operand& x : operands_) {
      const bool reads_rows = is_native(x) && (x.col == 1 || cols == 1);
      is_direct &= reads_rows;
      // Where rows lie closer together than columns, squares read whole cache lines.
      is_turned |= !reads_rows && x.is_turned();
    }
    if (is_turned && rows > 1)
      return {std::min<std::int64_t>(rows, 32), std::min<std::int64_t>(cols, 32)};
    if (is_direct && cols >= long_row) {
      return {1, streams_ ? std::min(cols, piece_elements) : cols};
    }
    const std::int64_t piece_cols = std::min(cols, piece_elements);
    return {std::min(rows, piece_elements / piece_cols), piece_cols};
  }

  static bool is_flat(const Operand& x, const Piece& piece) {
    return is_native(x) && (x.col == 1 || piece.cols == 1) &&
           (piece.rows == 1 || x.row == (piece.cols == 1 ? 1 : piece.cols * x.col));
  }

  void run(const Piece& piece, std::int64_t r, std::int64_t c, bool is_first, bool is_whole_row) {
    std::array<std::byte*, most_operands> at{};
    std::array<std::int64_t, most_operands> row{};  // in bytes
    bool by_rows = false;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const Operand& x = operands_[k];
      std::byte* const memory = x.data + (r * x.row + c * x.col) * item_bytes(x.dtype);
      const bool reads_rows = is_native(x) && x.col == 1 && piece.cols >= long_row;
      if ((is_flat(x, piece) || reads_rows) && !(k == 0 && streams_)) {
        at[k] = memory;
        row[k] = x.row * item_bytes(x.dtype);
        by_rows |= !is_flat(x, piece);
        continue;
      }
      at[k] = scratch_[k].data();
      row[k] = piece.cols * item_bytes(x.computed);
      const bool repeats = x.row == 0 && (x.col == 0 || is_whole_row);
      if (k == 0 || (repeats && !is_first)) continue;
      copy_plane({at[k], x.computed, piece.cols, 1}, {memory, x.dtype, x.row, x.col}, piece.rows,
                 piece.cols);
    }
    const std::int64_t calls = by_rows ? piece.rows : 1;
    const std::int64_t count = by_rows ? piece.cols : piece.rows * piece.cols;
    for (std::int64_t i = 0; i < calls; ++i) {
      const void* const inputs[] = {at[1] + i * row[1], at[2] + i * row[2], at[3] + i * row[3],
                                    at[4] + i * row[4]};
      kernel_.run(inputs, at[0] + i * row[0], count, parameters_);
    }
    const Operand& out = operands_[0];
    if (at[0] == scratch_[0].data()) {
      std::byte* const memory = out.data + (r * out.row + c * out.col) * item_bytes(out.dtype);
      if (streams_ && is_flat(out, piece)) {
        return stream_bytes(memory, at[0],
                            static_cast<std::size_t>(count * calls * item_bytes(out.dtype)));
      }
      copy_plane({memory, out.dtype, out.row, out.col}, {at[0], out.computed, piece.cols, 1},
                 piece.rows, piece.cols);
    }
  }

  const ElementwiseKernel& kernel_;
  std::span<Operand> operands_;
  const double* parameters_;
  bool streams_;
  alignas(64) std::array<std::array<std::byte, piece_elements * 8>, most_operands> scratch_;
};

}  // namespace

void elementwise(const ElementwiseKernel& kernel, const Shape& shape, const Array& out,
                 std::span<const Array> inputs, const double* parameters) {
  assert(inputs.size() < most_operands);
  const std::int64_t count = element_count(shape);
  if (count == 0) return;
  const std::size_t operand_count = inputs.size() + 1;
  Axes<most_operands> outer;
  for (int i = 0; i < shape.size(); ++i) {
    Axis<most_operands> axis{shape[i], {out.strides[i]}};
    for (std::size_t k = 1; k < operand_count; ++k) axis.step[k] = inputs[k - 1].strides[i];
    outer.push(axis);
  }
  outer.sort_by_step(0);
  outer.merge();
  const Axis<most_operands> cols = outer.pop();
  const Axis<most_operands> rows = outer.pop();

  std::array<Operand, most_operands> operands{};
  operands[0] = {out.data, out.dtype, kernel.output, rows.step[0], cols.step[0]};
  std::int64_t bytes = item_bytes(out.dtype);
  for (std::size_t k = 1; k < operand_count; ++k) {
    const Array& x = inputs[k - 1];
    operands[k] = {x.data, x.dtype, kernel.inputs[k - 1], rows.step[k], cols.step[k]};
    bytes += item_bytes(x.dtype);
  }

  const auto is_out = [&](const Array& x) { return x.data == out.data; };
  const bool streams = count * item_bytes(out.dtype) > streamed_bytes &&
                       std::none_of(inputs.begin(), inputs.end(), is_out);

  const std::int64_t work = count * bytes * kernel.cost;
  const std::int64_t part = work > serial_bytes ? task_elements : count;
  const bool is_turned =
      part < count &&
      std::any_of(operands.begin(), operands.end(), [](const Operand& x) { return x.is_turned(); });
  const std::int64_t col_part =
      std::min(cols.size, is_turned ? std::max(turned_cols, part / rows.size) : part);
  const std::int64_t row_part = std::min(rows.size, part / col_part);
  const std::int64_t col_parts = (cols.size + col_part - 1) / col_part;
  const std::int64_t row_parts = (rows.size + row_part - 1) / row_part;
  parallel_for(outer.iterations() * row_parts * col_parts, work, [&](std::int64_t task) {
    const std::int64_t c = task % col_parts * col_part;
    const std::int64_t r = task / col_parts % row_parts * row_part;
    Offsets<most_operands> offsets{};
    outer.advance(task / (col_parts * row_parts), offsets);
    std::array<Operand, most_operands> here = operands;
    for (std::size_t k = 0; k < operand_count; ++k) {
      here[k].data +=
          (offsets[k] + r * rows.step[k] + c * cols.step[k]) * item_bytes(here[k].dtype);
    }
    Task run(kernel, std::span(here).first(operand_count), parameters, streams);
    run(std::min(row_part, rows.size - r), std::min(col_part, cols.size - c));
  });
}

const ElementwiseKernel* find_unary(UnaryOp op, ComputeType type) {
  using Find = const ElementwiseKernel* (*)(UnaryOp, ComputeType);
  for (const Find find :
       {unary_arithmetic, unary_exponential, unary_trigonometric, unary_special}) {
    if (const ElementwiseKernel* const kernel = find(op, type)) return kernel;
  }
  return nullptr;
}

const ElementwiseKernel* find_binary(BinaryOp op, ComputeType type) {
  using Find = const ElementwiseKernel* (*)(BinaryOp, ComputeType);
  for (const Find find : {binary_arithmetic, compare, power, binary_special}) {
    if (const ElementwiseKernel* const kernel = find(op, type)) return kernel;
  }
  return nullptr;
}

}  // namespace loup::kernels
