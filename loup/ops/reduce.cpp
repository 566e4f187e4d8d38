#include "loup/ops/reduce.h"

#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/compact.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/plan.h"
#include "loup/ops/reduce_run.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

using kernels::ReduceOp;
using kernels::Reducer;

/// Throws unless it is a kind of mask.
void check_what_counts(const char* operation, const Tensor& x, const Tensor& mask) {
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

/// The arguments of a call, checked.
struct ReduceCall {
  // (No aggregate: all of it would be cleared first.)
  ReduceCall(const ReduceSpec& described, const Tensor& elements, const Dims& dims,
             const ReduceArguments& arguments)
      : spec(described),
        x(elements),
        reduced(dim_bits(spec.name, dims, x.ndim())),
        mask(mask_as(spec.name, x, arguments.mask)),
        keepdim(arguments.keepdim),
        parameter(arguments.parameter) {
    if (spec.takes_one_dim && dims.size() > 1) {
      throw ValueError("{}: expected at most one dim, got {}", spec.name, dims.size());
    }
  }

  const ReduceSpec& spec;
  const Tensor& x;
  std::uint32_t reduced;
  TensorRef mask;  // of the shape of x
  bool keepdim;
  double parameter;
  const Tensor* weight = nullptr;  // of the shape of x
};

bool is_reduced(std::uint32_t reduced, int dim) {
  return (reduced >> static_cast<unsigned>(dim) & 1U) != 0;
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
  const std::int64_t outputs = element_count(shape);
  if (outputs == 0) return;
  const ReduceTask task{call.spec.kernel, x, cast, call.mask.get(), call.parameter, call.weight};
  const bool is_second = first == nullptr;
  if (outputs == 1 && !is_empty && (is_second || second == nullptr) &&
      reduce_row(task, is_second ? *second : *first, is_second)) {
    return;
  }
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
  const bool asks_where =
      call.spec.kernel == ReduceOp::argmax || call.spec.kernel == ReduceOp::argmin;
  const ReducePlan plan =
      make_plan(x.layout(), call.mask ? &call.mask->layout() : nullptr, out_strides, call.reduced,
                static_cast<std::int64_t>(reducer.state_bytes) * (is_weighted ? 2 : 1), asks_where,
                is_weighted ? &call.weight->layout() : nullptr);
  run_reduction(plan, task, first, second,
                (is_weighted ? 2 : 1) * x.bytes() + (call.mask ? x.size() : 0));
}

constexpr ReduceSpec weighted_sum_spec{.name = "weighted_mean",
                                       .summary = "",
                                       .kernel = ReduceOp::sum,
                                       .types = ReduceTypes::averaged};

void record(const ReduceCall& call, DType dtype, Tensor& out) {
  const ReduceSpec& spec = call.spec;
  std::vector<autograd::SavedTensor> saved;
  if (call.mask) saved.emplace_back(to(*call.mask, DType::boolean));
  if (spec.saves_input) saved.emplace_back(call.x);
  autograd::record(
      spec.name, out, {call.x}, std::move(saved),
      [&spec, is_masked = static_cast<bool>(call.mask), shape = call.x.shape(),
       from = call.x.dtype(), dtype, reduced = call.reduced, keepdim = call.keepdim,
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
  check_what_counts(operation, x, mask);
  return mask.with_layout(broadcast(operation, "a mask", mask.layout(), x.shape()));
}

TensorRef mask_as(const char* operation, const Tensor& x, const Tensor* mask) {
  if (mask == nullptr) return {};
  if (mask->shape() != x.shape()) return mask_as(operation, x, *mask);
  check_what_counts(operation, x, *mask);
  return *mask;
}

DType result_type(const ReduceSpec& spec, DType input) {
  return types_of(spec, input, std::nullopt).out;
}

Tensor reduce(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
              const ReduceArguments& arguments) {
  if (spec.types == ReduceTypes::counted) {
    Tensor counts = count(spec.name, x, dims, arguments);
    if (!arguments.dtype) return counts;
    return to(counts, *arguments.dtype);
  }
  const ReduceCall call(spec, x, dims, arguments);
  const Types types = types_of(spec, x.dtype(), arguments.dtype);
  Tensor out;
  run(call, types.cast, spec.is_second ? nullptr : &out, types.out, spec.is_second ? &out : nullptr,
      types.out);
  if (spec.backward != nullptr && autograd::is_recorded(x) && is_floating(types.out)) {
    record(call, types.cast, out);
  }
  if (!arguments.dtype) return out;
  return to(out, *arguments.dtype);
}

std::pair<Tensor, Tensor> reduce_both(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
                                      const ReduceArguments& arguments) {
  const ReduceCall call(spec, x, dims, arguments);
  const Types types = types_of(spec, x.dtype(), arguments.dtype);
  std::pair<Tensor, Tensor> out;
  run(call, types.cast, &out.first, types.out, &out.second, x.dtype());
  return out;
}

std::pair<Tensor, Tensor> weighted_sums(const Tensor& x, const Tensor& weight, const Dims& dims,
                                        const ReduceArguments& arguments) {
  ReduceCall call(weighted_sum_spec, x, dims, arguments);
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
