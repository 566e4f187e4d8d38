#include "loup/ops/views.h"

#include "define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

using FromShape = Tensor (*)(const Tensor&, const Shape&);

/// x.reshape(2, 3) and x.reshape((2, 3)).
void define_reshape(nb::module_& m, const char* name, FromShape reshape, const char* argument) {
  define_alike(
      m, name,
      [name, reshape](nb::handle input, const nb::args& shape) {
        const TensorArgument x(name, input);
        return reshape(*x, dims_from_args(name, shape));
      },
      nb::arg(argument));
}

}  // namespace

Tensor reversed(const Tensor& x) {
  Dims order;
  for (int i = x.ndim(); i-- > 0;) order.push_back(i);
  return ops::permute(x, order);
}

void bind_views(nb::module_& m) {
  define_reshape(m, "permute", ops::permute, "dims");
  define_reshape(m, "reshape", ops::reshape, "shape");
  define_reshape(m, "view", ops::view, "shape");
  define_reshape(m, "expand", ops::expand, "shape");
  define_alike(
      m, "transpose",
      [](nb::handle input, nb::handle dim0, nb::handle dim1) {
        const TensorArgument x("transpose", input);
        return ops::transpose(*x, integer_from("transpose", dim0), integer_from("transpose", dim1));
      },
      "dim0"_a, "dim1"_a);
  define_alike(m, "t", [](nb::handle input) { return ops::t(*TensorArgument("t", input)); });
  define_alike(m, "ravel",
               [](nb::handle input) { return ops::ravel(*TensorArgument("ravel", input)); });
  define_alike(
      m, "flatten",
      [](nb::handle input, nb::handle first, nb::handle last) {
        const TensorArgument x("flatten", input);
        return ops::flatten(*x, integer_from("flatten", first), integer_from("flatten", last));
      },
      "start_dim"_a = 0, "end_dim"_a = -1);
  define_alike(
      m, "squeeze",
      [](nb::handle input, nb::handle dim) {
        const TensorArgument x("squeeze", input);
        return ops::squeeze(*x, dims_from("squeeze", dim));
      },
      "dim"_a.none() = nb::none());
  define_alike(
      m, "unsqueeze",
      [](nb::handle input, nb::handle dim) {
        const TensorArgument x("unsqueeze", input);
        return ops::unsqueeze(*x, integer_from("unsqueeze", dim));
      },
      "dim"_a);
  define_alike(
      m, "broadcast_to",
      [](nb::handle input, nb::handle shape) {
        const TensorArgument x("broadcast_to", input);
        return ops::broadcast_to(*x, dims_from("broadcast_to", shape));
      },
      "shape"_a);
  define_alike(
      m, "narrow",
      [](nb::handle input, nb::handle dim, nb::handle start, nb::handle length) {
        const TensorArgument x("narrow", input);
        return ops::narrow(*x, integer_from("narrow", dim), integer_from("narrow", start),
                           integer_from("narrow", length));
      },
      "dim"_a, "start"_a, "length"_a);
  define_alike(
      m, "select",
      [](nb::handle input, nb::handle dim, nb::handle index) {
        const TensorArgument x("select", input);
        return ops::select(*x, integer_from("select", dim), integer_from("select", index));
      },
      "dim"_a, "index"_a);
}

}  // namespace loup::python
