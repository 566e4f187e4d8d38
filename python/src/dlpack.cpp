#include "loup/io/dlpack.h"

#include <fmt/format.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"

namespace loup::python {

namespace {

constexpr const char* capsule_name = "dltensor";
constexpr const char* versioned_name = "dltensor_versioned";

[[noreturn]] void throw_buffer_error(const std::string& text) {
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw nb::python_error();
}

/// A capsule that nobody took over frees what it holds.
template <class Managed>
void destroy_capsule(PyObject* capsule, const char* unused_name) {
  if (PyCapsule_IsValid(capsule, unused_name) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, unused_name));
  managed->deleter(managed);
}

template <class Managed>
nb::object capsule_of(Managed* managed, const char* name, PyCapsule_Destructor destructor) {
  PyObject* capsule = PyCapsule_New(managed, name, destructor);
  if (capsule == nullptr) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

/// Whoever lent the memory may run Python code when it gets it back.
template <class Managed>
Tensor take_over(PyObject* capsule, const char* name, const char* used_name) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed == nullptr) throw nb::python_error();
  Tensor result = dlpack::from_dlpack(managed);
  PyCapsule_SetName(capsule, used_name);
  return result;
}

nb::object ask_for_capsule(nb::handle object) {
  const nb::object method = object.attr("__dlpack__");
  try {
    return method(nb::arg("max_version") =
                      nb::make_tuple(dlpack::version.major, dlpack::version.minor));
  } catch (const nb::python_error& error) {
    // Libraries from before DLPack 1 do not know the argument.
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return method();
}

/// The first of the two integers in `argument`, as dl_device and max_version have them.
std::int64_t first_of_pair(const char* argument, nb::handle pair) {
  if (PyTuple_Check(pair.ptr()) == 0 || nb::len(pair) != 2) {
    throw_type_error("__dlpack__: expected {} as a tuple of two ints, got {}", argument,
                     class_name(pair));
  }
  return integer_from("__dlpack__", pair[0]);
}

bool is_below_version_1(nb::handle max_version) {
  return max_version.is_none() || first_of_pair("max_version", max_version) < 1;
}

}  // namespace

Tensor import_dlpack(nb::handle object) {
  if (PyCapsule_CheckExact(object.ptr()) != 0) {
    throw_type_error("from_dlpack: expected an object with __dlpack__, got a capsule");
  }
  if (!nb::hasattr(object, "__dlpack__")) {
    throw_type_error("from_dlpack: expected an object with __dlpack__, got {}", class_name(object));
  }
  refuse_numpy_ma("from_dlpack", object);
  const nb::object capsule = ask_for_capsule(object);
  if (PyCapsule_IsValid(capsule.ptr(), versioned_name) != 0) {
    return take_over<dlpack::ManagedTensorVersioned>(capsule.ptr(), versioned_name,
                                                     "used_dltensor_versioned");
  }
  return take_over<dlpack::ManagedTensor>(capsule.ptr(), capsule_name, "used_dltensor");
}

nb::object export_dlpack(const Tensor& x, nb::handle max_version, nb::handle dl_device,
                         nb::handle copy) {
  if (!dl_device.is_none()) {
    const std::int64_t device = first_of_pair("dl_device", dl_device);
    if (device != dlpack::device_cpu) {
      throw_buffer_error(
          fmt::format("__dlpack__: expected the CPU as device, got DLPack device type {}", device));
    }
  }
  if (!copy.is_none() && PyBool_Check(copy.ptr()) == 0) {
    throw_type_error("__dlpack__: expected copy as a bool or None, got {}", class_name(copy));
  }
  const bool copies = copy.ptr() == Py_True;
  const Tensor lent = copies ? ops::clone(x.detach()) : x;
  if (is_below_version_1(max_version)) {
    if (!lent.storage().is_writable()) {
      throw_buffer_error(
          "__dlpack__: expected a consumer of DLPack 1 for a read-only tensor, got "
          "one of the form before; clone the tensor first");
    }
    return capsule_of(dlpack::to_dlpack_unversioned(lent), capsule_name, [](PyObject* capsule) {
      destroy_capsule<dlpack::ManagedTensor>(capsule, capsule_name);
    });
  }
  return capsule_of(dlpack::to_dlpack(lent, copies ? std::uint64_t{dlpack::is_copied} : 0),
                    versioned_name, [](PyObject* capsule) {
                      destroy_capsule<dlpack::ManagedTensorVersioned>(capsule, versioned_name);
                    });
}

// --- buffer protocol ---

namespace {

/// What a buffer keeps alive, and the arrays its view points to.
struct Lease {
  Tensor tensor;
  Py_ssize_t shape[max_ndim];
  Py_ssize_t strides[max_ndim];
};

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "?";
    case DType::u8: return "B";
    case DType::i8: return "b";
    case DType::i16: return "h";
    case DType::i32: return "i";
    case DType::i64: return "q";
    case DType::f16: return "e";
    case DType::f32: return "f";
    case DType::f64: return "d";
    case DType::bf16: break;
  }
  return nullptr;
}

bool is_column_major(const Tensor& x) {
  std::int64_t step = 1;
  for (int i = 0; i < x.ndim(); ++i) {
    if (x.shape()[i] != 1 && x.strides()[i] != step) return x.size() == 0;
    step *= x.shape()[i];
  }
  return true;
}

/// Why `x` cannot be lent by a buffer with these flags; null when it can.
const char* refusal(const Tensor& x, int flags) {
  if (format_of(x.dtype()) == nullptr) {
    return "buffer: expected a dtype that buffers can name, got bfloat16; convert it with "
           "to(loup.float32)";
  }
  if (x.requires_grad()) {
    return "buffer: expected a tensor without a gradient record, got one that requires grad; "
           "detach "
           "it first";
  }
  if ((flags & PyBUF_WRITABLE) != 0 && !x.storage().is_writable()) {
    return "buffer: expected writable memory, got a read-only tensor; clone it first";
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !x.is_contiguous()) {
    return "buffer: expected a contiguous tensor, got one with strides";
  }
  if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !x.is_contiguous()) {
    return "buffer: expected a C-contiguous tensor, got one with other strides";
  }
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !is_column_major(x)) {
    return "buffer: expected a Fortran-contiguous tensor, got one with other strides";
  }
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !x.is_contiguous() &&
      !is_column_major(x)) {
    return "buffer: expected a contiguous tensor, got one with other strides";
  }
  return nullptr;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  if (!nb::inst_ready(nb::handle(self))) {
    PyErr_SetString(PyExc_BufferError, "buffer: expected a tensor, got an object without __init__");
    return -1;
  }
  const Tensor& x = *nb::inst_ptr<Tensor>(nb::handle(self));
  if (const char* reason = refusal(x, flags)) {
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
  }
  auto* const lease = new (std::nothrow) Lease{x, {}, {}};
  if (lease == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  const Py_ssize_t bytes = item_bytes(x.dtype());
  for (int i = 0; i < x.ndim(); ++i) {
    lease->shape[i] = x.shape()[i];
    lease->strides[i] = x.strides()[i] * bytes;
  }
  view->obj = self;
  Py_INCREF(self);
  view->buf = x.raw_data();
  view->len = x.bytes();
  view->readonly = x.storage().is_writable() ? 0 : 1;
  view->itemsize = bytes;
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format_of(x.dtype())) : nullptr;
  view->ndim = x.ndim();
  view->shape = (flags & PyBUF_ND) != 0 ? lease->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? lease->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = lease;
  return 0;
}

void release_buffer(PyObject* /*self*/, Py_buffer* view) {
  delete static_cast<Lease*>(view->internal);
}

}  // namespace

PyType_Slot tensor_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

}  // namespace loup::python
