#include <array>

#include <nanobind/stl/string.h>

#include "bindings.h"

namespace loup::python {

namespace {

/// Borrowed from the module, which keeps them alive.
std::array<PyObject*, dtype_count> objects{};

std::string name_of(const DTypeObject& dtype) { return std::string(name(dtype.value)); }

/// Equal to itself and to its name, so that `x.dtype == "float32"` works.
bool equals(const DTypeObject& dtype, nb::handle other) {
  if (PyUnicode_Check(other.ptr())) return nb::cast<std::string>(other) == name_of(dtype);
  return other.ptr() == objects[static_cast<std::size_t>(dtype.value)];
}

}  // namespace

nb::object dtype_object(DType dtype) {
  return nb::borrow(nb::handle(objects[static_cast<std::size_t>(dtype)]));
}

void bind_dtype(nb::module_& m) {
  nb::class_<DTypeObject>(m, "dtype", "What the elements of a tensor are.")
      .def_prop_ro("name", name_of)
      .def_prop_ro("itemsize", [](const DTypeObject& self) { return item_bytes(self.value); })
      .def_prop_ro("is_floating_point",
                   [](const DTypeObject& self) { return is_floating(self.value); })
      .def("__eq__", equals, nb::arg("other").none())
      .def("__hash__", [](const DTypeObject& self) { return nb::hash(nb::cast(name_of(self))); })
      .def("__repr__", [](const DTypeObject& self) { return "loup." + name_of(self); })
      // A global of this module: unpickling gives the same object.
      .def("__reduce__", name_of);
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const nb::object object = nb::cast(DTypeObject{dtype});
    objects[static_cast<std::size_t>(i)] = object.ptr();
    m.attr(nb::str(name(dtype).data(), name(dtype).size())) = object;
  }
}

}  // namespace loup::python
