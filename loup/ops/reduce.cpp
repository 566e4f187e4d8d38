#include "loup/ops/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/compact.h"
#include "loup/kernels/copy.h"
#include "loup/memory/scratch.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/plan.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

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

/// Where an operand starts. Its strides are in the plan.
struct Elements {
  std::byte* data;
  DType dtype;
};

/// What is reduced, and how.
struct Task {
  ReduceOp op;
  const Tensor& x;
  DType cast;  // what elements are converted to first
  const Tensor* mask;
  double parameter;
  const Tensor* weight = nullptr;  // what each element is multiplied by, and summed itself
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

/// One reduction under way: operands, plan and kernel.
class ReduceRun {
 public:
  /// Writes to `first` the kernel's first result, to `second` the other; either may be null. Under
  /// weights that other is the same reduction of the weights.
  ReduceRun(const ReducePlan& plan, const Task& task, const Tensor* first, const Tensor* second)
      : plan_(plan),
        raises_(task.op == ReduceOp::norm_1 && task.parameter != 1),
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

  void operator()(std::int64_t bytes) {
    if (plan_.parts == 1) {
      parallel_for(plan_.tiles, bytes, [this](std::int64_t tile) {
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
    parallel_for(plan_.tiles * plan_.parts, bytes, [&](std::int64_t task) {
      const std::int64_t tile = task / plan_.parts;
      const std::int64_t part = task % plan_.parts;
      reduce_part(tile_range(plan_, tile), part, states_of(tile, part));
    });
    const auto merged = static_cast<std::int64_t>(stride) * plan_.tiles * plan_.parts;
    parallel_for(plan_.tiles, merged, [&](std::int64_t tile) {
      const BlockRange range = tile_range(plan_, tile);
      for (std::int64_t part = 1; part < plan_.parts; ++part) {
        reducer_.merge(states_of(tile, 0), states_of(tile, part), state_count(range));
      }
      finish(range, states_of(tile, 0));
    });
  }

 private:
  /// True when the kernel can read the elements where and as they are.
  static bool reads_in_place(const ReducePlan& plan, const Task& task) {
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
    return {x_at(at), row[operand_x], mask_at(at),       row[operand_mask],  col[operand_mask],
            rows,     cols,           at[operand_index], row[operand_index], col[operand_index]};
  }
  const std::byte* x_at(const PlanOffsets& offsets) const {
    return x_.data + offsets[operand_x] * item_bytes(x_.dtype);
  }
  const std::uint8_t* mask_at(const PlanOffsets& offsets) const {
    if (mask_.data == nullptr) return nullptr;
    return reinterpret_cast<const std::uint8_t*>(mask_.data +
                                                 offsets[operand_mask] * item_bytes(mask_.dtype));
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
  bool raises_;     // elements are replaced by powers of theirs
  DType computed_;  // what they are reduced as
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

/// How the input sees a mask: its layout, repeated to the input's shape.
Layout checked_mask(const char* operation, const Tensor& x, const Tensor& mask) {
  // Additive float masks (0 keeps, -inf drops) would silently mean the opposite.
  if (is_floating(mask.dtype())) {
    throw DTypeError(
        "{}: expected a mask of bool or integers, got {}; write mask == 0 or mask != 0", operation,
        mask.dtype());
  }
  if (mask.ndim() > x.ndim()) {
    throw IndexError("{}: expected a mask of at most {} dims, got shape {}", operation, x.ndim(),
                     mask.shape());
  }
  return broadcast(operation, "a mask", mask.layout(), x.shape());
}

/// What elements are converted to, and what the result is.
struct Types {
  DType cast, out;
};

bool is_narrow(DType dtype) { return compute_type(dtype) == ComputeType::i32; }

Types types_of(const ReduceSpec& spec, DType input, std::optional<DType> asked) {
  const bool is_float = is_floating(input);
  const auto check_floating = [&] {
    if (asked && !is_floating(*asked)) {
      throw ValueError("{}: expected a floating dtype, got {}", spec.name, *asked);
    }
  };
  switch (spec.types) {
    case ReduceTypes::accumulated: {
      // int64 holds every integer, and kernels accumulate integers in it: no need to widen them.
      const DType out = asked.value_or(accumulated(input));
      return {out == DType::i64 && !is_float ? input : out, out};
    }
    case ReduceTypes::averaged:
    case ReduceTypes::spread: {
      check_floating();
      if (asked) return {*asked, *asked};
      if (is_float) return {input, input};
      // Sums of int64 may overflow; those of narrower integers are exact.
      const bool widens = input == DType::i64 && spec.types == ReduceTypes::averaged;
      return {is_narrow(input) ? input : DType::f64, widens ? DType::f64 : DType::f32};
    }
    case ReduceTypes::exponential:
      return {is_float ? input : DType::f32, is_float ? input : DType::f32};
    case ReduceTypes::real:
      if (!is_float) throw DTypeError("{}: expected floating elements, got {}", spec.name, input);
      if (asked && promote(input, *asked) != *asked) {
        throw DTypeError("{}: expected a dtype that holds {}, got {}", spec.name, input, *asked);
      }
      return {asked.value_or(input), asked.value_or(input)};
    case ReduceTypes::kept: return {input, input};
    case ReduceTypes::index: return {input, DType::i64};
    case ReduceTypes::boolean: return {DType::boolean, DType::boolean};
    case ReduceTypes::counted: return {DType::boolean, DType::i64};
  }
  __builtin_unreachable();
}

struct ReduceCall {
  const ReduceSpec& spec;
  const Tensor& x;
  std::uint32_t reduced;
  const Tensor* mask;
  Layout mask_layout;
  bool keepdim;
  double parameter;
  const Tensor* weight = nullptr;  // of the shape of x
};

bool is_reduced(std::uint32_t reduced, int dim) {
  return (reduced >> static_cast<unsigned>(dim) & 1U) != 0;
}

/// Fills outputs of which nothing is reduced: the reduction of no elements.
void write_identity(const Reducer& reducer, DType cast, const Tensor& out, bool is_second,
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

/// Runs the kernel into the results that are not null, which are made here.
void run(const ReduceCall& call, DType cast, Tensor* first, DType first_type, Tensor* second,
         DType second_type) {
  const Tensor& x = call.x;
  Shape shape;
  bool is_empty = false;
  for (int i = 0; i < x.ndim(); ++i) {
    const bool goes = is_reduced(call.reduced, i);
    if (!goes || call.keepdim) shape.push_back(goes ? 1 : x.shape()[i]);
    is_empty |= x.shape()[i] == 0;
    if (goes && x.shape()[i] == 0 && call.spec.needs_elements) {
      throw IndexError("{}: expected elements along dim {}, got size 0", call.spec.name, i);
    }
  }
  if (first != nullptr) *first = empty(shape, first_type);
  if (second != nullptr) *second = empty(shape, second_type);
  if (element_count(shape) == 0) return;
  const Reducer& reducer = kernels::reducer(call.spec.kernel, compute_type(cast));
  const bool is_weighted = call.weight != nullptr;
  if (is_empty) {
    if (first != nullptr) write_identity(reducer, cast, *first, false, call.parameter);
    if (second != nullptr) write_identity(reducer, cast, *second, !is_weighted, call.parameter);
    return;
  }
  Strides out_strides = Dims::filled(x.ndim(), 0);
  std::int64_t step = 1;
  for (int i = x.ndim(); i-- > 0;) {
    if (is_reduced(call.reduced, i)) continue;
    out_strides[i] = step;
    step *= x.shape()[i];
  }
  const bool has_mask = call.mask != nullptr;
  const bool asks_where =
      call.spec.kernel == ReduceOp::argmax || call.spec.kernel == ReduceOp::argmin;
  const ReducePlan plan =
      make_plan(x.layout(), has_mask ? &call.mask_layout : nullptr, out_strides, call.reduced,
                static_cast<std::int64_t>(reducer.state_bytes) * (is_weighted ? 2 : 1), asks_where,
                is_weighted ? &call.weight->layout() : nullptr);
  ReduceRun(plan, {call.spec.kernel, x, cast, call.mask, call.parameter, call.weight}, first,
            second)((is_weighted ? 2 : 1) * x.bytes() + (has_mask ? x.size() : 0));
}

ReduceCall checked_call(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
                        const ReduceArguments& arguments) {
  if (spec.takes_one_dim && dims.size() > 1) {
    throw ValueError("{}: expected at most one dim, got {}", spec.name, dims.size());
  }
  ReduceCall call{spec,
                  x,
                  dim_bits(spec.name, dims, x.ndim()),
                  arguments.mask,
                  {},
                  arguments.keepdim,
                  arguments.parameter};
  if (arguments.mask != nullptr) call.mask_layout = checked_mask(spec.name, x, *arguments.mask);
  return call;
}

constexpr ReduceSpec weighted_sum_spec{.name = "weighted_mean",
                                       .summary = "",
                                       .kernel = ReduceOp::sum,
                                       .types = ReduceTypes::averaged};

void record(const ReduceCall& call, DType dtype, Tensor& out) {
  const ReduceSpec& spec = call.spec;
  std::vector<autograd::SavedTensor> saved;
  if (call.mask != nullptr) {
    saved.emplace_back(to(call.mask->with_layout(call.mask_layout), DType::boolean));
  }
  if (spec.saves_input) saved.emplace_back(call.x);
  autograd::record(
      spec.name, out, {call.x}, std::move(saved),
      [&spec, is_masked = call.mask != nullptr, shape = call.x.shape(), from = call.x.dtype(),
       dtype, reduced = call.reduced, keepdim = call.keepdim,
       parameter = call.parameter](const autograd::Saved& kept, const autograd::Gradient& g) {
        ReduceRecord made{shape, from, reduced, keepdim, {}, {}, {}, parameter};
        if (is_masked) made.mask = kept[0];
        if (spec.saves_input) {
          made.input = to(kept[is_masked ? 1 : 0], dtype);
          made.output = kept.output();
        }
        return std::vector<autograd::Gradient>{spec.backward(made, g)};
      },
      spec.saves_input ? autograd::Output::saved : autograd::Output::unneeded);
}

}  // namespace

Tensor mask_as(const char* operation, const Tensor& x, const Tensor& mask) {
  return mask.with_layout(checked_mask(operation, x, mask));
}

DType result_type(const ReduceSpec& spec, DType input) {
  return types_of(spec, input, std::nullopt).out;
}

Tensor reduce(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
              const ReduceArguments& arguments) {
  if (spec.types == ReduceTypes::counted) {
    const Tensor counts = count(spec.name, x, dims, arguments);
    return arguments.dtype ? to(counts, *arguments.dtype) : counts;
  }
  const ReduceCall call = checked_call(spec, x, dims, arguments);
  const Types types = types_of(spec, x.dtype(), arguments.dtype);
  Tensor out;
  run(call, types.cast, spec.is_second ? nullptr : &out, types.out, spec.is_second ? &out : nullptr,
      types.out);
  if (spec.backward != nullptr && autograd::is_recorded(x) && is_floating(types.out)) {
    record(call, types.cast, out);
  }
  return arguments.dtype ? to(out, *arguments.dtype) : out;
}

std::pair<Tensor, Tensor> reduce_both(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
                                      const ReduceArguments& arguments) {
  const ReduceCall call = checked_call(spec, x, dims, arguments);
  const Types types = types_of(spec, x.dtype(), arguments.dtype);
  std::pair<Tensor, Tensor> out;
  run(call, types.cast, &out.first, types.out, &out.second, x.dtype());
  return out;
}

std::pair<Tensor, Tensor> weighted_sums(const Tensor& x, const Tensor& weight, const Dims& dims,
                                        const ReduceArguments& arguments) {
  ReduceCall call = checked_call(weighted_sum_spec, x, dims, arguments);
  const Tensor repeated =
      weight.with_layout(broadcast(call.spec.name, "weights", weight.layout(), x.shape()));
  call.weight = &repeated;
  const DType cast = types_of(call.spec, x.dtype(), arguments.dtype).out;
  const DType computed = storage_type(compute_type(cast));
  std::pair<Tensor, Tensor> out;
  run(call, cast, &out.first, computed, &out.second, computed);
  return out;
}

namespace {

/// A dim that only repeats its elements says the same at every position: one of them is enough.
Layout without_repeats(const Layout& layout, std::uint32_t reduced, std::int64_t& repeats) {
  Layout once = layout;
  for (int i = 0; i < once.shape.size(); ++i) {
    if (once.strides[i] != 0 || once.shape[i] <= 1 || !is_reduced(reduced, i)) continue;
    repeats *= once.shape[i];
    once.shape[i] = 1;
  }
  return once;
}

}  // namespace

Tensor any(const char* operation, const Tensor& x, const Dims& dims, bool keepdim) {
  std::int64_t repeats = 1;
  const Layout once = without_repeats(x.layout(), dim_bits(operation, dims, x.ndim()), repeats);
  return reduce(sum_spec, x.with_layout(once), dims, {.keepdim = keepdim, .dtype = DType::boolean});
}

Tensor count(const char* operation, const Tensor& x, const Dims& dims,
             const ReduceArguments& arguments) {
  const std::uint32_t reduced = dim_bits(operation, dims, x.ndim());
  const Tensor all = ones({}, DType::boolean);
  const Tensor mask = mask_as(operation, x, arguments.mask != nullptr ? *arguments.mask : all);
  std::int64_t repeats = 1;
  const Layout once = without_repeats(mask.layout(), reduced, repeats);
  // Integers other than 0 count once.
  const Tensor counts = to(mask.with_layout(once), DType::boolean);
  if (reduced == dim_bits(operation, {}, x.ndim()) && counts.size() != 0) {
    const std::int64_t total = kernels::count_true(counts.shape(), counts.array()).back();
    const Shape shape = arguments.keepdim ? Dims::filled(x.ndim(), 1) : Shape{};
    return full(shape, total * repeats, DType::i64);
  }
  const Tensor sums = reduce(sum_spec, counts, dims, {.keepdim = arguments.keepdim});
  return repeats == 1 ? sums : ops::mul(sums, Scalar(repeats));
}

}  // namespace loup::ops
