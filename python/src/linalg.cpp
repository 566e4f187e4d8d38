#include <nanobind/stl/string.h>

#include "arguments.h"
#include "define.h"
#include "loup/ops/einsum.h"
#include "loup/ops/matmul.h"

namespace loup::python {

using namespace nb::literals;

namespace {

using Product = Tensor (*)(const Tensor&, const Tensor&);

Tensor multiply(const char* name, Product product, nb::handle left, nb::handle right) {
  const TensorArgument a(name, left);
  const TensorArgument b(name, right);
  return without_gil(a->size() + b->size(), [&] { return product(*a, *b); });
}

void define_product(nb::module_& m, const char* name, Product product, const char* other) {
  define(
      m, name,
      [name, product](nb::handle a, nb::handle b) { return multiply(name, product, a, b); },
      nb::arg(other));
}

/// Things that make sense beside a tensor; for others Python asks the other operand.
bool is_operand(nb::handle object) {
  return tensor_in(object) != nullptr ||
         (masked_tensor_in(object) == nullptr &&
          (nb::hasattr(object, "__array__") || nb::hasattr(object, "__dlpack__") ||
           PyList_Check(object.ptr())));
}

void define_symbol() {
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  const auto call = [](nb::handle a, nb::handle b, nb::handle other) -> nb::object {
    if (!is_operand(other)) return nb::borrow(Py_NotImplemented);
    return nb::cast(multiply("matmul", ops::matmul, a, b));
  };
  tensor.def(
      "__matmul__", [call](nb::handle x, nb::handle y) { return call(x, y, y); }, "other"_a.none(),
      nb::sig("def __matmul__(self, other: typing.Any) -> Tensor"));
  tensor.def(
      "__rmatmul__", [call](nb::handle x, nb::handle y) { return call(y, x, y); }, "other"_a.none(),
      nb::sig("def __rmatmul__(self, other: typing.Any) -> Tensor"));
}

Tensor linear(nb::handle input, nb::handle weight, nb::handle bias) {
  const TensorArgument x("linear", input);
  const TensorArgument w("linear", weight);
  std::optional<Tensor> b;
  if (!bias.is_none()) b = as_tensor("linear", bias);
  return without_gil(x->size() + w->size(), [&] { return ops::linear(*x, *w, b); });
}

Tensor einsum(const std::string& equation, const nb::args& operands) {
  const bool is_listed = operands.size() == 1 &&
                         (PyList_Check(operands[0].ptr()) || PyTuple_Check(operands[0].ptr())) &&
                         equation.find(',') != std::string::npos;
  const std::vector<Tensor> tensors =
      tensors_from("einsum", is_listed ? nb::handle(operands[0]) : nb::handle(operands));
  return without_gil(total_size(tensors), [&] { return ops::einsum(equation, tensors); });
}

}  // namespace

void bind_linalg(nb::module_& m) {
  define_product(m, "matmul", ops::matmul, "other");
  define_product(m, "mm", ops::mm, "mat2");
  define_product(m, "bmm", ops::bmm, "mat2");
  define_product(m, "mv", ops::mv, "vec");
  define_product(m, "dot", ops::dot, "tensor");
  define_product(m, "outer", ops::outer, "vec2");
  define(m, "linear", linear, "weight"_a, "bias"_a.none() = nb::none());
  define_function(m, "einsum", einsum, "equation"_a, "operands"_a);
  define_symbol();
}

}  // namespace loup::python
