#include <nanobind/stl/string.h>

#include "arguments.h"
#include "define.h"
#include "loup/masked/products.h"
#include "loup/ops/einsum.h"
#include "loup/ops/matmul.h"

namespace loup::python {

using namespace nb::literals;

namespace {

using masked::MaskedOperand;

/// A product of tensors, and the same of masked ones.
struct Product {
  const char* name;
  Tensor (*plain)(const Tensor&, const Tensor&);
  MaskedTensor (*masked)(const MaskedOperand&, const MaskedOperand&);
};
constexpr Product matmul{"matmul", ops::matmul, masked::matmul};

nb::object multiply(const Product& product, nb::handle left, nb::handle right) {
  if (is_masked({left, right})) {
    const MaskedOperand a = masked_operand_from(product.name, left);
    const MaskedOperand b = masked_operand_from(product.name, right);
    return nb::cast(without_gil(worth_it, [&] { return product.masked(a, b); }));
  }
  const TensorArgument a(product.name, left);
  const TensorArgument b(product.name, right);
  return nb::cast(without_gil(a->size() + b->size(), [&] { return product.plain(*a, *b); }));
}

void define_product(nb::module_& m, const Product& product, const char* other) {
  define(
      m, product.name, [product](nb::handle a, nb::handle b) { return multiply(product, a, b); },
      nb::arg(other));
}

template <class Class>
void define_matmul_symbol() {
  auto type = nb::borrow<nb::class_<Class>>(nb::type<Class>());
  const auto call = [](nb::handle a, nb::handle b, nb::handle other) -> nb::object {
    if (!is_array_like(other)) return nb::borrow(Py_NotImplemented);
    return multiply(matmul, a, b);
  };
  const auto signature = [](const char* name) {
    return fmt::format("def {}(self, other: typing.Any) -> {}", name, class_name_of<Class>);
  };
  type.def(
      "__matmul__", [call](nb::handle x, nb::handle y) { return call(x, y, y); }, "other"_a.none(),
      nb::sig(signature("__matmul__").c_str()));
  type.def(
      "__rmatmul__", [call](nb::handle x, nb::handle y) { return call(y, x, y); }, "other"_a.none(),
      nb::sig(signature("__rmatmul__").c_str()));
}

nb::object linear(nb::handle input, nb::handle weight, nb::handle bias) {
  if (is_masked({input, weight, bias})) {
    const MaskedOperand x = masked_operand_from("linear", input);
    const MaskedOperand w = masked_operand_from("linear", weight);
    std::optional<MaskedOperand> b;
    if (!bias.is_none()) b = masked_operand_from("linear", bias);
    return nb::cast(without_gil(worth_it, [&] { return masked::linear(x, w, b); }));
  }
  const TensorArgument x("linear", input);
  const TensorArgument w("linear", weight);
  std::optional<Tensor> b;
  if (!bias.is_none()) b = as_tensor("linear", bias);
  return nb::cast(without_gil(x->size() + w->size(), [&] { return ops::linear(*x, *w, b); }));
}

nb::object einsum(const std::string& equation, const nb::args& operands) {
  const bool is_listed = operands.size() == 1 &&
                         (PyList_Check(operands[0].ptr()) || PyTuple_Check(operands[0].ptr())) &&
                         equation.find(',') != std::string::npos;
  const nb::handle all = is_listed ? nb::handle(operands[0]) : nb::handle(operands);
  if (has_masked(all)) {
    std::vector<MaskedOperand> factors;
    for (nb::handle item : nb::borrow<nb::sequence>(all)) {
      factors.push_back(masked_operand_from("einsum", item));
    }
    return nb::cast(without_gil(worth_it, [&] { return masked::einsum(equation, factors); }));
  }
  const std::vector<Tensor> tensors = tensors_from("einsum", all);
  return nb::cast(without_gil(total_size(tensors), [&] { return ops::einsum(equation, tensors); }));
}

}  // namespace

void bind_linalg(nb::module_& m) {
  define_product(m, matmul, "other");
  define_product(m, {"mm", ops::mm, masked::mm}, "mat2");
  define_product(m, {"bmm", ops::bmm, masked::bmm}, "mat2");
  define_product(m, {"mv", ops::mv, masked::mv}, "vec");
  define_product(m, {"dot", ops::dot, masked::dot}, "tensor");
  define_product(m, {"outer", ops::outer, masked::outer}, "vec2");
  define(m, "linear", linear, "weight"_a, "bias"_a.none() = nb::none());
  define_function(m, "einsum", einsum, "equation"_a, "operands"_a);
  define_matmul_symbol<Tensor>();
  define_matmul_symbol<MaskedTensor>();
}

}  // namespace loup::python
