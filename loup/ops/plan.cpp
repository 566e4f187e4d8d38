#include "loup/ops/plan.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace loup::ops {

namespace {

// Elements of a block that stays in the second-level cache.
constexpr std::int64_t block_elements = 32 * 1024;
// A row longer than this is cut, so that one long row can be shared among threads.
constexpr std::int64_t longest_row = 64 * 1024;
// States of columns reduced side by side: they stay in the first-level cache.
constexpr std::int64_t strip_state_bytes = 32 * 1024;
// Rows folded into a strip before its states are merged with those of the next part.
constexpr std::int64_t strip_elements = 512 * 1024;
constexpr std::int64_t fewest_strip_rows = 64;
// A mask whose rows lie closer together than its columns is read in whole lines by this many rows.
constexpr std::int64_t cache_line = 64;
// Kept rows below this number are too few to fill a block.
constexpr std::int64_t few_rows = 8;
// Enough tasks for the threads of a large machine; beyond, parts would only cost memory.
constexpr std::int64_t wanted_tasks = 256;

// Divisions are most of the cost of planning a small reduction: most of them have a result of one.
std::int64_t quick_ceil_div(std::int64_t a, std::int64_t b) { return a <= b ? 1 : (a + b - 1) / b; }

std::int64_t distance(const PlanAxis& axis, PlanOperand operand) {
  const std::int64_t step = std::abs(axis.step[operand]);
  return step == 0 ? INT64_MAX : step;
}

/// Takes rows and columns from the innermost axes.
void choose_walk(ReducePlan& plan) {
  const PlanAxis kept = plan.outer_kept.innermost();
  const PlanAxis reduced = plan.outer_reduced.innermost();
  const bool is_along =
      plan.outer_kept.empty() ||
      (!plan.outer_reduced.empty() && distance(reduced, operand_x) <= distance(kept, operand_x));
  if (!is_along) {
    plan.walk = ReducePlan::Walk::across;
    plan.cols = plan.outer_kept.pop();
    plan.rows = plan.outer_reduced.pop();
    return;
  }
  plan.cols = plan.outer_reduced.pop();
  if (kept.size < few_rows && plan.outer_reduced.innermost().size > kept.size) {
    plan.walk = ReducePlan::Walk::fold;
    plan.rows = plan.outer_reduced.pop();
  } else {
    plan.walk = ReducePlan::Walk::along;
    plan.rows = plan.outer_kept.pop();
  }
}

}  // namespace

ReducePlan make_plan(const Layout& x, const Layout* mask, const Strides& out, std::uint32_t reduced,
                     std::int64_t state_bytes, bool has_index, const Layout* weight) {
  ReducePlan plan;
  const auto is_reduced = [&](int i) { return (reduced >> static_cast<unsigned>(i) & 1U) != 0; };
  std::int64_t count = has_index ? 1 : 0;  // of reduced elements that share an index so far
  for (int i = 0; i < x.shape.size(); ++i) {
    if (is_reduced(i)) count *= x.shape[i];
  }
  for (int i = 0; i < x.shape.size(); ++i) {
    const std::int64_t mask_step = mask != nullptr ? mask->strides[i] : 0;
    std::int64_t last_step = weight != nullptr ? weight->strides[i] : 0;
    if (is_reduced(i)) {
      count /= x.shape[i];
      if (has_index) last_step = count;
      plan.outer_reduced.push({x.shape[i], {x.strides[i], mask_step, 0, last_step}});
    } else {
      plan.outer_kept.push({x.shape[i], {x.strides[i], mask_step, out[i], last_step}});
    }
  }
  plan.outer_kept.sort_by_step(operand_x);
  plan.outer_kept.merge();
  plan.outer_reduced.sort_by_step(operand_x);
  plan.outer_reduced.merge();
  choose_walk(plan);

  std::int64_t part_steps_at_least = 1;
  if (plan.walk == ReducePlan::Walk::across) {
    plan.block_cols = std::min(plan.cols.size, strip_state_bytes / state_bytes);
    const std::int64_t strip_rows = quick_ceil_div(strip_elements, plan.block_cols) / 8 * 8;
    plan.block_rows = std::min(plan.rows.size, std::max(fewest_strip_rows, strip_rows));
  } else {
    plan.block_cols = std::min(plan.cols.size, longest_row);
    const bool is_turned = distance(plan.rows, operand_mask) < distance(plan.cols, operand_mask);
    const std::int64_t fewest_rows = is_turned ? cache_line : 1;
    plan.block_rows = std::min(
        plan.rows.size, std::max(fewest_rows, quick_ceil_div(block_elements, plan.block_cols)));
    const bool is_fold = plan.walk == ReducePlan::Walk::fold;
    part_steps_at_least =
        quick_ceil_div(longest_row, plan.block_cols * (is_fold ? plan.block_rows : 1));
  }
  plan.row_blocks = quick_ceil_div(plan.rows.size, plan.block_rows);
  plan.col_blocks = quick_ceil_div(plan.cols.size, plan.block_cols);

  plan.tiles = plan.outer_kept.iterations();
  plan.steps = plan.outer_reduced.iterations();
  (plan.walk == ReducePlan::Walk::along ? plan.tiles : plan.steps) *= plan.row_blocks;
  (plan.walk == ReducePlan::Walk::across ? plan.tiles : plan.steps) *= plan.col_blocks;
  plan.part_steps = plan.steps;
  if (plan.steps > part_steps_at_least) {
    // States of rows are few beside their elements, so the parts of a row need not depend on how
    // many rows there are; those of columns would be many.
    const bool is_across = plan.walk == ReducePlan::Walk::across;
    const std::int64_t most_parts =
        std::max<std::int64_t>(1, is_across ? wanted_tasks / plan.tiles : wanted_tasks);
    plan.part_steps = std::max(part_steps_at_least, quick_ceil_div(plan.steps, most_parts));
  }
  plan.parts = quick_ceil_div(plan.steps, plan.part_steps);
  return plan;
}

namespace {

void move_along(const PlanAxis& axis, std::int64_t by, PlanOffsets& offsets) {
  for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += by * axis.step[k];
}

/// Enters block number `index` of `axis`, and says how long it is.
std::int64_t enter_block(const PlanAxis& axis, std::int64_t length, std::int64_t index,
                         PlanOffsets& offsets) {
  move_along(axis, index * length, offsets);
  return std::min(length, axis.size - index * length);
}

/// Takes the last digit off a number whose digits run to `base`.
std::int64_t take_digit(std::int64_t& number, std::int64_t base) {
  if (base == 1) return 0;
  const std::int64_t rest = number / base;
  return std::exchange(number, rest) - rest * base;
}

}  // namespace

BlockRange tile_range(const ReducePlan& plan, std::int64_t tile) {
  BlockRange range{{}, 1, 1};
  if (plan.walk == ReducePlan::Walk::along) {
    const std::int64_t block = take_digit(tile, plan.row_blocks);
    range.rows = enter_block(plan.rows, plan.block_rows, block, range.offsets);
  } else if (plan.walk == ReducePlan::Walk::across) {
    const std::int64_t block = take_digit(tile, plan.col_blocks);
    range.cols = enter_block(plan.cols, plan.block_cols, block, range.offsets);
  }
  plan.outer_kept.advance(tile, range.offsets);
  return range;
}

BlockRange block_range(const ReducePlan& plan, const BlockRange& tile, std::int64_t step) {
  BlockRange range = tile;
  if (plan.walk != ReducePlan::Walk::across) {
    const std::int64_t block = take_digit(step, plan.col_blocks);
    range.cols = enter_block(plan.cols, plan.block_cols, block, range.offsets);
  }
  if (plan.walk != ReducePlan::Walk::along) {
    const std::int64_t block = take_digit(step, plan.row_blocks);
    range.rows = enter_block(plan.rows, plan.block_rows, block, range.offsets);
  }
  plan.outer_reduced.advance(step, range.offsets);
  return range;
}

}  // namespace loup::ops
