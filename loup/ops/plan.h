#pragma once

#include <cstdint>

#include "loup/base/axes.h"
#include "loup/tensor/layout.h"

namespace loup::ops {

/// What a reduction steps through, as indices of Axis::step. The last is a number, not memory: by
/// which users know an element among those that are reduced into one, counted row-major. Sums under
/// weights have these in its place.
enum PlanOperand : std::size_t {
  operand_x,
  operand_mask,
  operand_out,
  operand_index,
  operand_weight = operand_index
};
using PlanAxis = Axis<4>;
using PlanAxes = Axes<4>;
using PlanOffsets = Offsets<4>;

/// How a reduction walks its input. It depends on shapes and strides only, never on the number of
/// threads: that is why results do not either.
///
/// Every output belongs to one tile; a tile is computed from one or more parts of what is reduced,
/// whose states are merged in order. A part is a run of steps, and each step is one block.
struct ReducePlan {
  enum class Walk : std::uint8_t {
    along,   // columns are reduced, rows are kept
    across,  // rows are reduced, columns are kept
    fold     // both are reduced, into one state: many short rows without a kept dim beside them
  };
  Walk walk;
  PlanAxis rows, cols;
  PlanAxes outer_kept, outer_reduced;

  std::int64_t block_rows, block_cols;  // at most, in one block
  std::int64_t row_blocks, col_blocks;

  std::int64_t tiles;
  std::int64_t steps;  // of one tile
  std::int64_t parts;  // of one tile
  std::int64_t part_steps;
};

/// Where a block starts and how large it is.
struct BlockRange {
  PlanOffsets offsets;
  std::int64_t rows, cols;
};

/// A plan for reducing the dims `reduced` (as bits) of `x`. `mask` is broadcast to x's shape, or
/// null; `out` holds the strides of the output for every dim of x (ignored where reduced); a state
/// of the reduction has `state_bytes`. Only with `has_index` do indices step; `weight`, which is of
/// x's shape, excludes it. No size may be 0.
LOUP_EXPORT ReducePlan make_plan(const Layout& x, const Layout* mask, const Strides& out,
                                 std::uint32_t reduced, std::int64_t state_bytes = 8,
                                 bool has_index = false, const Layout* weight = nullptr);

/// Where a tile starts in every operand, and its outputs: rows of an along walk, cols of an across
/// walk.
LOUP_EXPORT BlockRange tile_range(const ReducePlan& plan, std::int64_t tile);

/// The block of one step in a tile.
LOUP_EXPORT BlockRange block_range(const ReducePlan& plan, const BlockRange& tile,
                                   std::int64_t step);

}  // namespace loup::ops
