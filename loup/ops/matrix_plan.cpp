#include "loup/ops/product_plan.h"

namespace loup::ops {

using kernels::depth_block;
using kernels::LeftBlock;

namespace {

/// A packed block that is used again and again stays in the second-level cache.
constexpr std::int64_t block_bytes = 256 * 1024;
/// What is packed for all tasks at once: at most 32 MB of float32.
constexpr std::int64_t shared_lanes = 4096;
constexpr std::int64_t shared_depth = 8 * depth_block;
/// Enough for a handful of threads to finish together.
constexpr std::int64_t most_tasks = 24;

LeftBlock packed_left(const ProductSize& size, const std::byte* data, std::int64_t depth) {
  const std::int64_t rows = size.kernel.tile_rows;
  return {data, rows * depth, 1, rows};
}
LeftBlock read_left(const ProductSize& size, const ConstPlane& a, Range rows, Range depth) {
  return {shifted(a, rows.first, depth.first).data, size.kernel.tile_rows * a.row, a.row, a.col};
}

}  // namespace

MatrixPlan::MatrixPlan(const ProductSize& size, const ProductOperands& like, bool is_parallel)
    : size_(size),
      split_(size_, size.m >= size.n),
      shared_(size_, size.m < size.n),
      is_parallel_(is_parallel) {
  const std::int64_t panels = ceil_div(split_.lanes(), split_.panel());
  const std::int64_t most = block_bytes / (depth_block * size.item() * split_.panel());
  const std::int64_t wanted =
      is_parallel ? std::clamp<std::int64_t>(size.work() / task_work, 1, most_tasks) : 1;
  block_ = split_.panel() * std::max<std::int64_t>(1, std::min(most, ceil_div(panels, wanted)));
  // Packing pays when an element is used often enough.
  reads_left_ = split_.is_left() && size.n <= 4 * size.kernel.tile_cols &&
                like.a.dtype == size.computed && (like.a.row == 1 || like.a.col == 1);
}

std::int64_t MatrixPlan::shared_bytes() const {
  return shared_.bytes(std::min(shared_.lanes(), shared_lanes), std::min(size_.k, shared_depth));
}

std::int64_t MatrixPlan::own_bytes() const {
  if (reads_left_) return 0;
  return split_.bytes(std::min(split_.lanes(), block_), std::min(size_.k, depth_block));
}

void MatrixPlan::operator()(const ProductOperands& x, std::byte* shared, std::byte* own) const {
  for (std::int64_t i = 0; i < shared_.lanes(); i += shared_lanes) {
    for (std::int64_t q = 0; q < size_.k; q += shared_depth) {
      const Range lanes{i, std::min(shared_lanes, shared_.lanes() - i)};
      const Range depth{q, std::min(shared_depth, size_.k - q)};
      pack_shared(x, lanes, depth, shared);
      for_each(ceil_div(split_.lanes(), block_), is_parallel_, [&](std::int64_t task) {
        const Range part = part_of(split_.lanes(), block_, task);
        if (!is_parallel_) return multiply(x, part, lanes, depth, shared, own);
        const Scratch buffer(static_cast<std::size_t>(own_bytes()));
        multiply(x, part, lanes, depth, shared, buffer.data());
      });
    }
  }
}

void MatrixPlan::pack_shared(const ProductOperands& x, Range lanes, Range depth,
                             std::byte* to) const {
  const std::int64_t group = is_parallel_ ? 8 * shared_.panel() : lanes.count;
  const std::int64_t groups = ceil_div(lanes.count, group);
  for_each(ceil_div(depth.count, depth_block) * groups, is_parallel_, [&](std::int64_t task) {
    const Range part = part_of(lanes.count, group, task % groups);
    const Range layer = part_of(depth.count, depth_block, task / groups);
    shared_.pack(
        x, {lanes.first + part.first, part.count}, {depth.first + layer.first, layer.count},
        to + shared_.bytes(lanes.count, layer.first) + shared_.bytes(part.first, layer.count));
  });
}

void MatrixPlan::multiply(const ProductOperands& x, Range part, Range lanes, Range depth,
                          const std::byte* shared, std::byte* own) const {
  const Range rows = split_.is_left() ? part : lanes;
  const Range cols = split_.is_left() ? lanes : part;
  std::byte* const c = x.c + (rows.first * size_.n + cols.first) * size_.item();
  for (std::int64_t q = 0; q < depth.count; q += depth_block) {
    const Range here{depth.first + q, std::min(depth_block, depth.count - q)};
    if (!reads_left_) split_.pack(x, part, here, own);
    const std::byte* const layer = shared + shared_.bytes(lanes.count, q);
    const LeftBlock left = reads_left_
                               ? read_left(size_, x.a, rows, here)
                               : packed_left(size_, split_.is_left() ? own : layer, here.count);
    size_.kernel.multiply(left, split_.is_left() ? layer : own, rows.count, here.count, cols.count,
                          c, size_.n, here.first > 0);
  }
}

}  // namespace loup::ops
