#include <algorithm>
#include <optional>

#include "bindings.h"
#include "define.h"
#include "loup/masked/elementwise.h"
#include "loup/ops/select.h"

// Elementwise operators of three operands.

namespace loup::python {

using namespace nb::literals;
using masked::MaskedOperand;

namespace {

nb::object where(nb::handle condition, nb::handle input, nb::handle other) {
  const TensorArgument chooses("where", condition);
  const MaskedOperand x = masked_operand_from("where", input);
  const MaskedOperand y = masked_operand_from("where", other);
  if (is_masked({input, other})) {
    return nb::cast(without_gil(chooses->size(), [&] { return masked::where(*chooses, x, y); }));
  }
  return nb::cast(
      without_gil(chooses->size(), [&] { return ops::where(*chooses, x.values(), y.values()); }));
}

std::optional<MaskedOperand> bound_from(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return masked_operand_from("clamp", object);
}
std::optional<ops::Operand> values_of(const std::optional<MaskedOperand>& x) {
  return x ? std::optional(x->values()) : std::nullopt;
}

nb::object clamp(nb::handle input, nb::handle low, nb::handle high) {
  const auto min = bound_from(low);
  const auto max = bound_from(high);
  if (is_masked({input, low, high})) {
    const MaskedTensor x = masked_from("clamp", input);
    return nb::cast(without_gil(x.size(), [&] { return masked::clamp(x, min, max); }));
  }
  const TensorArgument x("clamp", input);
  return nb::cast(
      without_gil(x->size(), [&] { return ops::clamp(*x, values_of(min), values_of(max)); }));
}

std::optional<ops::Operand> plain_bound_from(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return operand_from("clamp_", object);
}

void clamp_in_place(nb::handle self, nb::handle low, nb::handle high) {
  if (MaskedTensor* const x = masked_tensor_in(self)) {
    const auto min = bound_from(low);
    const auto max = bound_from(high);
    without_gil(x->size(), [&] { masked::clamp_(*x, min, max); });
  } else {
    Tensor& tensor = tensor_of(self);
    const auto min = plain_bound_from(low);
    const auto max = plain_bound_from(high);
    without_gil(tensor.size(), [&] { ops::clamp_(tensor, min, max); });
  }
}

nb::object lerp(nb::handle input, nb::handle end, nb::handle weight) {
  const MaskedOperand y = masked_operand_from("lerp", end);
  const MaskedOperand w = masked_operand_from("lerp", weight);
  if (is_masked({input, end, weight})) {
    const MaskedTensor x = masked_from("lerp", input);
    return nb::cast(without_gil(x.size(), [&] { return masked::lerp(x, y, w); }));
  }
  const TensorArgument x("lerp", input);
  return nb::cast(without_gil(x->size(), [&] { return ops::lerp(*x, y.values(), w.values()); }));
}

void lerp_in_place(nb::handle self, nb::handle end, nb::handle weight) {
  if (MaskedTensor* const x = masked_tensor_in(self)) {
    const MaskedOperand y = masked_operand_from("lerp_", end);
    const MaskedOperand w = masked_operand_from("lerp_", weight);
    without_gil(x->size(), [&] { masked::lerp_(*x, y, w); });
  } else {
    Tensor& tensor = tensor_of(self);
    const ops::Operand y = operand_from("lerp_", end);
    const ops::Operand w = operand_from("lerp_", weight);
    without_gil(tensor.size(), [&] { ops::lerp_(tensor, y, w); });
  }
}

}  // namespace

void bind_selection(nb::module_& m) {
  define_function(m, "where", where, "condition"_a.none(), "input"_a.none(), "other"_a.none());
  define_methods(
      "where", "(input: object, condition: object, other: object) -> Tensor",
      [](nb::handle input, nb::handle condition, nb::handle other) {
        return where(condition, input, other);
      },
      "This tensor where the condition is true, other elsewhere.", "condition"_a.none(),
      "other"_a.none());
  for (const char* const name : {"clamp", "clip"}) {
    define(m, name, clamp, "min"_a.none() = nb::none(), "max"_a.none() = nb::none());
    define_in_place(
        name,
        [](nb::handle self, nb::handle low, nb::handle high) { clamp_in_place(self, low, high); },
        "min"_a.none() = nb::none(), "max"_a.none() = nb::none());
  }
  define(m, "lerp", lerp, "end"_a.none(), "weight"_a.none());
  define_in_place(
      "lerp",
      [](nb::handle self, nb::handle end, nb::handle weight) { lerp_in_place(self, end, weight); },
      "end"_a.none(), "weight"_a.none());
}

}  // namespace loup::python
