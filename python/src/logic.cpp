#include "loup/ops/logic.h"

#include "bindings.h"
#include "define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

template <Tensor (*reduce)(const Tensor&, const Dims&, bool)>
Tensor reduce_truth(const char* name, nb::handle input, nb::handle dim, bool keepdim) {
  const TensorArgument x(name, input);
  const Dims dims = dims_from(name, dim);
  return without_gil(x->size(), [&] { return reduce(*x, dims, keepdim); });
}

}  // namespace

void bind_logic(nb::module_& m) {
  define(
      m, "any",
      [](nb::handle x, nb::handle dim, bool keepdim) {
        return reduce_truth<ops::any>("any", x, dim, keepdim);
      },
      "dim"_a.none() = nb::none(), "keepdim"_a = false);
  define(
      m, "all",
      [](nb::handle x, nb::handle dim, bool keepdim) {
        return reduce_truth<ops::all>("all", x, dim, keepdim);
      },
      "dim"_a.none() = nb::none(), "keepdim"_a = false);
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
