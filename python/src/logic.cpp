#include "loup/ops/logic.h"

#include "bindings.h"
#include "define.h"

namespace loup::python {

using namespace nb::literals;

void bind_logic(nb::module_& m) {
  define(
      m, "equal",
      [](nb::handle input, nb::handle other) {
        const TensorArgument x("equal", input);
        const TensorArgument y("equal", other);
        return without_gil(x->size(), [&] { return ops::equal(*x, *y); });
      },
      "other"_a.none());
  define(
      m, "isclose",
      [](nb::handle input, nb::handle other, double rtol, double atol, bool equal_nan) {
        const ops::Operand x = operand_from("isclose", input);
        const ops::Operand y = operand_from("isclose", other);
        return without_gil(x.is_number() ? 1 : x.tensor().size(),
                           [&] { return ops::isclose(x, y, {rtol, atol, equal_nan}); });
      },
      "other"_a.none(), "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  define(
      m, "allclose",
      [](nb::handle input, nb::handle other, double rtol, double atol, bool equal_nan) {
        const ops::Operand x = operand_from("allclose", input);
        const ops::Operand y = operand_from("allclose", other);
        return without_gil(x.is_number() ? 1 : x.tensor().size(),
                           [&] { return ops::allclose(x, y, {rtol, atol, equal_nan}); });
      },
      "other"_a.none(), "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
}

}  // namespace loup::python
