#include "loup/ops/select.h"

#include <array>
#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/elementwise.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/ops/operators.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;
using kernels::ElementwiseKernel;
using kernels::TernaryOp;

using Three = std::array<Tensor, 3>;

/// The operands of a recorded call, as its rule sees them.
Three inputs_of(const char* name, DType dtype, const Shape& shape, const Operand& x,
                const Operand& y, const Operand& z) {
  return {as_input(name, x, dtype, shape), as_input(name, y, dtype, shape),
          as_input(name, z, dtype, shape)};
}

Tensor run_ternary(const char* name, TernaryOp op, DType dtype, const Operand& x, const Operand& y,
                   const Operand& z) {
  const ElementwiseKernel* const kernel = kernels::find_ternary(op, compute_type(dtype));
  if (kernel == nullptr) {
    throw DTypeError("{}: expected a floating dtype, got {}", name, dtype);
  }
  const Operand* const operands[] = {&x, &y, &z};
  return run_elementwise(name, *kernel, dtype, operands);
}

std::vector<SavedTensor> saved_of(const Three& inputs) {
  return {SavedTensor(inputs[0]), SavedTensor(inputs[1]), SavedTensor(inputs[2])};
}

/// A bound as a kernel may read it. Where it is absent, or beyond all integers of the dtype, the
/// widest there is.
Operand usable_bound(const std::optional<Operand>& bound, DType dtype, bool is_low) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) -> Operand {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      const auto limit = static_cast<std::int64_t>(is_low ? Limits::min() : Limits::max());
      if (!bound) return limit;
      if (!bound->is_number()) return *bound;
      const auto value = bound->number().template to<std::int64_t>();
      if (is_low ? value < limit : value > limit) return limit;
      check_fits("clamp", *bound, dtype);
      return *bound;
    } else {
      return bound ? *bound : Operand(is_low ? -infinity : infinity);
    }
  });
}

/// Writes a result that was computed out of place into x.
void write_result(const char* name, Tensor& x, const Tensor& result) {
  check_holds(name, x, result.dtype());
  replace_(name, x, to(result, x.dtype()));
}

/// ShapeError unless a tensor can be repeated to the shape of `x`.
void check_operand(const char* name, const Operand& operand, const Tensor& x) {
  if (!operand.is_number()) broadcast(name, "operands", operand.tensor().layout(), x.shape());
}

std::vector<Gradient> clamp_rule(const Saved& saved, const Gradient& g) {
  const Tensor& x = saved[0];
  const Tensor& low = saved[1];
  const Tensor& high = saved[2];
  const auto part = [&](std::size_t i, const Tensor& chosen) -> Gradient {
    if (!saved.needs(i)) return {};
    return {to(g.value, saved[i].dtype()), autograd::both(g.mask, chosen)};
  };
  const Tensor is_high = logical_or(gt(x, high), gt(low, high));
  const Tensor is_low = logical_and(lt(x, low), logical_not(is_high));
  return {part(0, logical_not(logical_or(is_low, is_high))), part(1, is_low), part(2, is_high)};
}

}  // namespace

Tensor where(const Tensor& condition, const Operand& yes, const Operand& no) {
  if (condition.dtype() != DType::boolean) {
    throw DTypeError("where: expected a condition of bool, got {}", condition.dtype());
  }
  const Operand* const values[] = {&yes, &no};
  const DType dtype = result_type(values);
  check_fits("where", yes, dtype);
  check_fits("where", no, dtype);
  const Operand chooses_from(condition);
  const Operand* const all[] = {&chooses_from, &yes, &no};
  Tensor out = run_elementwise("where", kernels::where_kernel(dtype), dtype, all);
  if ((yes.is_recorded() || no.is_recorded()) && is_floating(dtype)) {
    const Tensor chooses = repeated("where", condition, out.shape());
    const Tensor a = as_input("where", yes, dtype, out.shape());
    const Tensor b = as_input("where", no, dtype, out.shape());
    autograd::record("where", out, {a, b}, {SavedTensor(chooses)},
                     [types = std::array{a.dtype(), b.dtype()}](
                         const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                       std::vector<Gradient> gradients(2);
                       for (std::size_t i = 0; i < 2; ++i) {
                         if (!saved.needs(i)) continue;
                         const Tensor side = i == 0 ? saved[0] : logical_not(saved[0]);
                         gradients[i] = {to(g.value, types[i]), autograd::both(g.mask, side)};
                       }
                       return gradients;
                     });
  }
  return out;
}

Tensor clamp(const Tensor& x, const std::optional<Operand>& low,
             const std::optional<Operand>& high) {
  if (!low && !high) throw ValueError("clamp: expected min, max or both, got neither");
  std::vector<const Operand*> given = {};
  const Operand first(x);
  given.push_back(&first);
  if (low) given.push_back(&*low);
  if (high) given.push_back(&*high);
  const DType dtype = result_type(given);
  if (dtype == DType::boolean) {
    throw DTypeError("clamp: expected a numeric dtype, got {}", dtype);
  }
  const Operand lowest = usable_bound(low, dtype, true);
  const Operand highest = usable_bound(high, dtype, false);
  Tensor out = run_ternary("clamp", TernaryOp::clamp, dtype, first, lowest, highest);
  const bool is_recorded = first.is_recorded() || lowest.is_recorded() || highest.is_recorded();
  if (is_recorded && is_floating(dtype)) {
    const Three inputs = inputs_of("clamp", dtype, out.shape(), first, lowest, highest);
    autograd::record("clamp", out, {inputs[0], inputs[1], inputs[2]}, saved_of(inputs), clamp_rule);
  }
  return out;
}

Tensor lerp(const Tensor& a, const Operand& b, const Operand& weight) {
  const Operand first(a);
  const Operand* const given[] = {&first, &b, &weight};
  const DType dtype = result_type(given);
  Tensor out = run_ternary("lerp", TernaryOp::lerp, dtype, first, b, weight);
  if (first.is_recorded() || b.is_recorded() || weight.is_recorded()) {
    const Three inputs = inputs_of("lerp", dtype, out.shape(), first, b, weight);
    autograd::record("lerp", out, {inputs[0], inputs[1], inputs[2]}, saved_of(inputs),
                     [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                       std::vector<Gradient> gradients(3);
                       const auto set = [&](std::size_t i, const Tensor& value) {
                         gradients[i] = {to(value, saved[i].dtype()), g.mask};
                       };
                       if (saved.needs(0)) set(0, g.value * (1 - saved[2]));
                       if (saved.needs(1)) set(1, g.value * saved[2]);
                       if (saved.needs(2)) set(2, g.value * (saved[1] - saved[0]));
                       return gradients;
                     });
  }
  return out;
}

void clamp_(Tensor& x, const std::optional<Operand>& low, const std::optional<Operand>& high) {
  for (const auto& bound : {low, high}) {
    if (bound) check_operand("clamp_", *bound, x);
  }
  write_result("clamp_", x, clamp(clone(x), low, high));
}

void lerp_(Tensor& a, const Operand& b, const Operand& weight) {
  check_operand("lerp_", b, a);
  check_operand("lerp_", weight, a);
  write_result("lerp_", a, lerp(clone(a), b, weight));
}

}  // namespace loup::ops
