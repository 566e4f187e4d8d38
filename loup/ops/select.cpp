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

/// The operands of a recorded call: numbers as tensors, all with the shape of the output.
struct Operands {
  Operands(const char* name, DType dtype, const Shape& shape, const Operand& x, const Operand& y,
           const Operand& z)
      : tensors{repeated(name, x.as_tensor(dtype), shape),
                repeated(name, y.as_tensor(dtype), shape),
                repeated(name, z.as_tensor(dtype), shape)} {}

  std::array<Tensor, 3> tensors;
};

Tensor run_ternary(const char* name, TernaryOp op, DType dtype, const Operand& x, const Operand& y,
                   const Operand& z) {
  const ElementwiseKernel* const kernel = kernels::find_ternary(op, compute_type(dtype));
  if (kernel == nullptr) {
    throw DTypeError("{}: expected a floating dtype, got {}", name, dtype);
  }
  const Operand* const operands[] = {&x, &y, &z};
  return run_elementwise(name, *kernel, dtype, operands);
}

std::vector<SavedTensor> saved_of(const Operands& operands) {
  return {SavedTensor(operands.tensors[0]), SavedTensor(operands.tensors[1]),
          SavedTensor(operands.tensors[2])};
}

/// Where a bound is absent, the widest there is.
Operand bound_or(const std::optional<Operand>& bound, DType dtype, bool is_low) {
  if (bound) return *bound;
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) -> Operand {
    if constexpr (std::is_integral_v<T>) {
      return Scalar(static_cast<std::int64_t>(is_low ? std::numeric_limits<T>::min()
                                                     : std::numeric_limits<T>::max()));
    } else {
      return Scalar(is_low ? -infinity : infinity);
    }
  });
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
  const Operand chooses_from(condition);
  const Operand* const all[] = {&chooses_from, &yes, &no};
  Tensor out = run_elementwise("where", kernels::where_kernel(dtype), dtype, all);
  if ((yes.is_recorded() || no.is_recorded()) && is_floating(dtype)) {
    const Operands operands("where", dtype, out.shape(), condition, yes, no);
    const auto& [chooses, a, b] = operands.tensors;
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
  const Operand lowest = bound_or(low, dtype, true);
  const Operand highest = bound_or(high, dtype, false);
  Tensor out = run_ternary("clamp", TernaryOp::clamp, dtype, first, lowest, highest);
  const bool is_recorded = first.is_recorded() || lowest.is_recorded() || highest.is_recorded();
  if (is_recorded && is_floating(dtype)) {
    const Operands operands("clamp", dtype, out.shape(), first, lowest, highest);
    const auto& [a, b, c] = operands.tensors;
    autograd::record("clamp", out, {a, b, c}, saved_of(operands), clamp_rule);
  }
  return out;
}

Tensor lerp(const Tensor& a, const Operand& b, const Operand& weight) {
  const Operand first(a);
  const Operand* const given[] = {&first, &b, &weight};
  const DType dtype = result_type(given);
  Tensor out = run_ternary("lerp", TernaryOp::lerp, dtype, first, b, weight);
  if (first.is_recorded() || b.is_recorded() || weight.is_recorded()) {
    const Operands operands("lerp", dtype, out.shape(), first, b, weight);
    const auto& [x, y, w] = operands.tensors;
    autograd::record("lerp", out, {x, y, w}, saved_of(operands),
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
  const Tensor result = clamp(clone(x), low, high);
  replace_("clamp_", x, result);
}

void lerp_(Tensor& a, const Operand& b, const Operand& weight) {
  const Tensor result = lerp(clone(a), b, weight);
  replace_("lerp_", a, result);
}

}  // namespace loup::ops
