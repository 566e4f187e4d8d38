#include "loup/ops/logic.h"

#include "bindings.h"
#include "define.h"
#include "loup/masked/order.h"

namespace loup::python {

using namespace nb::literals;

void bind_logic(nb::module_& m) {
  define(
      m, "equal",
      [](nb::handle input, nb::handle other) {
        if (is_masked({input, other})) {
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
        const ops::Closeness closeness{rtol, atol, equal_nan};
        const masked::MaskedOperand x = masked_operand_from("isclose", input);
        const masked::MaskedOperand y = masked_operand_from("isclose", other);
        if (is_masked({input, other})) {
          return nb::cast(without_gil(worth_it, [&] { return masked::isclose(x, y, closeness); }));
        }
        return nb::cast(
            without_gil(worth_it, [&] { return ops::isclose(x.values(), y.values(), closeness); }));
      },
      "other"_a.none(), "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  define(
      m, "allclose",
      [](nb::handle input, nb::handle other, double rtol, double atol, bool equal_nan) {
        const ops::Closeness closeness{rtol, atol, equal_nan};
        const masked::MaskedOperand x = masked_operand_from("allclose", input);
        const masked::MaskedOperand y = masked_operand_from("allclose", other);
        if (is_masked({input, other})) {
          return without_gil(worth_it, [&] { return masked::allclose(x, y, closeness); });
        }
        return without_gil(worth_it,
                           [&] { return ops::allclose(x.values(), y.values(), closeness); });
      },
      "other"_a.none(), "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
}

}  // namespace loup::python
