#include <cstdlib>

#include "bindings.h"
#include "loup/base/error.h"

namespace loup::python {

namespace {

// Kept for the life of the process: exceptions may be raised while modules are torn down.
PyObject* shape_error = nullptr;
PyObject* dtype_error = nullptr;
PyObject* index_error = nullptr;
PyObject* value_error = nullptr;
PyObject* format_error = nullptr;
PyObject* state_error = nullptr;
PyObject* layout_error = nullptr;

PyObject* add_class(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  // Stubs describe classes where they are defined; to users they are loup's own.
  const bool is_for_stubs = std::getenv("NB_STUBGEN") != nullptr;
  const std::string qualified = std::string(is_for_stubs ? "loup._loup." : "loup.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

void translate(const std::exception_ptr& pointer, void* /*unused*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const ShapeError& e) {
    PyErr_SetString(shape_error, e.what());
  } catch (const DTypeError& e) {
    PyErr_SetString(dtype_error, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(index_error, e.what());
  } catch (const FormatError& e) {
    PyErr_SetString(format_error, e.what());
  } catch (const ValueError& e) {
    PyErr_SetString(value_error, e.what());
  } catch (const StateError& e) {
    PyErr_SetString(state_error, e.what());
  } catch (const LayoutError& e) {
    PyErr_SetString(layout_error, e.what());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  PyObject* error =
      add_class(m, "Error", "Base of all errors that loup raises.", nb::handle(PyExc_RuntimeError));
  const auto derive = [&](const char* name, const char* doc, PyObject* builtin) {
    return add_class(m, name, doc, nb::make_tuple(nb::handle(error), nb::handle(builtin)));
  };
  shape_error = derive("ShapeError", "Shapes or strides do not fit.", PyExc_ValueError);
  dtype_error = derive("DTypeError", "A dtype is not accepted.", PyExc_TypeError);
  index_error = derive("IndexError", "A dim or an index is out of range.", PyExc_IndexError);
  value_error = derive("ValueError", "Any other bad argument.", PyExc_ValueError);
  format_error = add_class(m, "FormatError", "A file does not hold what its format demands.",
                           nb::make_tuple(nb::handle(value_error)));
  state_error = add_class(m, "StateError", "The right call at the wrong moment.",
                          nb::make_tuple(nb::handle(error)));
  layout_error = derive("LayoutError", "Layouts do not fit together.", PyExc_TypeError);
  nb::register_exception_translator(translate);
}

}  // namespace loup::python
