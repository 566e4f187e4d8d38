#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "loup/base/axes.h"
#include "loup/kernels/reduce.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// Rounded up to whole cache lines.
constexpr std::size_t aligned_bytes(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The operands as indices of Axis::step.
enum LineOperand : std::size_t { line_x, line_mask, line_out };

/// How lines are walked. It depends on shapes and strides only, never on the number of threads.
///
/// Results are contiguous, so their last dim decides: where it belongs to the lines they are rows
/// of blocks, otherwise they are columns. So are very short lines, which are turned.
struct LinePlan {
  bool is_along;              // lines are rows
  Axis<3> rows, cols;         // one of them is what lines are made of, the other is kept
  Axes<3> outer, outer_line;  // kept; and of lines that are no single run
  std::int64_t line() const { return is_along ? cols.size : rows.size; }
  std::int64_t kept() const { return is_along ? rows.size : cols.size; }
};

/// A plan for lines along `dims` (as bits), of which those of less than `shortest` elements are no
/// rows. `mask` is broadcast to x's shape, or null. No size may be 0.
LOUP_EXPORT LinePlan make_line_plan(const Layout& x, const Layout* mask, std::uint32_t dims,
                                    std::int64_t shortest = 0);

/// The operands of a call. `mask` has the shape of x.
struct LineOperands {
  const Tensor& x;
  const Tensor* mask;
  DType cast;  // what x is converted to first
  const Tensor& out;
  const Tensor* given = nullptr;  // for LineBlock::given: of the layout and dtype of `out`
};

/// Reads blocks of a plan's operands, converting and gathering what kernels cannot read as it is.
class LOUP_EXPORT LineReader {
 public:
  LineReader(const LinePlan& plan, const LineOperands& operands, DType type);

  /// Whether x has to be packed, and its columns lie further apart than its rows.
  bool is_turned() const { return is_turned_; }
  bool packs() const { return packs_x_ || packs_mask_; }
  bool packs_out() const { return packs_out_; }
  /// Scratch bytes for blocks of so many elements.
  std::size_t scratch_bytes(std::int64_t elements) const;
  /// The block at `at`; x and mask lie in `scratch` where they were packed.
  kernels::Block read(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                      std::byte* scratch) const;
  /// Where results go: the output itself, or `packed` until they are written by write_out().
  std::byte* out_at(const Offsets<3>& at) const;
  void write_out(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                 const std::byte* packed) const;
  std::int64_t out_row() const { return plan_.rows.step[line_out]; }
  /// What was given beside x, or null; it lies in `packed` where results do.
  const std::byte* read_given(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                              std::byte* packed) const;
  bool packs_given() const { return given_ != nullptr && packs_out(); }

 private:
  const LinePlan& plan_;
  const std::byte* x_;
  const std::byte* mask_;
  std::byte* out_;
  const std::byte* given_;
  DType x_type_, mask_type_, out_type_;
  DType cast_;  // what elements are converted to first
  DType type_;  // what the kernel reads and writes
  bool packs_x_, packs_mask_, packs_out_, is_turned_;
};

/// All of x as the only row of a block, where it is small and a kernel of `type` reads elements and
/// mask (of the shape of x, or null) where they lie: a plan would take longer than the kernel does.
std::optional<kernels::Block> small_row(const Tensor& x, const Tensor* mask, DType type);
/// The same for operands of which all are one line along `dims` (as bits), and are written where
/// they belong.
std::optional<kernels::Block> small_line(const LineOperands& operands, std::uint32_t dims,
                                         DType type);

}  // namespace loup::ops
