#include <array>
#include <cerrno>
#include <cstdlib>

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/memory/map_error.h"

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

/// An OSError of ours, and its variants that are also the built-in class for their errno.
struct SystemErrors {
  PyObject* other = nullptr;
  PyObject* not_found = nullptr;
  PyObject* exists = nullptr;
  PyObject* permission = nullptr;

  PyObject* of(int number) const {
    if (number == ENOENT) return not_found;
    if (number == EEXIST) return exists;
    return number == EACCES || number == EPERM || number == EROFS ? permission : other;
  }
};
SystemErrors io_errors;
SystemErrors map_errors;

PyObject* add_class(nb::module_& m, const char* name, const char* doc, nb::handle bases,
                    nb::handle members = {}) {
  // Stubs describe classes where they are defined; to users they are loup's own.
  const bool is_for_stubs = std::getenv("NB_STUBGEN") != nullptr;
  const std::string qualified = std::string(is_for_stubs ? "loup._loup." : "loup.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), members.ptr());
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

/// An OSError takes errno, text and filename as arguments.
void raise(const SystemErrors& classes, const IoError& error) {
  const int number = error.code().value();
  const nb::object path =
      nb::steal(PyUnicode_DecodeFSDefaultAndSize(error.path().data(), std::ssize(error.path())));
  const nb::object arguments = nb::make_tuple(
      number, nb::str(error.what()), path.is_valid() && !error.path().empty() ? path : nb::none());
  PyErr_SetObject(classes.of(number), arguments.ptr());
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
  } catch (const MapError& e) {
    raise(map_errors, e);
  } catch (const IoError& e) {
    raise(io_errors, e);
  }
}

/// `base` and, as <prefix>NotFoundError and so on, its variants.
SystemErrors add_system_errors(nb::module_& m, PyObject* base, const std::string& prefix) {
  const auto derive = [&](const char* name, const char* doc, PyObject* builtin) {
    return add_class(m, (prefix + name).c_str(), doc,
                     nb::make_tuple(nb::handle(base), nb::handle(builtin)));
  };
  return {base, derive("NotFoundError", "There is no such file.", PyExc_FileNotFoundError),
          derive("ExistsError", "The name is taken.", PyExc_FileExistsError),
          derive("PermissionError", "The system does not allow it.", PyExc_PermissionError)};
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
                           nb::make_tuple(nb::handle(value_error), nb::handle(error)));
  state_error = add_class(m, "StateError", "The right call at the wrong moment.",
                          nb::make_tuple(nb::handle(error)));
  layout_error = derive("LayoutError", "Layouts do not fit together.", PyExc_TypeError);

  // The message names the file already; OSError would add it once more.
  nb::dict members;
  members["__str__"] = nb::cpp_function([](nb::handle self) { return self.attr("strerror"); },
                                        nb::is_method(), nb::sig("def __str__(self) -> str"));
  // OSError comes first, otherwise errno and filename would be lost.
  PyObject* io_error =
      add_class(m, "IoError", "A system call failed; has errno and filename.",
                nb::make_tuple(nb::handle(PyExc_OSError), nb::handle(error)), members);
  io_errors = add_system_errors(m, io_error, "Io");
  PyObject* map_error = add_class(m, "MapError", "Mapping or sharing memory failed.",
                                  nb::make_tuple(nb::handle(io_error)));
  map_errors = add_system_errors(m, map_error, "Map");
  nb::register_exception_translator(translate);
}

}  // namespace loup::python
