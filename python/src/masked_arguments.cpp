#include "loup/masked/masks.h"
#include "masked_define.h"

namespace loup::python {

nb::handle either(const char* operation, const char* ours, nb::handle first, const char* theirs,
                  nb::handle second) {
  if (is_absent(second)) return first;
  if (!is_absent(first)) {
    throw_type_error("{}: expected {} or {}, got both", operation, ours, theirs);
  }
  return second;
}

bool flag_from(const char* operation, const char* argument, nb::handle object) {
  if (is_absent(object) || object.is_none() || object.ptr() == Py_False) return false;
  if (object.ptr() == Py_True) return true;
  throw_type_error("{}: expected {} as a bool, got {}", operation, argument, class_name(object));
}

bool keepdim_from(const char* operation, nb::handle keepdim, nb::handle keepdims) {
  return flag_from(operation, "keepdim",
                   either(operation, "keepdim", keepdim, "keepdims", keepdims));
}

bool is_number(nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyBool_Check(o)) return false;
  // Arrays have __index__, too.
  return PyFloat_Check(o) || (PyIndex_Check(o) != 0 && PySequence_Check(o) == 0);
}

double real_from(const char* operation, const char* argument, nb::handle object) {
  if (!is_number(object)) {
    throw_type_error("{}: expected {} as a number, got {}", operation, argument,
                     class_name(object));
  }
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

std::optional<Tensor> optional_tensor(const char* operation, nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return as_tensor(operation, object);
}

std::optional<Tensor> combined_mask(const char* operation, nb::handle operand, nb::handle mask) {
  const std::optional<Tensor> given = optional_tensor(operation, mask);
  const MaskedTensor* const x = masked_tensor_in(operand);
  return x == nullptr ? given : masked::combined_mask(operation, *x, given);
}

std::int64_t MaskQuery::dim(const char* operation) const {
  if (dims.size() != 1) {
    throw_type_error("output_mask: expected dim as an int for {}, got {} dims", operation,
                     dims.size());
  }
  return dims[0];
}

}  // namespace loup::python
