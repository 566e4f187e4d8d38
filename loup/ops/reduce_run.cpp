#include "loup/ops/reduce_run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <type_traits>

#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/elementwise.h"
#include "loup/memory/scratch.h"
#include "loup/ops/line_plan.h"
#include "loup/ops/plan.h"

namespace loup::ops {

namespace {

using kernels::Block;
using kernels::ReduceOp;
using kernels::Reducer;
using kernels::States;
using memory::Scratch;
using Walk = ReducePlan::Walk;

/// Elements converted at a time, so that they are still in the first-level cache when they are
/// reduced.
constexpr std::int64_t packed_elements = 4 * 1024;

/// The same where weights lie beside them. Products are made of rows at least this long one by one.
constexpr std::int64_t weighted_elements = 2 * 1024;
constexpr std::int64_t multiplied_row = 32;

/// Operands of more bytes come from memory, whatever was read before.
constexpr std::int64_t cached_bytes = std::int64_t{16} * 1024 * 1024;

/// Where an operand starts. Its strides are in the plan.
struct Elements {
  std::byte* data;
  DType dtype;
};

/// Raises numbers to a power in place. Whole powers are products; they are most of those in use.
void raise(double* x, std::int64_t count, double power) {
  const bool is_whole = power == std::floor(power) && std::abs(power) <= 64;
  for (std::int64_t i = 0; i < count; ++i) {
    const double base = std::abs(x[i]);
    x[i] = is_whole ? __builtin_powi(base, static_cast<int>(power)) : std::pow(base, power);
  }
}

bool is_extreme(ReduceOp op) {
  switch (op) {
    case ReduceOp::amax:
    case ReduceOp::amin:
    case ReduceOp::minmax:
    case ReduceOp::argmax:
    case ReduceOp::argmin: return true;
    default: return false;
  }
}

/// Brings int32 into the range of the integers or bools that they were.
void clamp_to(DType dtype, std::byte* data, std::int64_t count) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
      constexpr std::int32_t least = std::numeric_limits<T>::min();
      constexpr std::int32_t most = std::numeric_limits<T>::max();
      auto* const values = reinterpret_cast<std::int32_t*>(data);
      for (std::int64_t i = 0; i < count; ++i) values[i] = std::clamp(values[i], least, most);
    }
  });
}

/// Whether elements are replaced by powers of theirs.
bool raises(const ReduceTask& task) { return task.op == ReduceOp::norm_1 && task.parameter != 1; }

/// One reduction under way: operands, plan and kernel.
class ReduceRun {
 public:
  /// Writes to `first` the kernel's first result, to `second` the other; either may be null. Under
  /// weights that other is the same reduction of the weights.
  ReduceRun(const ReducePlan& plan, const ReduceTask& task, const Tensor* first,
            const Tensor* second, std::int64_t bytes)
      : plan_(plan),
        bytes_(bytes),
        raises_(raises(task)),
        computed_(raises_ ? DType::f64 : storage_type(compute_type(task.cast))),
        packs_x_(raises_ || task.weight != nullptr || !reads_in_place(plan, task)),
        reducer_(*kernels::find_reducer(task.op, packs_x_ ? computed_ : task.cast)),
        parameter_(task.parameter),
        x_{task.x.raw_data(), task.x.dtype()},
        mask_(task.mask != nullptr ? Elements{task.mask->raw_data(), task.mask->dtype()}
                                   : Elements{nullptr, DType::boolean}),
        first_(first != nullptr ? Elements{first->raw_data(), first->dtype()} : Elements{}),
        second_(second != nullptr ? Elements{second->raw_data(), second->dtype()} : Elements{}),
        weight_(task.weight != nullptr ? Elements{task.weight->raw_data(), task.weight->dtype()}
                                       : Elements{}),
        cast_(task.cast),
        clamps_(is_extreme(task.op) && task.cast != DType::i32) {
    const std::int64_t mask_col = plan.cols.step[operand_mask];
    const Tensor* const mask = task.mask;
    packs_mask_ = mask != nullptr && (item_bytes(mask->dtype()) != 1 ||
                                      (mask_col != 0 && mask_col != 1 && plan.cols.size > 1));
  }

  void operator()() {
    if (plan_.parts == 1) {
      parallel_for(plan_.tiles, bytes_, [this](std::int64_t tile) {
        const BlockRange range = tile_range(plan_, tile);
        const Scratch states(state_bytes(range));
        reduce_part(range, 0, states.data());
        finish(range, states.data());
      });
      return;
    }
    const std::size_t most = reducer_.state_bytes * static_cast<std::size_t>(most_states());
    const std::size_t stride = (most + 63) / 64 * 64;  // no two parts write to one cache line
    const Scratch all(stride * static_cast<std::size_t>(plan_.tiles * plan_.parts));
    const auto states_of = [&](std::int64_t tile, std::int64_t part) {
      return all.data() + stride * static_cast<std::size_t>(tile * plan_.parts + part);
    };
    parallel_for(plan_.tiles * plan_.parts, bytes_, [&](std::int64_t task) {
      const std::int64_t tile = task / plan_.parts;
      const std::int64_t part = task % plan_.parts;
      reduce_part(tile_range(plan_, tile), part, states_of(tile, part));
    });
    merge_parts(states_of, static_cast<std::int64_t>(stride));
    parallel_for(plan_.tiles, plan_.tiles * static_cast<std::int64_t>(stride),
                 [&](std::int64_t tile) { finish(tile_range(plan_, tile), states_of(tile, 0)); });
  }

 private:
  /// True when the kernel can read the elements where and as they are.
  static bool reads_in_place(const ReducePlan& plan, const ReduceTask& task) {
    return task.x.dtype() == task.cast && (plan.cols.step[operand_x] == 1 || plan.cols.size == 1) &&
           kernels::find_reducer(task.op, task.cast) != nullptr;
  }

  std::int64_t outputs(const BlockRange& range) const {
    return plan_.walk == Walk::across ? range.cols : range.rows;
  }
  bool is_weighted() const { return weight_.data != nullptr; }
  /// Those of weights follow those of the products.
  std::int64_t with_weights(std::int64_t states) const {
    return is_weighted() ? 2 * states : states;
  }
  std::int64_t state_count(const BlockRange& range) const { return with_weights(outputs(range)); }
  std::int64_t most_states() const {
    if (plan_.walk == Walk::fold) return with_weights(1);
    return with_weights(plan_.walk == Walk::across ? plan_.block_cols : plan_.block_rows);
  }
  std::size_t state_bytes(const BlockRange& range) const {
    return reducer_.state_bytes * static_cast<std::size_t>(state_count(range));
  }

  void reduce_part(const BlockRange& tile, std::int64_t part, std::byte* states) const {
    reducer_.init(states, state_count(tile));
    const std::int64_t first = part * plan_.part_steps;
    const std::int64_t last = std::min(plan_.steps, first + plan_.part_steps);
    for (std::int64_t step = first; step < last; ++step) {
      if (step != first) check_interrupt();
      const BlockRange range = block_range(plan_, tile, step);
      if (packs_x_ || packs_mask_) {
        reduce_packed(range, {states, state_count(tile), 0});
      } else {
        reduce_block(block_at(range.offsets, range.rows, range.cols), {states, outputs(tile), 0});
      }
    }
  }

  void reduce_block(const Block& block, const States& states) const {
    if (plan_.walk == Walk::across) {
      reducer_.across(states, block);
    } else {
      reducer_.along(states, plan_.walk == Walk::fold, block);
    }
  }

  /// The elements as they are.
  Block block_at(const PlanOffsets& at, std::int64_t rows, std::int64_t cols) const {
    const auto& row = plan_.rows.step;
    const auto& col = plan_.cols.step;
    return {x_at(at),
            row[operand_x],
            mask_at(at),
            row[operand_mask],
            col[operand_mask],
            rows,
            cols,
            at[operand_index],
            row[operand_index],
            col[operand_index],
            bytes_ > cached_bytes};
  }
  const std::byte* x_at(const PlanOffsets& offsets) const {
    return x_.data + offsets[operand_x] * item_bytes(x_.dtype);
  }
  const std::uint8_t* mask_at(const PlanOffsets& offsets) const {
    if (mask_.data == nullptr) return nullptr;
    return reinterpret_cast<const std::uint8_t*>(mask_.data +
                                                 offsets[operand_mask] * item_bytes(mask_.dtype));
  }

  /// Merges the states of each tile's parts in order: neighbours, then neighbours of those, so that
  /// threads share what one tile leaves to do.
  template <class StatesOf>
  void merge_parts(const StatesOf& states_of, std::int64_t bytes) const {
    for (std::int64_t apart = 1; apart < plan_.parts; apart *= 2) {
      const std::int64_t pairs = (plan_.parts + apart - 1) / (2 * apart);
      const std::int64_t merges = plan_.tiles * pairs;
      parallel_for(merges, 2 * merges * bytes, [&](std::int64_t task) {
        const std::int64_t tile = task / pairs;
        const std::int64_t part = task % pairs * 2 * apart;
        reducer_.merge(states_of(tile, part), states_of(tile, part + apart),
                       state_count(tile_range(plan_, tile)));
      });
    }
  }

  /// Copies a block piece by piece into contiguous memory of the compute type.
  void reduce_packed(const BlockRange& range, const States& states) const;

  /// The elements of a plane as rows of the compute type: where they lie, or packed into `room`.
  kernels::ConstPlane as_rows(const kernels::ConstPlane& from, std::byte* room, std::int64_t rows,
                              std::int64_t cols) const {
    if (from.dtype == computed_ && from.col == 1 && cols >= multiplied_row) return from;
    kernels::copy_plane({room, computed_, cols, 1}, from, rows, cols);
    return {room, computed_, cols, 1};
  }
  /// Elements times weights, into contiguous memory; `x` may lie there already.
  void multiply(const kernels::ConstPlane& x, const kernels::ConstPlane& weights, std::byte* to,
                std::int64_t rows, std::int64_t cols) const {
    const auto& kernel = *kernels::find_binary(kernels::BinaryOp::mul, compute_type(computed_));
    const bool is_flat = x.row == cols && weights.row == cols;
    const std::int64_t calls = is_flat ? 1 : rows;
    const std::int64_t count = is_flat ? rows * cols : cols;
    for (std::int64_t r = 0; r < calls; ++r) {
      const std::int64_t item = item_bytes(computed_);
      const void* const inputs[] = {x.data + r * x.row * item,
                                    weights.data + r * weights.row * item};
      kernel.run(inputs, to + r * cols * item, count, nullptr);
    }
  }

  void finish(const BlockRange& range, const std::byte* states) const {
    if (is_weighted()) return finish_weighted(range, states);
    if (first_.data != nullptr) {
      finish_as(range, states, first_, reducer_.result, reducer_.finish);
    }
    if (second_.data != nullptr) {
      finish_as(range, states, second_, reducer_.second, reducer_.finish_second);
    }
  }
  void finish_as(const BlockRange& range, const std::byte* states, const Elements& out, DType type,
                 decltype(Reducer::finish) write) const {
    const std::int64_t count = outputs(range);
    std::byte* const to = out.data + range.offsets[operand_out] * item_bytes(out.dtype);
    const std::int64_t step =
        plan_.walk == Walk::across ? plan_.cols.step[operand_out] : plan_.rows.step[operand_out];
    if (out.dtype == type && (step == 1 || count == 1)) {
      write(states, to, count, parameter_);
      return;
    }
    const Scratch results(static_cast<std::size_t>(count * item_bytes(type)));
    write(states, results.data(), count, parameter_);
    if (clamps_ && type == DType::i32) clamp_to(cast_, results.data(), count);
    kernels::copy_plane({to, out.dtype, 0, step}, {results.data(), type, 0, 1}, 1, count);
  }
  void finish_weighted(const BlockRange& range, const std::byte* states) const {
    const std::int64_t count = outputs(range);
    const std::int64_t step =
        plan_.walk == Walk::across ? plan_.cols.step[operand_out] : plan_.rows.step[operand_out];
    const std::int64_t item = item_bytes(reducer_.result);
    const Scratch results(static_cast<std::size_t>(2 * count * item));
    reducer_.finish(states, results.data(), 2 * count, parameter_);
    const std::byte* from = results.data();
    for (const Elements& out : {first_, second_}) {
      std::byte* const to = out.data + range.offsets[operand_out] * item_bytes(out.dtype);
      kernels::copy_plane({to, out.dtype, 0, step}, {from, reducer_.result, 0, 1}, 1, count);
      from += count * item;
    }
  }

  const ReducePlan& plan_;
  std::int64_t bytes_;  // of all operands
  bool raises_;         // elements are replaced by powers of theirs
  DType computed_;      // what they are reduced as
  bool packs_x_, packs_mask_;
  const Reducer& reducer_;
  double parameter_;
  Elements x_, mask_, first_, second_, weight_;
  DType cast_;   // what elements are converted to first
  bool clamps_;  // the result of nothing is that of the narrower dtype
};

void ReduceRun::reduce_packed(const BlockRange& range, const States& states) const {
  const auto& row = plan_.rows.step;
  const auto& col = plan_.cols.step;
  // Where rows lie closer together than columns, narrow pieces read whole cache lines.
  const bool is_turned =
      range.rows > 1 &&
      ((packs_x_ && std::abs(row[operand_x]) < std::abs(col[operand_x])) ||
       (packs_mask_ && std::abs(row[operand_mask]) < std::abs(col[operand_mask])) ||
       (is_weighted() && row[operand_weight] != 0 &&
        std::abs(row[operand_weight]) < std::abs(col[operand_weight])));
  const std::int64_t most = is_weighted() ? weighted_elements : packed_elements;
  const std::int64_t most_cols = is_turned ? 64 : plan_.walk == Walk::across ? most / 8 : most;
  const std::int64_t piece_cols = std::min(range.cols, most_cols);
  const std::int64_t piece_rows = std::min(range.rows, most / piece_cols);
  const auto elements = static_cast<std::size_t>(piece_cols * piece_rows);
  const bool converts_twice = packs_x_ && cast_ != computed_ && x_.dtype != cast_;
  const Scratch cast(converts_twice ? elements * 8 : 0);
  const Scratch packed(packs_x_ ? elements * 8 : 0);
  const Scratch packed_weights(is_weighted() ? elements * 8 : 0);
  const Scratch bytes(packs_mask_ ? elements : 0);

  for (std::int64_t r = 0; r < range.rows; r += piece_rows) {
    const std::int64_t rows = std::min(piece_rows, range.rows - r);
    for (std::int64_t c = 0; c < range.cols; c += piece_cols) {
      const std::int64_t cols = std::min(piece_cols, range.cols - c);
      PlanOffsets at = range.offsets;
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += r * row[k] + c * col[k];
      Block block = block_at(at, rows, cols);
      kernels::ConstPlane weights{};
      if (packs_x_) {
        kernels::ConstPlane from{x_at(at), x_.dtype, row[operand_x], col[operand_x]};
        if (converts_twice) {
          kernels::copy_plane({cast.data(), cast_, cols, 1}, from, rows, cols);
          from = {cast.data(), cast_, cols, 1};
        }
        if (is_weighted()) {
          weights = as_rows({weight_.data + at[operand_weight] * item_bytes(weight_.dtype),
                             weight_.dtype, row[operand_weight], col[operand_weight]},
                            packed_weights.data(), rows, cols);
          multiply(as_rows(from, packed.data(), rows, cols), weights, packed.data(), rows, cols);
        } else {
          kernels::copy_plane({packed.data(), computed_, cols, 1}, from, rows, cols);
        }
        if (raises_) raise(reinterpret_cast<double*>(packed.data()), rows * cols, parameter_);
        block.x = packed.data();
        block.x_row = cols;
        block.is_far = false;
      }
      if (packs_mask_) {
        kernels::copy_plane({bytes.data(), DType::boolean, cols, 1},
                            {reinterpret_cast<const std::byte*>(mask_at(at)), mask_.dtype,
                             row[operand_mask], col[operand_mask]},
                            rows, cols);
        block.mask = reinterpret_cast<const std::uint8_t*>(bytes.data());
        block.mask_row = cols;
        block.mask_col = 1;
      }
      const std::int64_t first = plan_.walk == Walk::across ? c : plan_.walk == Walk::along ? r : 0;
      reduce_block(block, {states.data, states.count, first});
      if (!is_weighted()) continue;
      block.x = weights.data;
      block.x_row = weights.row;
      reduce_block(block, {states.data, states.count, states.count / 2 + first});
    }
  }
}

}  // namespace

void write_identity(const kernels::Reducer& reducer, DType cast, const Tensor& out, bool is_second,
                    double parameter) {
  const DType type = is_second ? reducer.second : reducer.result;
  const Scratch state(reducer.state_bytes);
  const Scratch identity(static_cast<std::size_t>(item_bytes(type)));
  reducer.init(state.data(), 1);
  (is_second ? reducer.finish_second : reducer.finish)(state.data(), identity.data(), 1, parameter);
  if (type == DType::i32) clamp_to(cast, identity.data(), 1);
  kernels::copy(out.shape(), out.array(),
                Array{identity.data(), type, Dims::filled(out.ndim(), 0)});
}

void run_reduction(const ReducePlan& plan, const ReduceTask& task, const Tensor* first,
                   const Tensor* second, std::int64_t bytes) {
  ReduceRun(plan, task, first, second, bytes)();
}

bool reduce_row(const ReduceTask& task, const Tensor& out, bool is_second) {
  if (task.weight != nullptr || raises(task)) return false;
  std::optional<Block> row = small_row(task.x, task.mask, task.cast);
  if (!row) return false;
  const Reducer* const reducer = kernels::find_reducer(task.op, task.cast);
  if (reducer == nullptr || out.dtype() != (is_second ? reducer->second : reducer->result)) {
    return false;
  }
  row->index_col = 1;
  const Scratch state(reducer->state_bytes);
  reducer->init(state.data(), 1);
  reducer->along({state.data(), 1, 0}, false, *row);
  (is_second ? reducer->finish_second : reducer->finish)(state.data(), out.raw_data(), 1,
                                                         task.parameter);
  return true;
}

}  // namespace loup::ops
