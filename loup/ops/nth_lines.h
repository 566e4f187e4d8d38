#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "loup/base/axes.h"
#include "loup/kernels/nth.h"
#include "loup/kernels/reduce.h"
#include "loup/memory/scratch.h"
#include "loup/tensor/tensor.h"

// What order statistics have in common: the lines of a tensor along one dim, each as the keys of
// its elements that count.

namespace loup::ops {

/// The elements of a line that count.
struct LineKeys {
  const kernels::NthKernel& kernel;
  std::byte* keys;
  std::byte* spare;  // as much room as the keys have
  std::int64_t count;
  bool has_nan;

  /// The key at a place of the sorted line.
  std::int64_t at(std::int64_t nth) const { return kernel.select(keys, count, nth, spare); }
  /// The key behind it.
  std::int64_t behind(std::int64_t nth, std::int64_t key) const {
    return nth + 1 < count ? kernel.next(keys, count, nth, key) : key;
  }
};

/// The lines of `x` along `dim`, and how they are walked. Lines are numbered as the elements of a
/// contiguous tensor of the other dims.
class NthLines {
 public:
  /// Elements are converted to `dtype` first. `mask`, if any, has the shape of x and is of bool or
  /// integers.
  NthLines(const Tensor& x, const Tensor* mask, int dim, DType dtype);

  /// Calls `visit(line, keys)` for every line, on several threads.
  using Visit = std::function<void(std::int64_t, const LineKeys&)>;
  void for_each(const Visit& visit) const;

  /// For each line the first position whose element counts and equals that of `values`, contiguous
  /// and of x's dtype; -1 where there is none. The mask, if any, must be of bool, and the dtype
  /// that of x.
  Tensor find_first(const Tensor& values) const;

 private:
  enum Operand : std::size_t { operand_x, operand_mask, operand_line };
  struct Strip;

  void for_each_together(const Visit& visit) const;
  void collect(const Strip& strip, std::byte* keys, std::int64_t line_bytes, LineKeys* found) const;
  template <class Body>
  void for_each_strip(Body&& body) const;

  Array x_;
  Array mask_;  // data null: all elements count
  DType dtype_;
  Axes<3> outer_;
  Axis<3> side_;        // lines that lie side by side
  Axis<3> line_;        // the elements of one
  std::int64_t width_;  // lines of a strip
  bool packs_x_, packs_mask_;
};

/// The same for the one line of `block`, which small_line() found.
template <class Visit>
void visit_small(const kernels::Block& block, DType dtype, const Visit& visit) {
  const kernels::NthKernel& kernel = kernels::nth_kernel(dtype);
  const auto room = static_cast<std::size_t>((block.cols + kernels::key_slack) * kernel.key_bytes);
  const memory::Scratch keys(2 * room);
  LineKeys line{kernel, keys.data(), keys.data() + room, 0, false};
  line.count = kernel.collect(static_cast<const std::byte*>(block.x), block.mask, block.cols,
                              keys.data(), line.has_nan);
  visit(0, line);
}

}  // namespace loup::ops
