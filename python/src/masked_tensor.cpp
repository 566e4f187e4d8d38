#include "loup/masked/masked_tensor.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "define.h"
#include "index.h"
#include "loup/base/error.h"
#include "loup/masked/from_data.h"
#include "loup/masked/moves.h"
#include "loup/masked/poison.h"
#include "loup/masked/scatter.h"

// The class: making one, its parts, and what is no operator. Operators add themselves.

namespace loup::python {

using namespace nb::literals;

namespace {

/// Data or mask of a MaskedTensor: no conversion of foreign objects to a mask by accident.
Tensor part_from(const char* what, nb::handle object) {
  if (masked_tensor_in(object) != nullptr) {
    throw_type_error("MaskedTensor: expected {} as a plain tensor, got a MaskedTensor", what);
  }
  return as_tensor("MaskedTensor", object);
}

bool flag(nb::handle object) {
  if (PyBool_Check(object.ptr()) == 0) {
    throw_type_error("MaskedTensor: expected requires_grad as a bool, got {}", class_name(object));
  }
  return object.ptr() == Py_True;
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

std::int64_t masked_length(const MaskedTensor& x) {
  if (x.ndim() == 0) throw_type_error("len: expected a tensor with dims, got a 0-d tensor");
  return x.shape()[0];
}

nb::object masked_element(const MaskedTensor& x) {
  if (x.dtype() == DType::boolean) return nb::cast(x.item<bool>());
  if (is_floating(x.dtype())) return nb::cast(x.item<double>());
  return nb::cast(x.item<std::int64_t>());
}

/// None where the mask is false.
nb::object masked_list(const MaskedTensor& x) {
  if (x.ndim() == 0) return x.get_mask().item<bool>() ? masked_element(x) : nb::none();
  nb::list items;
  for (std::int64_t i = 0; i < x.shape()[0]; ++i)
    items.append(masked_list(masked::select(x, 0, i)));
  return items;
}

void bind_parts(nb::class_<MaskedTensor>& type) {
  type.def(
          "__init__",
          [](MaskedTensor* self, nb::handle data, nb::handle mask, nb::handle requires_grad) {
            const Tensor values = part_from("data", data);
            const Tensor counts = part_from("mask", mask);
            const bool is_leaf = flag(requires_grad);
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
      .def(
          "size",
          [](const MaskedTensor& x, nb::handle dim) -> nb::object {
            if (dim.is_none()) return tuple_of(x.shape());
            return nb::cast(x.get_data().size(integer_from("size", dim)));
          },
          "dim"_a.none() = nb::none(),
          nb::sig("def size(self, dim: int | None = None) -> typing.Any"),
          "The shape, or the size of one dim.")
      .def_prop_ro(
          "dtype", [](const MaskedTensor& x) { return dtype_object(x.dtype()); },
          nb::sig("def dtype(self) -> dtype"))
      .def_prop_ro("ndim", &MaskedTensor::ndim)
      .def("dim", &MaskedTensor::ndim)
      .def(
          "numel", [](const MaskedTensor& x) { return x.size(); },
          "Number of elements, masked ones included.")
      .def_prop_ro(
          "nbytes",
          [](const MaskedTensor& x) { return x.get_data().bytes() + x.get_mask().bytes(); },
          "Bytes of data and mask.")
      .def_prop_ro(
          "is_readonly",
          [](const MaskedTensor& x) {
            return !x.get_data().storage().is_writable() || !x.get_mask().storage().is_writable();
          },
          "Whether data or mask cannot be written.")
      .def("is_contiguous", &MaskedTensor::is_contiguous, "Whether data and mask are contiguous.")
      .def("__len__", masked_length)
      .def("__repr__", [](const MaskedTensor& x) { return to_string(x); });
}

void bind_elements(nb::class_<MaskedTensor>& type) {
  type.def(
          "__iter__",
          [](nb::handle_t<MaskedTensor> self) {
            masked_length(*masked_tensor_in(self));
            return nb::steal(PySeqIter_New(self.ptr()));
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[MaskedTensor]"))
      .def("__getitem__", nb::overload_cast<const MaskedTensor&, nb::handle>(index), "key"_a.none(),
           nb::sig("def __getitem__(self, key: typing.Any) -> MaskedTensor"),
           "A view or copy of data and mask, by the rules of tensors.")
      .def("__setitem__", nb::overload_cast<MaskedTensor&, nb::handle, nb::handle>(set_index),
           "key"_a.none(), "value"_a,
           nb::sig("def __setitem__(self, key: typing.Any, value: object) -> None"),
           "Write elements; they count then, unless value is a MaskedTensor that says otherwise.")
      .def_prop_ro(
          "T", [](const MaskedTensor& x) { return masked::alike(x, reversed); },
          "The dims in reverse order.")
      .def_prop_ro(
          "mT", [](const MaskedTensor& x) { return masked::transpose(x, -2, -1); },
          "The last two dims swapped.")
      .def("item", masked_element, nb::sig("def item(self) -> float | int | bool"),
           "The only element, if it counts.")
      .def("tolist", masked_list, nb::sig("def tolist(self) -> typing.Any"),
           "Nested Python lists, with None where the mask is False.")
      .def("__float__", [](const MaskedTensor& x) { return x.item<double>(); })
      .def("__int__", [](const MaskedTensor& x) { return nb::int_(masked_element(x)); })
      .def("__bool__", [](const MaskedTensor& x) { return x.item<bool>(); });
}

void bind_masked_copies(nb::class_<MaskedTensor>& type) {
  type.def(
          "clone",
          [](const MaskedTensor& x) { return without_gil(x.size(), [&] { return x.clone(); }); },
          "Contiguous copies of data and mask.")
      .def(
          "contiguous",
          [](const MaskedTensor& x) {
            return without_gil(x.size(), [&] { return x.contiguous(); });
          },
          "The tensor itself when contiguous, otherwise a copy.")
      .def(
          "copy_",
          [](nb::handle_t<MaskedTensor> self, nb::handle source) {
            const masked::MaskedOperand from = masked_operand_from("copy_", source);
            MaskedTensor& x = *masked_tensor_in(self);
            without_gil(x.size(), [&] { masked::copy_(x, from); });
            return nb::borrow(self);
          },
          "source"_a, nb::sig("def copy_(self, source: object) -> MaskedTensor"),
          "Write the elements of source, broadcast and converted; they count where it does.")
      .def(
          "fill_",
          [](nb::handle_t<MaskedTensor> self, nb::handle value) {
            masked::fill_(*masked_tensor_in(self), scalar_from("fill_", value));
            return nb::borrow(self);
          },
          "value"_a, nb::sig("def fill_(self, value: float) -> MaskedTensor"),
          "Write one value into every element; all of them count.")
      .def(
          "__copy__", [](const MaskedTensor& x) { return x; },
          "Another handle of the same elements.")
      .def(
          "__deepcopy__",
          [](const MaskedTensor& x, nb::handle /*memo*/) {
            return MaskedTensor(x.get_data(), x.get_mask(), x.is_leaf() && x.requires_grad());
          },
          "memo"_a.none(), nb::sig("def __deepcopy__(self, memo: object) -> MaskedTensor"));
}

void bind_refusals(nb::class_<MaskedTensor>& type) {
  type.def(
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
      .def(
          "numpy", [](const MaskedTensor&) { refuse_export("numpy"); },
          nb::sig("def numpy(self) -> typing.NoReturn"),
          "Refused, because the mask would be lost; use to_tensor(fill) or get_data().");
  // array + x is x's to answer.
  type.attr("__array_ufunc__") = nb::none();
}

void bind_masks_from_data(nb::module_& m) {
  using masked::MaskedOperand;
  const auto define_unary = [&](const char* name, MaskedTensor (*f)(const MaskedOperand&),
                                const char* summary) {
    const std::string signature = fmt::format("def {}(input: object) -> MaskedTensor", name);
    m.def(
        name,
        [name, f](nb::handle input) {
          const MaskedOperand x = masked_operand_from(name, input);
          return without_gil(worth_it, [&] { return f(x); });
        },
        "input"_a, nb::sig(signature.c_str()), summary);
  };
  define_unary("from_nan", masked::from_nan, "A MaskedTensor in which NaN does not count.");
  define_unary("masked_invalid", masked::masked_invalid,
               "A MaskedTensor in which neither NaN nor infinities count.");
  const auto define_range = [&](const char* name,
                                MaskedTensor (*f)(const MaskedOperand&, Scalar, Scalar),
                                const char* summary) {
    const std::string signature =
        fmt::format("def {}(input: object, v1: float, v2: float) -> MaskedTensor", name);
    m.def(
        name,
        [name, f](nb::handle input, nb::handle low, nb::handle high) {
          const MaskedOperand x = masked_operand_from(name, input);
          const Scalar first = scalar_from(name, low);
          const Scalar second = scalar_from(name, high);
          return without_gil(worth_it, [&] { return f(x, first, second); });
        },
        "input"_a, "v1"_a, "v2"_a, nb::sig(signature.c_str()), summary);
  };
  define_range("masked_inside", masked::masked_inside,
               "A MaskedTensor in which what lies from v1 to v2 does not count.");
  define_range("masked_outside", masked::masked_outside,
               "A MaskedTensor in which what lies below v1 or above v2 does not count.");
  m.def(
      "masked_where",
      [](nb::handle condition, nb::handle input) {
        const TensorArgument hidden("masked_where", condition);
        const MaskedOperand x = masked_operand_from("masked_where", input);
        return without_gil(worth_it, [&] { return masked::masked_where(*hidden, x); });
      },
      "condition"_a, "input"_a,
      nb::sig("def masked_where(condition: object, input: object) -> MaskedTensor"),
      "A MaskedTensor in which what the condition is true for does not count.");
  m.def(
      "masked_equal",
      [](nb::handle input, nb::handle value) {
        const MaskedOperand x = masked_operand_from("masked_equal", input);
        const Scalar number = scalar_from("masked_equal", value);
        return without_gil(worth_it, [&] { return masked::masked_equal(x, number); });
      },
      "input"_a, "value"_a,
      nb::sig("def masked_equal(input: object, value: float) -> MaskedTensor"),
      "A MaskedTensor in which elements equal to value do not count.");
  m.def(
      "lengths_to_mask",
      [](nb::handle lengths, nb::handle max_len) {
        const TensorArgument x("lengths_to_mask", lengths);
        std::optional<std::int64_t> most;
        if (!max_len.is_none()) most = integer_from("lengths_to_mask", max_len);
        return without_gil(worth_it, [&] { return masked::lengths_to_mask(*x, most); });
      },
      "lengths"_a, "max_len"_a.none() = nb::none(),
      nb::sig("def lengths_to_mask(lengths: object, max_len: int | None = None) -> Tensor"),
      "A mask with one more dim that is True at the first places of it, as many as lengths say.");
}

}  // namespace

void bind_masked_tensor(nb::module_& m) {
  nb::class_<MaskedTensor> type(m, "MaskedTensor", nb::pooled(),
                                "Data and a mask that tells which elements count (True = counts).");
  bind_parts(type);
  bind_elements(type);
  bind_masked_copies(type);
  bind_masked_gradients(type);
  bind_refusals(type);
  m.def(
      "as_masked_tensor",
      [](nb::handle data, nb::handle mask) {
        return as_masked_tensor(part_from("data", data), part_from("mask", mask));
      },
      "data"_a, "mask"_a,
      nb::sig("def as_masked_tensor(data: object, mask: object) -> MaskedTensor"),
      "A MaskedTensor that shares the memory of both and keeps the gradient record of data.");
  bind_masks_from_data(m);
  m.def("switch_strict_masks", masked::switch_strict_masks, "is_strict"_a,
        "Whether operators of this thread want equal masks from now on; returns what it was.");
  nb::class_<masked::Poison>(m, "Poison",
                             "While one exists, operators read garbage where a mask is False.")
      .def(nb::init<>());
}

}  // namespace loup::python
