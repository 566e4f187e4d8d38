#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/masked/masks.h"
#include "loup/tensor/create.h"

namespace loup::python {

namespace {

constexpr const char* tensor_like = "a tensor, an array, a number or nested lists of numbers";

/// Exact types first: this is asked in every call.
template <class T>
T* instance_in(nb::handle object) {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
  if (Py_TYPE(object.ptr()) != type && !nb::isinstance<T>(object)) return nullptr;
  if (!nb::inst_ready(object)) {
    throw_type_error("{}: expected an object made by its constructor, got one without __init__",
                     class_name(object));
  }
  return nb::inst_ptr<T>(object);
}

/// NumPy's float64 is a Python float too, but it says that it is double.
bool has_no_dtype(nb::handle object) {
  return is_plain_number(object) &&
         (PyFloat_Check(object.ptr()) == 0 || PyFloat_CheckExact(object.ptr()) != 0);
}

bool is_list(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}

/// What Python's floats become.
DType float_of(Precision precision) {
  return precision == Precision::whole ? DType::f64 : DType::f32;
}

/// Nested lists of Python numbers, read once to find shape and dtype and once to copy.
class NestedList {
 public:
  NestedList(const char* operation, nb::handle object) : operation_(operation) { scan(object, 0); }
  /// False when there is something else than numbers inside.
  bool is_plain() const { return is_plain_; }

  Tensor read(nb::handle object, Precision precision) const {
    const DType dtype = dtype_ == DType::f32 ? float_of(precision) : dtype_;
    Tensor result = empty(shape_, dtype);
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      auto to = reinterpret_cast<T*>(result.raw_data());
      copy<T>(object, to);
    });
    return result;
  }

 private:
  void scan(nb::handle object, int depth) {
    if (!is_list(object)) {
      if (depth != shape_.size()) throw_ragged();
      is_complete_ = true;
      is_plain_ &= has_no_dtype(object);
      if (!is_plain_) refuse_numpy_ma(operation_, object);
      if (is_plain_) dtype_ = promote(dtype_, scalar_from(operation_, object).natural_dtype());
      return;
    }
    const auto size = static_cast<std::int64_t>(nb::len(object));
    if (depth == shape_.size()) {
      if (is_complete_) throw_ragged();
      shape_.push_back(size);
      if (size == 0) {
        dtype_ = DType::f32;
        is_complete_ = true;
      }
    } else if (shape_[depth] != size) {
      throw_ragged();
    }
    for (nb::handle item : nb::borrow<nb::sequence>(object)) scan(item, depth + 1);
  }

  template <class T>
  void copy(nb::handle object, T*& to) const {
    if (!is_list(object)) {
      *to++ = scalar_from(operation_, object).to<T>();
      return;
    }
    for (nb::handle item : nb::borrow<nb::sequence>(object)) copy(item, to);
  }

  [[noreturn]] void throw_ragged() const {
    throw ShapeError("{}: expected nested lists of equal lengths, got ragged ones", operation_);
  }

  const char* operation_;
  Shape shape_;
  bool is_complete_ = false;  // the depth is known: no new dims
  bool is_plain_ = true;
  DType dtype_ = DType::boolean;
};

/// Through NumPy, when it is there: lists of arrays, NumPy scalars, objects with __array__.
Tensor through_numpy(const char* operation, nb::handle object) {
  try {
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(object);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (std::string_view("biufc").find(kind) != std::string_view::npos) return import_dlpack(array);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
  }
  throw_type_error("{}: expected {}, got {}", operation, tensor_like, class_name(object));
}

Tensor convert_object(const char* operation, nb::handle object, Precision precision) {
  if (is_plain_number(object)) {
    const Scalar value = scalar_from(operation, object);
    const bool is_float = is_floating(value.natural_dtype());
    if (!has_no_dtype(object)) return full({}, value, DType::f64);
    return is_float ? full({}, value, float_of(precision)) : full({}, value);
  }
  if (masked_tensor_in(object) != nullptr) {
    throw_type_error("{}: expected a plain tensor, got a MaskedTensor; use get_data or to_tensor",
                     operation);
  }
  if (is_list(object)) {
    const NestedList list(operation, object);
    return list.is_plain() ? list.read(object, precision) : through_numpy(operation, object);
  }
  refuse_numpy_ma(operation, object);
  if (nb::hasattr(object, "__dlpack__")) return import_dlpack(object);
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || object.is_none()) {
    throw_type_error("{}: expected {}, got {}", operation, tensor_like, class_name(object));
  }
  return through_numpy(operation, object);
}

}  // namespace

std::string class_name(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

void refuse_numpy_ma(const char* operation, nb::handle object) {
  if (!nb::hasattr(object.type(), "hardmask")) return;
  throw_type_error(
      "{}: expected a plain array, got a numpy.ma {}, whose mask would be lost; use from_numpy_ma",
      operation, class_name(object));
}

Tensor* tensor_in(nb::handle object) { return instance_in<Tensor>(object); }
MaskedTensor* masked_tensor_in(nb::handle object) { return instance_in<MaskedTensor>(object); }

bool is_plain_number(nb::handle object) {
  PyObject* const o = object.ptr();
  return PyBool_Check(o) || PyLong_Check(o) || PyFloat_Check(o);
}

bool is_array_like(nb::handle object) {
  return tensor_in(object) != nullptr || masked_tensor_in(object) != nullptr ||
         nb::hasattr(object, "__array__") || nb::hasattr(object, "__dlpack__") ||
         PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}

nb::handle result_class(const char* name) {
  return nb::object(nb::module_::import_("loup.results").attr(name)).release();
}

bool is_masked(std::initializer_list<nb::handle> objects) {
  return std::any_of(objects.begin(), objects.end(),
                     [](nb::handle object) { return masked_tensor_in(object) != nullptr; });
}

Tensor& tensor_of(nb::handle self) {
  Tensor* const x = tensor_in(self);
  if (x == nullptr) throw_type_error("self: expected a Tensor, got {}", class_name(self));
  return *x;
}

MaskedTensor masked_from(const char* operation, nb::handle object) {
  if (const MaskedTensor* const x = masked_tensor_in(object)) return *x;
  return masked::all_valid(as_tensor(operation, object));
}

namespace {

TensorRef seen_as_tensor(const char* operation, nb::handle object, Precision precision) {
  if (const Tensor* const tensor = tensor_in(object)) return *tensor;
  return convert_object(operation, object, precision);
}

}  // namespace

TensorArgument::TensorArgument(const char* operation, nb::handle object, Precision precision)
    : TensorRef(seen_as_tensor(operation, object, precision)) {}

Tensor as_tensor(const char* operation, nb::handle object) {
  return *TensorArgument(operation, object);
}

std::optional<DType> dtype_from(const char* operation, nb::handle object) {
  if (object.is_none()) return std::nullopt;
  if (const auto* direct = instance_in<DTypeObject>(object)) return direct->value;
  PyObject* const o = object.ptr();
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::boolean;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::i64;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::f32;
  std::string text;
  if (PyUnicode_Check(o)) {
    text = nb::cast<std::string>(object);
  } else if (nb::hasattr(object, "name")) {  // a NumPy dtype
    text = nb::cast<std::string>(nb::str(object.attr("name")));
  } else if (nb::hasattr(object, "__name__")) {  // a NumPy scalar type
    text = nb::cast<std::string>(object.attr("__name__"));
  } else {
    throw_type_error("{}: expected a dtype, got {}", operation, class_name(object));
  }
  for (int i = 0; i < dtype_count; ++i) {
    if (name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  }
  throw DTypeError("{}: expected a dtype such as float32 or int64, got {}", operation, text);
}

DType dtype_or_of(const char* operation, nb::handle object) {
  if (const Tensor* const x = tensor_in(object)) return x->dtype();
  if (const MaskedTensor* const x = masked_tensor_in(object)) return x->dtype();
  const std::optional<DType> dtype = dtype_from(operation, object);
  if (!dtype) throw_type_error("{}: expected a dtype or a tensor, got None", operation);
  return *dtype;
}

std::int64_t integer_from(const char* operation, nb::handle object) {
  if (PyLong_CheckExact(object.ptr())) {  // nearly always
    const Py_ssize_t value = PyLong_AsSsize_t(object.ptr());
    if (value != -1 || PyErr_Occurred() == nullptr) return value;
    PyErr_Clear();
  }
  if (PyBool_Check(object.ptr()) || PyIndex_Check(object.ptr()) == 0) {
    throw_type_error("{}: expected an int, got {}", operation, class_name(object));
  }
  const Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), PyExc_IndexError);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

Dims dims_from(const char* operation, nb::handle object) {
  if (object.is_none()) return {};
  if (PyLong_CheckExact(object.ptr())) return integer_from(operation, object);
  const bool is_sequence =
      is_list(object) || (PySequence_Check(object.ptr()) != 0 && PyIndex_Check(object.ptr()) == 0 &&
                          PyUnicode_Check(object.ptr()) == 0);
  if (!is_sequence) return integer_from(operation, object);
  Dims dims;
  for (nb::handle item : nb::borrow<nb::sequence>(object)) {
    dims.push_back(integer_from(operation, item));
  }
  return dims;
}

Dims dims_from_args(const char* operation, const nb::args& args) {
  if (args.size() == 1 && is_list(args[0])) return dims_from(operation, args[0]);
  return dims_from(operation, args);
}

Scalar scalar_from(const char* operation, nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyBool_Check(o)) return o == Py_True;
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow != 0) {
      throw ValueError("{}: expected an int of 64 bits, got {}", operation,
                       nb::cast<std::string>(nb::str(object)));
    }
    return static_cast<std::int64_t>(value);
  }
  if (PyFloat_Check(o)) return PyFloat_AsDouble(o);
  if (const Tensor* x = tensor_in(object)) {
    if (is_floating(x->dtype())) return x->item<double>();
    if (x->dtype() == DType::boolean) return x->item<bool>();
    return x->item<std::int64_t>();
  }
  refuse_numpy_ma(operation, object);
  if (nb::hasattr(object, "item")) return scalar_from(operation, object.attr("item")());
  throw_type_error("{}: expected a number, got {}", operation, class_name(object));
}

std::filesystem::path path_from(nb::handle object) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), static_cast<void*>(&encoded)) == 0)
    throw nb::python_error();
  const nb::object owner = nb::steal(encoded);
  return std::string(PyBytes_AsString(encoded), static_cast<std::size_t>(PyBytes_Size(encoded)));
}

nb::tuple tuple_of(const Dims& dims) {
  nb::list items;
  for (const std::int64_t value : dims) items.append(value);
  return nb::tuple(items);
}

}  // namespace loup::python
