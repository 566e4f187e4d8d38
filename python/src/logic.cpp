#include "loup/ops/logic.h"

#include "bindings.h"
#include "define.h"
#include "loup/masked/ops.h"
#include "loup/masked/order.h"

namespace loup::python {

using namespace nb::literals;

namespace {

nb::object isclose(const char* operation, nb::handle input, nb::handle other,
                   const ops::Closeness& closeness) {
  const masked::MaskedOperand x = masked_operand_from(operation, input);
  const masked::MaskedOperand y = masked_operand_from(operation, other);
  const Tensor close =
      without_gil(worth_it, [&] { return ops::isclose(x.values(), y.values(), closeness); });
  if (x.mask() == nullptr && y.mask() == nullptr) return nb::cast(close);
  const masked::MaskedOperand* const operands[] = {&x, &y};
  return nb::cast(as_masked_tensor(close, masked::common_mask(operation, operands, close.shape())));
}

}  // namespace

void bind_logic(nb::module_& m) {
  define(
      m, "equal",
      [](nb::handle input, nb::handle other) {
        if (masked_tensor_in(input) != nullptr || masked_tensor_in(other) != nullptr) {
          const MaskedTensor x = masked_from("equal", input);
          const MaskedTensor y = masked_from("equal", other);
          return without_gil(x.size(), [&] { return masked::equal(x, y); });
        }
        const TensorArgument x("equal", input);
        const TensorArgument y("equal", other);
        return without_gil(x->size(), [&] { return ops::equal(*x, *y); });
      },
      "other"_a.none());
  define(
      m, "isclose",
      [](nb::handle input, nb::handle other, double rtol, double atol, bool equal_nan) {
        return isclose("isclose", input, other, {rtol, atol, equal_nan});
      },
      "other"_a.none(), "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  define(
      m, "allclose",
      [](nb::handle input, nb::handle other, double rtol, double atol, bool equal_nan) {
        if (masked_tensor_in(input) != nullptr || masked_tensor_in(other) != nullptr) {
          const nb::object close = isclose("allclose", input, other, {rtol, atol, equal_nan});
          return masked::all(*masked_tensor_in(close)).get_data().item<bool>();
        }
        const ops::Operand x = operand_from("allclose", input);
        const ops::Operand y = operand_from("allclose", other);
        return without_gil(x.is_number() ? 1 : x.tensor().size(),
                           [&] { return ops::allclose(x, y, {rtol, atol, equal_nan}); });
      },
      "other"_a.none(), "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
}

}  // namespace loup::python
