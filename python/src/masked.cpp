#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/autograd/backward.h"
#include "loup/base/error.h"
#include "loup/masked/masked_tensor.h"
#include "loup/masked/ops.h"
#include "masked_ranks.h"

namespace loup::python {

using namespace nb::literals;

namespace {

/// The one of two spellings of an argument that was given: NumPy's or ours.
nb::handle either(const char* operation, const char* ours, nb::handle first, const char* theirs,
                  nb::handle second) {
  if (second.is_none()) return first;
  if (!first.is_none()) {
    throw_type_error("{}: expected {} or {}, got both", operation, ours, theirs);
  }
  return second;
}

bool flag_from(const char* operation, const char* argument, nb::handle object) {
  if (object.is_none() || object.ptr() == Py_False) return false;
  if (object.ptr() == Py_True) return true;
  throw_type_error("{}: expected {} as a bool, got {}", operation, argument, class_name(object));
}

/// The arguments of a reduction, converted. The mask is borrowed where it is a loup tensor: copying
/// a handle would cost as much as checking it.
struct ReduceCall {
  ReduceCall(const char* name, nb::handle dim, nb::handle keep, nb::handle type, nb::handle counts,
             nb::handle axis, nb::handle keeps)
      : dims(dims_from(name, either(name, "dim", dim, "axis", axis))),
        keepdim(flag_from(name, "keepdim", either(name, "keepdim", keep, "keepdims", keeps))),
        dtype(dtype_from(name, type)) {
    if (!counts.is_none()) mask.emplace(name, counts);
  }

  masked::ReduceOptions options() const {
    return {
        .mask = mask ? std::optional(**mask) : std::nullopt, .keepdim = keepdim, .dtype = dtype};
  }

  Dims dims;
  bool keepdim;
  std::optional<DType> dtype;
  std::optional<TensorArgument> mask;
};

nb::object call_reduction(const masked::Reduction& op, nb::handle input, const ReduceCall& call) {
  if (const MaskedTensor* x = masked_tensor_in(input)) {
    const masked::ReduceOptions options = call.options();
    return nb::cast(without_gil(x->size(), [&] { return op(*x, call.dims, options); }));
  }
  const TensorArgument x(op.name, input);
  const ops::ReduceArguments arguments{
      .mask = call.mask ? &**call.mask : nullptr, .keepdim = call.keepdim, .dtype = call.dtype};
  return nb::cast(
      without_gil(x->size(), [&] { return ops::reduce(op, *x, call.dims, arguments); }));
}

/// Adds `op` to a module, or to a class as a method. `first` names the input where it is an
/// argument; in a method it is self.
template <class Scope, class... First>
void define(Scope& scope, const masked::Reduction& op, const char* input, const char* result,
            First... first) {
  const std::string signature = fmt::format(
      "def {}({}, dim: int | collections.abc.Sequence[int] | None = None, *, keepdim: bool = "
      "False, "
      "dtype: object = None, mask: object = None, axis: int | collections.abc.Sequence[int] | None "
      "= "
      "None, keepdims: bool = False) -> {}",
      op.name, input, result);
  scope.def(
      op.name,
      [&op](nb::handle x, nb::handle dim, nb::handle keepdim, nb::handle dtype, nb::handle mask,
            nb::handle axis, nb::handle keepdims) {
        return call_reduction(op, x,
                              ReduceCall(op.name, dim, keepdim, dtype, mask, axis, keepdims));
      },
      first..., "dim"_a.none() = nb::none(), nb::kw_only(), "keepdim"_a.none() = nb::none(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = nb::none(),
      "keepdims"_a.none() = nb::none(), nb::sig(signature.c_str()), op.summary);
}

/// Where the outputs of one operator are masked.
Tensor mask_of(const masked::Reduction& op, const Tensor& x, const ReduceCall& call) {
  return op.output_mask(x, call.dims, call.options());
}
template <class Op>
Tensor mask_of(const Op& op, const Tensor& x, const ReduceCall& call) {
  return rank_mask(op, x, call.dims, call.keepdim, call.options().mask);
}

Tensor output_mask(const std::string& name, nb::handle input, nb::handle dim, nb::handle keepdim,
                   nb::handle mask) {
  const ReduceCall call("output_mask", dim, keepdim, nb::none(), mask, nb::none(), nb::none());
  const TensorArgument x("output_mask", input);
  for (const masked::Op& op : masked::all_ops) {
    const auto answer = std::visit(
        [&](const auto* described) -> std::optional<Tensor> {
          if (name != described->name) return std::nullopt;
          return mask_of(*described, *x, call);
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
      nb::sig("def output_mask(op_name: str, input: object, dim: int | "
              "collections.abc.Sequence[int] | None = None, *, keepdim: bool = False, mask: object "
              "= None) -> Tensor"),
      "Which outputs of a masked operator have an element that counts.");

  // Users find them in loup.masked, so that is where they say they come from.
  nb::module_ functions = m.def_submodule("_masked_ops", "The masked operators.");
  functions.attr("__name__") = "loup.masked";
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  auto masked_tensor = nb::borrow<nb::class_<MaskedTensor>>(nb::type<MaskedTensor>());
  for (const masked::Op& any : masked::all_ops) {
    std::visit(
        [&]<class Family>(const Family* op) {
          if constexpr (requires { define_rank(RankScopes{functions, m}, *op); }) {
            define_rank({functions, m}, *op);
          } else {
            define(functions, *op, "input: object", "typing.Any", "input"_a.none());
            define(m, *op, "input: object", "typing.Any", "input"_a.none());
            define(tensor, *op, "self", "Tensor");
            define(masked_tensor, *op, "self", "MaskedTensor");
          }
        },
        any);
  }
}

}  // namespace loup::python
