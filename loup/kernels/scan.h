#pragma once

#include <cstdint>

#include "loup/kernels/lines.h"

namespace loup::kernels {

enum class ScanOp : std::uint8_t { sum, product };

/// A running value: a double of float kernels, an int64 of integer ones.
union Carry {
  double real;
  std::int64_t integer;
};

/// Running sums or products along lines, made of one compute type. What does not count leaves the
/// running value as it is.
///
/// A line is a sequence of parts. `offsets` are the values that the lines of a block had before
/// this part, null when it is the first; `carries` those within the part so far, which are brought
/// up to date. Both have one entry for each line.
struct ScanKernel {
  DType type;  // of the elements read and written: floating or i64
  Carry identity;
  /// Lines are rows, or columns. With `reversed`, lines run from their last element to the first.
  void (*rows)(const LineBlock& block, const Carry* offsets, Carry* carries, bool reversed);
  void (*columns)(const LineBlock& block, const Carry* offsets, Carry* carries, bool reversed);
  /// The same without writing results.
  void (*total_rows)(const LineBlock& block, Carry* carries, bool reversed);
  void (*total_columns)(const LineBlock& block, Carry* carries, bool reversed);
  Carry (*combine)(Carry a, Carry b);
};

/// Integers of all sizes are read as i64.
LOUP_EXPORT const ScanKernel& scan_kernel(ScanOp op, DType type);

// One source each, because each takes some seconds to compile.
const ScanKernel& scan_f32(ScanOp op);
const ScanKernel& scan_f64(ScanOp op);
const ScanKernel& scan_half(ScanOp op, DType type);

}  // namespace loup::kernels
