#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <nanobind/nanobind.h>

#include "loup/base/dims.h"
#include "loup/base/dtype.h"
#include "loup/base/parallel.h"
#include "loup/base/scalar.h"
#include "loup/masked/elementwise.h"
#include "loup/masked/masked_tensor.h"
#include "loup/ops/elementwise.h"
#include "loup/tensor/tensor.h"

namespace loup::python {

namespace nb = nanobind;

/// A Python TypeError in the form of our own errors.
template <class... Args>
[[noreturn]] void throw_type_error(fmt::format_string<Args...> text, Args&&... args) {
  throw nb::type_error(fmt::format(text, std::forward<Args>(args)...).c_str());
}
/// The name of an object's class, for messages.
std::string class_name(nb::handle object);

/// loup.float32 and its like.
struct DTypeObject {
  DType value;
};
/// The one Python object for a dtype.
nb::object dtype_object(DType dtype);

// --- what each source adds to the module ---
void bind_errors(nb::module_& m);
void bind_dtype(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_autograd(nb::module_& m);
void bind_create(nb::module_& m);
void bind_files(nb::module_& m);
void bind_gather(nb::module_& m);
void bind_masking(nb::module_& m);
void bind_sort(nb::module_& m);
void bind_search(nb::module_& m);
void bind_join(nb::module_& m);
void bind_layout();
void bind_elementwise(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_logic(nb::module_& m);
void bind_masked(nb::module_& m);
void bind_masked_gradients(nb::class_<MaskedTensor>& type);
void bind_masked_tensor(nb::module_& m);
void bind_nn(nb::module_& m);
void bind_pickling(nb::module_& m);
void bind_random(nb::module_& m);
void bind_selection(nb::module_& m);
void bind_shape(nb::module_& m);
void bind_shm(nb::module_& m);
void bind_system(nb::module_& m);
void bind_views(nb::module_& m);
void bind_windows(nb::module_& m);

// --- from Python (convert.cpp) ---

/// What Python's floats become: float32, or float64 where they are converted to a dtype afterwards.
enum class Precision : std::uint8_t { usual, whole };

/// An argument seen as a tensor: a loup tensor itself, or one that shares or copies the elements of
/// an array, an object with __dlpack__, a number or nested lists.
class TensorArgument : public TensorRef {
 public:
  TensorArgument(const char* operation, nb::handle object, Precision precision = Precision::usual);
};

/// TypeError for a masked array of NumPy: its DLPack and item() know nothing of the mask.
void refuse_numpy_ma(const char* operation, nb::handle object);

/// The tensor inside of a Python object; null when it is not a loup.Tensor.
Tensor* tensor_in(nb::handle object);
MaskedTensor* masked_tensor_in(nb::handle object);
/// Whether it is a bool, an int or a float of Python.
bool is_plain_number(nb::handle object);
/// Whether it makes sense beside a tensor: a tensor, an array, a list or a tuple.
bool is_array_like(nb::handle object);
/// The class of loup.results with that name, for results of several parts.
nb::handle result_class(const char* name);
/// Whether one of them is a MaskedTensor.
bool is_masked(std::initializer_list<nb::handle> objects);
/// The Tensor that a method was called with; TypeError for anything else.
Tensor& tensor_of(nb::handle self);

/// Shares the elements where that is possible.
Tensor as_tensor(const char* operation, nb::handle object);
/// None is no dtype; otherwise a loup dtype, its name, a NumPy dtype, or bool, int, float.
std::optional<DType> dtype_from(const char* operation, nb::handle object);
/// The dtype of a tensor, or what dtype_from() gives; TypeError for None.
DType dtype_or_of(const char* operation, nb::handle object);
/// None gives no dims. TypeError for anything but ints and sequences of ints; bool is not an int.
Dims dims_from(const char* operation, nb::handle object);
/// The positional arguments of x.reshape(2, 3) or x.reshape((2, 3)).
Dims dims_from_args(const char* operation, const nb::args& args);
std::int64_t integer_from(const char* operation, nb::handle object);
Scalar scalar_from(const char* operation, nb::handle object);
/// A str, bytes or os.PathLike.
std::filesystem::path path_from(nb::handle object);

/// A MaskedTensor, or a tensor all of which counts.
MaskedTensor masked_from(const char* operation, nb::handle object);

/// A number as it is; anything else as a tensor.
ops::Operand operand_from(const char* operation, nb::handle object);
/// The same, or a MaskedTensor.
masked::MaskedOperand masked_operand_from(const char* operation, nb::handle object);

nb::tuple tuple_of(const Dims& dims);

/// The dims in reverse order, as a view. (views.cpp)
Tensor reversed(const Tensor& x);

// --- DLPack (dlpack.cpp) ---
Tensor import_dlpack(nb::handle object);
nb::object export_dlpack(const Tensor& x, nb::handle max_version, nb::handle dl_device,
                         nb::handle copy);
/// The buffer protocol of loup.Tensor.
extern PyType_Slot tensor_slots[];

/// Runs long work without the interpreter's lock, interruptible by Ctrl-C. Short work keeps the
/// lock: giving it up costs more than the work.
inline constexpr std::int64_t worth_it = 16 * 1024;  // elements
template <class Work>
auto without_gil(std::int64_t elements, Work&& work) {
  if (elements < worth_it) return work();
  const nb::gil_scoped_release release;
  const InterruptScope scope([] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  return work();
}

}  // namespace loup::python
