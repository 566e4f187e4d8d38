#include "loup/ops/masking.h"

#include "arguments.h"
#include "define.h"
#include "loup/masked/order.h"
#include "loup/masked/scatter.h"

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
  const ops::Operand number = operand_from("masked_fill", value);
  if (const MaskedTensor* const x = masked_tensor_in(input)) {
    return nb::cast(
        without_gil(x->size(), [&] { return masked::masked_fill(*x, *chosen, number); }));
  }
  const TensorArgument x("masked_fill", input);
  return nb::cast(without_gil(x->size(), [&] { return ops::masked_fill(*x, *chosen, number); }));
}

void masked_fill_in_place(nb::handle self, nb::handle mask, nb::handle value) {
  const TensorArgument chosen("masked_fill_", mask);
  const ops::Operand number = operand_from("masked_fill_", value);
  if (MaskedTensor* const x = masked_tensor_in(self)) {
    return without_gil(x->size(), [&] { masked::masked_fill_(*x, *chosen, number); });
  }
  Tensor& x = tensor_of(self);
  without_gil(x.size(), [&] { ops::masked_fill_(x, *chosen, number); });
}

nb::object nonzero(nb::handle input, bool as_tuple) {
  if (as_tuple) {
    return with_input(
        "nonzero", input,
        [](const auto& x) {
          using masked::nonzero_tuple;  // both: x decides
          using ops::nonzero_tuple;
          return nonzero_tuple(x);
        },
        [](const std::vector<Tensor>& places) { return tuple_of(places); });
  }
  return with_input("nonzero", input, [](const auto& x) {
    using masked::nonzero;  // both: x decides
    using ops::nonzero;
    return nonzero(x);
  });
}

}  // namespace

void bind_masking(nb::module_& m) {
  define(m, "masked_select", masked_select, "mask"_a);
  define(m, "masked_fill", masked_fill, "mask"_a, "value"_a);
  define_in_place(
      "masked_fill",
      [](nb::handle self, nb::handle mask, nb::handle value) {
        masked_fill_in_place(self, mask, value);
      },
      "mask"_a, "value"_a);
  define(m, "nonzero", nonzero, nb::kw_only(), "as_tuple"_a = false);
}

}  // namespace loup::python
