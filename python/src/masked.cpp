#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/autograd/backward.h"
#include "loup/base/error.h"
#include "loup/masked/masked_tensor.h"
#include "loup/masked/ops.h"
#include "masked_define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

Tensor output_mask(const std::string& name, nb::handle input, nb::handle dim, nb::handle keepdim,
                   nb::handle mask, nb::handle other, nb::handle input_mask,
                   nb::handle other_mask) {
  const TensorArgument x("output_mask", input);
  const MaskQuery query{.x = *x,
                        .dims = dims_from("output_mask", dim),
                        .keepdim = flag_from("output_mask", "keepdim", keepdim),
                        .mask = optional_tensor("output_mask", mask),
                        .other = other,
                        .input_mask = input_mask,
                        .other_mask = other_mask};
  for (const masked::Op& op : masked::all_ops) {
    const auto answer = std::visit(
        [&](const auto* described) -> std::optional<Tensor> {
          if (name != described->name) return std::nullopt;
          return mask_of(*described, query);
        },
        op);
    if (answer) return *answer;
  }
  throw ValueError("output_mask: expected the name of a masked operator, got '{}'", name);
}

/// Data or mask of a MaskedTensor: no conversion of foreign objects to a mask by accident.
Tensor part_from(const char* what, nb::handle object) {
  if (masked_tensor_in(object) != nullptr) {
    throw_type_error("MaskedTensor: expected {} as a plain tensor, got a MaskedTensor", what);
  }
  return as_tensor("MaskedTensor", object);
}

void warn_of_cut_record() {
  if (PyErr_WarnEx(PyExc_UserWarning,
                   "MaskedTensor: expected data without a gradient record, got data that requires "
                   "grad; the copy does not send gradients to it, as_masked_tensor does",
                   1) != 0) {
    throw nb::python_error();
  }
}

[[noreturn]] void refuse_export(const char* operation) {
  throw_type_error(
      "{}: expected a plain tensor, got a MaskedTensor, whose mask would be lost; use "
      "to_tensor(fill) or get_data()",
      operation);
}

void bind_masked_tensor(nb::module_& m) {
  nb::class_<MaskedTensor> type(m, "MaskedTensor",
                                "Data and a mask that tells which elements count (True = counts).");
  type.def(
          "__init__",
          [](MaskedTensor* self, nb::handle data, nb::handle mask, nb::handle requires_grad) {
            const Tensor values = part_from("data", data);
            const Tensor counts = part_from("mask", mask);
            const bool is_leaf = flag_from("MaskedTensor", "requires_grad", requires_grad);
            if (values.requires_grad()) warn_of_cut_record();
            new (self) MaskedTensor(values, counts, is_leaf);
          },
          "data"_a, "mask"_a, "requires_grad"_a = false,
          nb::sig("def __init__(self, data: object, mask: object, requires_grad: bool = False) -> "
                  "None"))
      .def("get_data", &MaskedTensor::get_data, "The data, masked elements included.")
      .def("get_mask", &MaskedTensor::get_mask, "The mask: True where an element counts.")
      .def(
          "to_tensor",
          [](const MaskedTensor& x, nb::handle value) {
            const Scalar fill = scalar_from("to_tensor", value);
            return without_gil(x.size(), [&] { return x.to_tensor(fill); });
          },
          "value"_a, nb::sig("def to_tensor(self, value: float) -> Tensor"),
          "The data with value where the mask is False.")
      .def_prop_ro(
          "shape", [](const MaskedTensor& x) { return tuple_of(x.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const MaskedTensor& x) { return dtype_object(x.dtype()); },
          nb::sig("def dtype(self) -> dtype"))
      .def_prop_ro("ndim", &MaskedTensor::ndim)
      .def("dim", &MaskedTensor::ndim)
      .def("numel", &MaskedTensor::size, "Number of elements, masked ones included.")
      .def_prop_ro("requires_grad", &MaskedTensor::requires_grad)
      .def_prop_ro("grad", &MaskedTensor::grad, "The gradient collected so far, or None.")
      .def(
          "backward",
          [](const MaskedTensor& x) {
            const nb::gil_scoped_release release;
            autograd::backward(x.get_data(), {.mask = x.get_mask()});
          },
          "Add the gradient of this tensor to every leaf it was computed from.")
      .def(
          "__dlpack__", [](const MaskedTensor&, const nb::kwargs&) { refuse_export("__dlpack__"); },
          nb::sig("def __dlpack__(self, **kwargs: object) -> typing.NoReturn"))
      .def(
          "__dlpack_device__", [](const MaskedTensor&) { refuse_export("__dlpack_device__"); },
          nb::sig("def __dlpack_device__(self) -> typing.NoReturn"))
      .def(
          "__array__",
          [](const MaskedTensor&, const nb::args&, const nb::kwargs&) {
            refuse_export("__array__");
          },
          nb::sig("def __array__(self, *args: object, **kwargs: object) -> typing.NoReturn"))
      .def("__repr__", [](const MaskedTensor& x) { return to_string(x); });
}

}  // namespace

void bind_masked(nb::module_& m) {
  bind_masked_tensor(m);
  m.def(
      "as_masked_tensor",
      [](nb::handle data, nb::handle mask) {
        return as_masked_tensor(part_from("data", data), part_from("mask", mask));
      },
      "data"_a, "mask"_a,
      nb::sig("def as_masked_tensor(data: object, mask: object) -> MaskedTensor"),
      "A MaskedTensor that shares the memory of both and keeps the gradient record of data.");
  m.def(
      "output_mask", output_mask, "op_name"_a, "input"_a, "dim"_a.none() = nb::none(),
      nb::kw_only(), "keepdim"_a.none() = nb::none(), "mask"_a.none() = nb::none(),
      "other"_a.none() = nb::none(), "input_mask"_a.none() = nb::none(),
      "other_mask"_a.none() = nb::none(),
      nb::sig("def output_mask(op_name: str, input: object, dim: int | "
              "collections.abc.Sequence[int] | None = None, *, keepdim: bool = False, mask: object "
              "= None, other: object = None, input_mask: object = None, other_mask: object = None) "
              "-> Tensor"),
      "Which outputs of a masked operator have an element that counts.");

  // Users find them in loup.masked, so that is where they say they come from.
  nb::module_ functions = m.def_submodule("_masked_ops", "The masked operators.");
  functions.attr("__name__") = "loup.masked";
  for (const masked::Op& any : masked::all_ops) {
    std::visit([&](const auto* op) { define_masked({functions, m}, *op); }, any);
  }
}

}  // namespace loup::python
