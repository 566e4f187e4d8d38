#include <cstdlib>

#include "loup/base/array.h"
#include "loup/kernels/copy.h"
#include "loup/ops/product_plan.h"

namespace loup::ops {

using kernels::depth_block;

namespace {

/// Vectors are multiplied in parts of this length, and the results are added.
constexpr std::int64_t vector_part = 16 * depth_block;
/// How many elements of the matrix a task reads.
constexpr std::int64_t vector_task = 64 * 1024;

/// Whether the kernel can read a vector where it lies.
bool can_read(const ProductSize& size, DType dtype, std::int64_t step) {
  return dtype == size.computed && (step == 1 || size.k == 1);
}

}  // namespace

bool is_row_major(const ConstPlane& x) { return std::abs(x.col) <= std::abs(x.row); }

VectorPlan::VectorPlan(const ProductSize& size, const ProductOperands& like, bool is_parallel)
    : size_(size),
      is_parallel_(is_parallel),
      lanes_(size.n == 1 ? size.m : size.n),
      is_along_(lanes_ == 1 || is_row_major(size.n == 1 ? like.a : like.b) == (size.n == 1)),
      reads_vector_(can_read(size, size.n == 1 ? like.b.dtype : like.a.dtype,
                             size.n == 1 ? like.b.row : like.a.col)),
      parts_(ceil_div(size.k, vector_part)),
      group_(ceil_div(vector_task / std::min(size.k, vector_part), 64) * 64) {}

std::int64_t VectorPlan::bytes() const {
  return vector_bytes() + (parts_ > 1 ? parts_ * lanes_ * size_.item() : 0);
}

std::int64_t VectorPlan::vector_bytes() const {
  return reads_vector_ ? 0 : ceil_div(size_.k * size_.item(), 64) * 64;
}

void VectorPlan::operator()(const ProductOperands& x, std::byte* buffer) const {
  const bool is_left = size_.n == 1;  // the matrix is a
  const ConstPlane matrix = is_left ? x.a : ConstPlane{x.b.data, x.b.dtype, x.b.col, x.b.row};
  const ConstPlane vector = is_left ? ConstPlane{x.b.data, x.b.dtype, 0, x.b.row} : x.a;
  const std::int64_t item = size_.item();
  std::byte* const sums = parts_ > 1 ? buffer + vector_bytes() : x.c;
  if (!reads_vector_) {
    kernels::copy_plane({buffer, size_.computed, 0, 1}, vector, 1, size_.k);
  }
  const std::byte* const factors = reads_vector_ ? vector.data : buffer;
  const std::int64_t groups = ceil_div(lanes_, group_);
  const std::int64_t elements = std::min(lanes_, group_) * std::min(size_.k, vector_part);
  const std::int64_t parts_at_once = std::max<std::int64_t>(1, vector_task / elements);
  for_each(groups * ceil_div(parts_, parts_at_once), is_parallel_, [&](std::int64_t task) {
    const Range lanes = part_of(lanes_, group_, task % groups);
    const Range parts = part_of(parts_, parts_at_once, task / groups);
    for (std::int64_t part = parts.first; part < parts.first + parts.count; ++part) {
      const Range depth = part_of(size_.k, vector_part, part);
      multiply(shifted(matrix, lanes.first, depth.first), lanes.count, depth.count,
               factors + depth.first * item, sums + (part * lanes_ + lanes.first) * item);
    }
  });
  for (std::int64_t part = 0; parts_ > 1 && part < parts_; ++part) {
    const Array c{x.c, size_.computed, {1}};
    const Array sum{sums + part * lanes_ * item, size_.computed, {1}};
    if (part == 0) {
      kernels::copy({lanes_}, c, sum);
    } else {
      kernels::add({lanes_}, c, c, sum);
    }
  }
}

/// Elements come from `matrix`, of which rows are lanes.
void VectorPlan::multiply(const ConstPlane& matrix, std::int64_t lanes, std::int64_t depth,
                          const std::byte* x, std::byte* out) const {
  const bool is_contiguous = is_along_ ? matrix.col == 1 || depth == 1 : matrix.row == 1;
  if (matrix.dtype == size_.computed && is_contiguous) {
    run(matrix.data, is_along_ ? matrix.row : matrix.col, lanes, depth, x, out, false);
  } else {
    multiply_converted(matrix, lanes, depth, x, out);
  }
}

void VectorPlan::run(const std::byte* block, std::int64_t step, std::int64_t lanes,
                     std::int64_t depth, const std::byte* x, std::byte* out, bool adds) const {
  if (is_along_) {
    size_.kernel.rows_times_vector(block, step, lanes, depth, x, out, adds);
  } else {
    size_.kernel.vector_times_columns(x, block, step, depth, lanes, out, adds);
  }
}

/// Converts pieces that stay in the first-level cache.
void VectorPlan::multiply_converted(const ConstPlane& matrix, std::int64_t lanes,
                                    std::int64_t depth, const std::byte* x, std::byte* out) const {
  alignas(64) std::byte piece[vector_part * 8];
  const std::int64_t depths = is_along_ ? depth : std::min(depth, depth_block);
  const std::int64_t height = vector_part / depths;
  for (std::int64_t i = 0; i < lanes; i += height) {
    const std::int64_t here = std::min(height, lanes - i);
    for (std::int64_t q = 0; q < depth; q += depths) {
      const std::int64_t count = std::min(depths, depth - q);
      const ConstPlane from = shifted(matrix, i, q);
      if (is_along_) {
        kernels::copy_plane({piece, size_.computed, count, 1}, from, here, count);
      } else {
        kernels::copy_plane({piece, size_.computed, here, 1},
                            {from.data, from.dtype, from.col, from.row}, count, here);
      }
      run(piece, is_along_ ? count : here, here, count, x + q * size_.item(),
          out + i * size_.item(), q > 0);
    }
  }
}

}  // namespace loup::ops
