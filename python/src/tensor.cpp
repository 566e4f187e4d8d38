#include "loup/tensor/tensor.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "index.h"
#include "loup/base/error.h"
#include "loup/io/dlpack.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/print.h"
#include "loup/tensor/views.h"

namespace loup::python {

using namespace nb::literals;

namespace {

nb::object element(const Tensor& x) {
  if (x.dtype() == DType::boolean) return nb::cast(x.item<bool>());
  if (is_floating(x.dtype())) return nb::cast(x.item<double>());
  return nb::cast(x.item<std::int64_t>());
}

nb::object to_list(const Tensor& x) {
  if (x.ndim() == 0) return element(x);
  nb::list items;
  for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
    items.append(to_list(x.with_layout(loup::select(x.layout(), 0, i))));
  }
  return items;
}

std::int64_t length(const Tensor& x) {
  if (x.ndim() == 0) throw_type_error("len: expected a tensor with dims, got a 0-d tensor");
  return x.shape()[0];
}

/// The elements of the first dim, one by one. Without __iter__ a 0-d tensor would seem empty.
nb::object iterator(nb::handle_t<Tensor> self) {
  length(*tensor_in(self));
  return nb::steal(PySeqIter_New(self.ptr()));
}

/// As Python converts its own floats: infinities and NaN have no integer.
nb::object to_integer(const Tensor& x) {
  if (!is_floating(x.dtype())) return nb::cast(x.item<std::int64_t>());
  PyObject* const integer = PyLong_FromDouble(x.item<double>());
  if (integer == nullptr) throw nb::python_error();
  return nb::steal(integer);
}

/// A NumPy array of the same elements, converted or copied as NumPy asks.
nb::object to_numpy(nb::handle_t<Tensor> self, nb::handle dtype, nb::handle copy) {
  const Tensor& x = *tensor_in(self);
  if (x.dtype() == DType::bf16) {
    throw DTypeError(
        "numpy: expected a dtype that NumPy has, got bfloat16; convert it with "
        "to(loup.float32)");
  }
  nb::object array =
      nb::module_::import_("numpy").attr("asarray")(nb::steal(PyMemoryView_FromObject(self.ptr())));
  const bool converts = !dtype.is_none() && !array.attr("dtype").equal(dtype);
  if (converts && !copy.is_none() && !nb::cast<bool>(copy)) {
    throw ValueError("numpy: expected the tensor's dtype {} without a copy, got {}", x.dtype(),
                     nb::cast<std::string>(nb::str(dtype)));
  }
  if (converts) return array.attr("astype")(dtype);
  return !copy.is_none() && nb::cast<bool>(copy) ? array.attr("copy")() : array;
}

void bind_index(nb::class_<Tensor>& tensor) {
  tensor.def_prop_ro(
            "T", [](const Tensor& x) { return reversed(x); }, "The dims in reverse order.")
      .def_prop_ro(
          "mT", [](const Tensor& x) { return ops::transpose(x, -2, -1); },
          "The last two dims swapped.")
      .def("__getitem__", nb::overload_cast<const Tensor&, nb::handle>(index), "key"_a.none(),
           nb::sig("def __getitem__(self, key: typing.Any) -> Tensor"))
      .def("__setitem__", nb::overload_cast<Tensor&, nb::handle, nb::handle>(set_index),
           "key"_a.none(), "value"_a,
           nb::sig("def __setitem__(self, key: typing.Any, value: object) -> None"));
}

void bind_copies(nb::class_<Tensor>& tensor) {
  tensor
      .def(
          "clone",
          [](const Tensor& x) { return without_gil(x.size(), [&] { return ops::clone(x); }); },
          "A contiguous copy.")
      .def(
          "contiguous",
          [](const Tensor& x) { return without_gil(x.size(), [&] { return ops::contiguous(x); }); },
          "The tensor itself when contiguous, otherwise a copy.")
      .def(
          "copy_",
          [](nb::handle_t<Tensor> self, nb::handle source) {
            const TensorArgument from("copy_", source);
            without_gil(from->size(), [&] { ops::copy_(*tensor_in(self), *from); });
            return nb::borrow(self);
          },
          "source"_a, nb::sig("def copy_(self, source: object) -> Tensor"),
          "Write the elements of source, broadcast and converted.")
      .def(
          "fill_",
          [](nb::handle_t<Tensor> self, nb::handle value) {
            ops::fill_(*tensor_in(self), scalar_from("fill_", value));
            return nb::borrow(self);
          },
          "value"_a, nb::sig("def fill_(self, value: float) -> Tensor"),
          "Write one value into every element.");
}

void bind_exchange(nb::class_<Tensor>& tensor) {
  tensor
      .def(
          "__dlpack__",
          [](const Tensor& x, nb::handle /*stream*/, nb::handle max_version, nb::handle dl_device,
             nb::handle copy) { return export_dlpack(x, max_version, dl_device, copy); },
          nb::kw_only(), "stream"_a.none() = nb::none(), "max_version"_a.none() = nb::none(),
          "dl_device"_a.none() = nb::none(), "copy"_a.none() = nb::none(),
          nb::sig(
              "def __dlpack__(self, *, stream: object = None, max_version: tuple[int, int] | "
              "None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) "
              "-> object"))
      .def(
          "__dlpack_device__", [](const Tensor&) { return nb::make_tuple(dlpack::device_cpu, 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__array__", to_numpy, "dtype"_a.none() = nb::none(), "copy"_a.none() = nb::none(),
           nb::sig("def __array__(self, dtype: object = None, copy: bool | None = None) -> "
                   "typing.Any"))
      .def(
          "numpy", [](nb::handle_t<Tensor> self) { return to_numpy(self, nb::none(), nb::none()); },
          nb::sig("def numpy(self) -> typing.Any"), "A NumPy array of the same memory.")
      .def("item", element, nb::sig("def item(self) -> float | int | bool"), "The only element.")
      .def("tolist", to_list, nb::sig("def tolist(self) -> typing.Any"), "Nested Python lists.")
      .def("__float__", [](const Tensor& x) { return x.item<double>(); })
      .def("__int__", to_integer, nb::sig("def __int__(self) -> int"))
      .def("__bool__", [](const Tensor& x) { return x.item<bool>(); })
      .def(
          "data_ptr",
          [](const Tensor& x) { return reinterpret_cast<std::uintptr_t>(x.raw_data()); },
          "Address of the first element.");
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor> tensor(m, "Tensor", nb::type_slots(tensor_slots), nb::pooled(),
                            "An n-dimensional array: a strided view of shared memory.");
  tensor
      .def_prop_ro(
          "shape", [](const Tensor& x) { return tuple_of(x.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "strides", [](const Tensor& x) { return tuple_of(x.strides()); },
          nb::sig("def strides(self) -> tuple[int, ...]"), "In elements.")
      .def_prop_ro(
          "dtype", [](const Tensor& x) { return dtype_object(x.dtype()); },
          nb::sig("def dtype(self) -> dtype"))
      .def_prop_ro("ndim", &Tensor::ndim)
      .def_prop_ro("nbytes", &Tensor::bytes)
      .def("dim", &Tensor::ndim)
      .def(
          "numel", [](const Tensor& x) { return x.size(); }, "Number of elements.")
      .def(
          "size",
          [](const Tensor& x, nb::handle dim) -> nb::object {
            if (dim.is_none()) return tuple_of(x.shape());
            return nb::cast(x.size(integer_from("size", dim)));
          },
          "dim"_a.none() = nb::none(),
          nb::sig("def size(self, dim: int | None = None) -> typing.Any"),
          "The shape, or the size of one dim.")
      .def("is_contiguous", &Tensor::is_contiguous)
      .def_prop_ro("is_readonly", [](const Tensor& x) { return !x.storage().is_writable(); })
      .def("__len__", length)
      .def("__iter__", iterator, nb::sig("def __iter__(self) -> collections.abc.Iterator[Tensor]"))
      .def("__repr__", [](const Tensor& x) { return to_string(x); });
  bind_index(tensor);
  bind_copies(tensor);
  bind_exchange(tensor);
}

}  // namespace loup::python
