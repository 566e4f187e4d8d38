#include "loup/ops/reduce.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/memory/scratch.h"
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

/// Where an operand starts. Its strides are in the plan.
struct Elements {
  std::byte* data;
  DType dtype;
};

/// One reduction under way: operands, plan and kernel.
class Run {
 public:
  Run(const ReducePlan& plan, ReduceOp op, const Tensor& x, DType cast, const Tensor* mask,
      const Tensor& out)
      : plan_(plan),
        reducer_(reads_in_place(plan, op, x, cast) ? *kernels::find_reducer(op, cast)
                                                   : kernels::reducer(op, compute_type(cast))),
        x_{x.raw_data(), x.dtype()},
        mask_(mask != nullptr ? Elements{mask->raw_data(), mask->dtype()}
                              : Elements{nullptr, DType::boolean}),
        out_{out.raw_data(), out.dtype()},
        cast_(cast),
        computed_(storage_type(compute_type(cast))) {
    const std::int64_t mask_col = plan.cols.step[operand_mask];
    packs_x_ = !reads_in_place(plan, op, x, cast);
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
        reducer_.merge(states_of(tile, 0), states_of(tile, part), outputs(range));
      }
      finish(range, states_of(tile, 0));
    });
  }

 private:
  /// True when the kernel can read the elements where and as they are.
  static bool reads_in_place(const ReducePlan& plan, ReduceOp op, const Tensor& x, DType cast) {
    return x.dtype() == cast && (plan.cols.step[operand_x] == 1 || plan.cols.size == 1) &&
           kernels::find_reducer(op, cast) != nullptr;
  }

  std::int64_t outputs(const BlockRange& range) const {
    return plan_.walk == Walk::across ? range.cols : range.rows;
  }
  std::int64_t most_states() const {
    if (plan_.walk == Walk::fold) return 1;
    return plan_.walk == Walk::across ? plan_.block_cols : plan_.block_rows;
  }
  std::size_t state_bytes(const BlockRange& range) const {
    return reducer_.state_bytes * static_cast<std::size_t>(outputs(range));
  }

  void reduce_part(const BlockRange& tile, std::int64_t part, std::byte* states) const {
    reducer_.init(states, outputs(tile));
    const std::int64_t first = part * plan_.part_steps;
    const std::int64_t last = std::min(plan_.steps, first + plan_.part_steps);
    for (std::int64_t step = first; step < last; ++step) {
      if (step != first) check_interrupt();
      const BlockRange range = block_range(plan_, tile, step);
      if (packs_x_ || packs_mask_) {
        reduce_packed(range, {states, outputs(tile), 0});
      } else {
        reduce_block(
            {x_at(range.offsets), plan_.rows.step[operand_x], mask_at(range.offsets),
             plan_.rows.step[operand_mask], plan_.cols.step[operand_mask], range.rows, range.cols},
            {states, outputs(tile), 0});
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

  const std::byte* x_at(const Offsets<3>& offsets) const {
    return x_.data + offsets[operand_x] * item_bytes(x_.dtype);
  }
  const std::uint8_t* mask_at(const Offsets<3>& offsets) const {
    if (mask_.data == nullptr) return nullptr;
    return reinterpret_cast<const std::uint8_t*>(mask_.data +
                                                 offsets[operand_mask] * item_bytes(mask_.dtype));
  }

  /// Copies a block piece by piece into contiguous memory of the compute type.
  void reduce_packed(const BlockRange& range, const States& states) const;

  void finish(const BlockRange& range, const std::byte* states) const {
    const std::int64_t count = outputs(range);
    std::byte* const to = out_.data + range.offsets[operand_out] * item_bytes(out_.dtype);
    const std::int64_t step =
        plan_.walk == Walk::across ? plan_.cols.step[operand_out] : plan_.rows.step[operand_out];
    if (out_.dtype == reducer_.result && (step == 1 || count == 1)) {
      reducer_.finish(states, to, count);
      return;
    }
    const Scratch results(static_cast<std::size_t>(count * item_bytes(reducer_.result)));
    reducer_.finish(states, results.data(), count);
    kernels::copy_plane({to, out_.dtype, 0, step}, {results.data(), reducer_.result, 0, 1}, 1,
                        count);
  }

  const ReducePlan& plan_;
  const Reducer& reducer_;
  Elements x_, mask_, out_;
  DType cast_;      // what elements are converted to first
  DType computed_;  // what they are reduced as
  bool packs_x_, packs_mask_;
};

void Run::reduce_packed(const BlockRange& range, const States& states) const {
  const auto& row = plan_.rows.step;
  const auto& col = plan_.cols.step;
  // Where rows lie closer together than columns, narrow pieces read whole cache lines.
  const bool is_turned =
      range.rows > 1 &&
      ((packs_x_ && std::abs(row[operand_x]) < std::abs(col[operand_x])) ||
       (packs_mask_ && std::abs(row[operand_mask]) < std::abs(col[operand_mask])));
  const std::int64_t most_cols = is_turned ? 64 : plan_.walk == Walk::across ? 512 : 4096;
  const std::int64_t piece_cols = std::min(range.cols, most_cols);
  const std::int64_t piece_rows = std::min(range.rows, packed_elements / piece_cols);
  const auto elements = static_cast<std::size_t>(piece_cols * piece_rows);
  const bool converts_twice = packs_x_ && cast_ != computed_ && x_.dtype != cast_;
  const Scratch cast(converts_twice ? elements * 8 : 0);
  const Scratch packed(packs_x_ ? elements * 8 : 0);
  const Scratch bytes(packs_mask_ ? elements : 0);

  for (std::int64_t r = 0; r < range.rows; r += piece_rows) {
    const std::int64_t rows = std::min(piece_rows, range.rows - r);
    for (std::int64_t c = 0; c < range.cols; c += piece_cols) {
      const std::int64_t cols = std::min(piece_cols, range.cols - c);
      Offsets<3> at = range.offsets;
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += r * row[k] + c * col[k];
      Block block{x_at(at),          row[operand_x], mask_at(at), row[operand_mask],
                  col[operand_mask], rows,           cols};
      if (packs_x_) {
        kernels::ConstPlane from{x_at(at), x_.dtype, row[operand_x], col[operand_x]};
        if (converts_twice) {
          kernels::copy_plane({cast.data(), cast_, cols, 1}, from, rows, cols);
          from = {cast.data(), cast_, cols, 1};
        }
        kernels::copy_plane({packed.data(), computed_, cols, 1}, from, rows, cols);
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

Tensor run(const ReduceSpec& spec, const Tensor& x, std::uint32_t reduced, const Tensor* mask,
           const Layout& mask_layout, bool keepdim, DType dtype) {
  Shape shape;
  Strides out_strides = Dims::filled(x.ndim(), 0);
  bool is_empty = false;
  for (int i = 0; i < x.ndim(); ++i) {
    const bool is_reduced = (reduced >> static_cast<unsigned>(i) & 1U) != 0;
    if (!is_reduced || keepdim) shape.push_back(is_reduced ? 1 : x.shape()[i]);
    is_empty |= x.shape()[i] == 0;
  }
  Tensor out = empty(shape, dtype);
  if (out.size() == 0) return out;
  // int64 holds every integer, and kernels accumulate integers in it: no need to widen them first.
  const bool is_widened = dtype == DType::i64 && !is_floating(x.dtype());
  const DType cast = is_widened ? x.dtype() : dtype;
  if (is_empty) {
    const Reducer& reducer = kernels::reducer(spec.kernel, compute_type(cast));
    const Scratch state(reducer.state_bytes);
    const Scratch identity(static_cast<std::size_t>(item_bytes(reducer.result)));
    reducer.init(state.data(), 1);
    reducer.finish(state.data(), identity.data(), 1);
    const Array all{identity.data(), reducer.result, Dims::filled(out.ndim(), 0)};
    kernels::copy(out.shape(), out.array(), all);
    return out;
  }
  std::int64_t step = 1;
  for (int i = x.ndim(); i-- > 0;) {
    if ((reduced >> static_cast<unsigned>(i) & 1U) != 0) continue;
    out_strides[i] = step;
    step *= x.shape()[i];
  }
  const ReducePlan plan =
      make_plan(x.layout(), mask != nullptr ? &mask_layout : nullptr, out_strides, reduced);
  Run(plan, spec.kernel, x, cast, mask, out)(x.bytes() + (mask != nullptr ? x.size() : 0));
  return out;
}

}  // namespace

Tensor mask_as(const char* operation, const Tensor& x, const Tensor& mask) {
  return mask.with_layout(checked_mask(operation, x, mask));
}

Tensor reduce(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
              const ReduceArguments& arguments) {
  const std::uint32_t reduced = dim_bits(spec.name, dims, x.ndim());
  const DType dtype = arguments.dtype.value_or(spec.result(x.dtype()));
  const Tensor* const mask = arguments.mask;
  Layout mask_layout;
  if (mask != nullptr) mask_layout = checked_mask(spec.name, x, *mask);
  Tensor out = run(spec, x, reduced, mask, mask_layout, arguments.keepdim, dtype);
  if (spec.backward != nullptr && autograd::is_recorded(x) && is_floating(dtype)) {
    std::vector<autograd::SavedTensor> saved;
    if (mask != nullptr) {
      saved.emplace_back(to(mask->with_layout(mask_layout), DType::boolean));
    }
    autograd::record(spec.name, out, {x}, std::move(saved),
                     [backward = spec.backward, is_masked = mask != nullptr, shape = x.shape(),
                      from = x.dtype(), reduced, keepdim = arguments.keepdim](
                         const autograd::Saved& kept, const autograd::Gradient& g) {
                       ReduceRecord call{shape, from, reduced, keepdim, {}};
                       if (is_masked) call.mask = kept[0];
                       return std::vector<autograd::Gradient>{backward(call, g)};
                     });
  }
  return out;
}

Tensor any(const char* operation, const Tensor& x, const Dims& dims, bool keepdim) {
  // A dim that only repeats its elements says the same at every position: look at one.
  Layout once = x.layout();
  const std::uint32_t reduced = dim_bits(operation, dims, x.ndim());
  for (int i = 0; i < x.ndim(); ++i) {
    const bool repeats = once.strides[i] == 0 && once.shape[i] > 1;
    if (repeats && (reduced >> static_cast<unsigned>(i) & 1U) != 0) once.shape[i] = 1;
  }
  return reduce(sum_spec, x.with_layout(once), dims, {.keepdim = keepdim, .dtype = DType::boolean});
}

}  // namespace loup::ops
