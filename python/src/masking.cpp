#include "loup/ops/masking.h"

#include "arguments.h"
#include "define.h"
#include "loup/masked/order.h"

namespace loup::python {

using namespace nb::literals;

namespace {

nb::object masked_select(nb::handle input, nb::handle mask) {
  const TensorArgument chosen("masked_select", mask);
  if (const MaskedTensor* const x = masked_tensor_in(input)) {
    return nb::cast(without_gil(x->size(), [&] { return masked::masked_select(*x, *chosen); }));
  }
  const TensorArgument x("masked_select", input);
  return nb::cast(without_gil(x->size(), [&] { return ops::masked_select(*x, *chosen); }));
}

nb::object masked_fill(nb::handle input, nb::handle mask, nb::handle value) {
  const TensorArgument chosen("masked_fill", mask);
  if (const MaskedTensor* const x = masked_tensor_in(input)) {
    const Scalar fill = scalar_from("masked_fill", value);
    return nb::cast(without_gil(x->size(), [&] { return masked::masked_fill(*x, *chosen, fill); }));
  }
  const TensorArgument x("masked_fill", input);
  const ops::Operand number = operand_from("masked_fill", value);
  return nb::cast(without_gil(x->size(), [&] { return ops::masked_fill(*x, *chosen, number); }));
}

void masked_fill_in_place(Tensor& x, nb::handle mask, nb::handle value) {
  const TensorArgument chosen("masked_fill_", mask);
  const ops::Operand number = operand_from("masked_fill_", value);
  without_gil(x.size(), [&] { ops::masked_fill_(x, *chosen, number); });
}

nb::object nonzero(nb::handle input, bool as_tuple) {
  const TensorArgument x("nonzero", input);
  if (as_tuple) {
    return tuple_of(without_gil(x->size(), [&] { return ops::nonzero_tuple(*x); }));
  }
  return nb::cast(without_gil(x->size(), [&] { return ops::nonzero(*x); }));
}

}  // namespace

void bind_masking(nb::module_& m) {
  define(m, "masked_select", masked_select, "mask"_a);
  define(m, "masked_fill", masked_fill, "mask"_a, "value"_a);
  define_in_place("masked_fill", masked_fill_in_place, "mask"_a, "value"_a);
  define(m, "nonzero", nonzero, nb::kw_only(), "as_tuple"_a = false);
}

}  // namespace loup::python
