#include "loup/tensor/create.h"

#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"

namespace loup::python {

using namespace nb::literals;

namespace {

/// loup.tensor(): always a copy, so that nobody else can change it.
Tensor copy_of(nb::handle data, nb::handle dtype, bool requires_grad) {
  const std::optional<DType> wanted = dtype_from("tensor", dtype);
  const TensorArgument source("tensor", data, wanted ? Precision::whole : Precision::usual);
  const Tensor plain = source->detach();
  Tensor result = without_gil(plain.size(), [&] {
    return wanted && *wanted != plain.dtype() ? ops::to(plain, *wanted) : ops::clone(plain);
  });
  if (requires_grad) autograd::set_requires_grad(result, true);
  return result;
}

Tensor as_array(nb::handle object, nb::handle dtype) {
  const std::optional<DType> wanted = dtype_from("asarray", dtype);
  const TensorArgument shared("asarray", object, wanted ? Precision::whole : Precision::usual);
  return wanted ? without_gil(shared->size(), [&] { return ops::to(*shared, *wanted); }) : *shared;
}

}  // namespace

void bind_create(nb::module_& m) {
  m.def("tensor", copy_of, "data"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
        nb::sig("def tensor(data: object, dtype: object = None, requires_grad: bool = False) -> "
                "Tensor"),
        "A tensor with a copy of data: an array, a number or nested lists.");
  m.def("asarray", as_array, "obj"_a, "dtype"_a.none() = nb::none(),
        nb::sig("def asarray(obj: object, dtype: object = None) -> Tensor"),
        "A tensor that shares the memory of obj where that is possible.");
  m.def("from_dlpack", import_dlpack, "obj"_a, nb::sig("def from_dlpack(obj: object) -> Tensor"),
        "A tensor that shares the memory of an object with __dlpack__.");

  const auto dtype_or = [](const char* operation, nb::handle dtype, DType otherwise) {
    return dtype_from(operation, dtype).value_or(otherwise);
  };
  m.def(
      "empty",
      [=](nb::handle shape, nb::handle dtype) {
        return empty(dims_from("empty", shape), dtype_or("empty", dtype, DType::f32));
      },
      "shape"_a, "dtype"_a.none() = nb::none(),
      nb::sig("def empty(shape: int | collections.abc.Sequence[int], dtype: object = None) -> "
              "Tensor"),
      "Uninitialised elements.");
  m.def(
      "full",
      [](nb::handle shape, nb::handle value, nb::handle dtype) {
        return full(dims_from("full", shape), scalar_from("full", value),
                    dtype_from("full", dtype));
      },
      "shape"_a, "fill_value"_a, "dtype"_a.none() = nb::none(),
      nb::sig(
          "def full(shape: int | collections.abc.Sequence[int], fill_value: float, dtype: object "
          "= None) -> Tensor"),
      "One value everywhere.");
  m.def(
      "full_like",
      [](nb::handle x, nb::handle value, nb::handle dtype) {
        return full_like(*TensorArgument("full_like", x), scalar_from("full_like", value),
                         dtype_from("full_like", dtype));
      },
      "input"_a, "fill_value"_a, "dtype"_a.none() = nb::none(),
      nb::sig("def full_like(input: object, fill_value: float, dtype: object = None) -> Tensor"));
  m.def(
      "empty_like",
      [](nb::handle x, nb::handle dtype) {
        return empty_like(*TensorArgument("empty_like", x), dtype_from("empty_like", dtype));
      },
      "input"_a, "dtype"_a.none() = nb::none(),
      nb::sig("def empty_like(input: object, dtype: object = None) -> Tensor"));
  m.def(
      "arange",
      [](nb::handle start, nb::handle stop, nb::handle step, nb::handle dtype) {
        const bool has_stop = !stop.is_none();
        return arange(has_stop ? scalar_from("arange", start) : Scalar(0),
                      scalar_from("arange", has_stop ? stop : start), scalar_from("arange", step),
                      dtype_from("arange", dtype));
      },
      "start"_a, "stop"_a.none() = nb::none(), "step"_a = 1, "dtype"_a.none() = nb::none(),
      nb::sig(
          "def arange(start: float, stop: float | None = None, step: float = 1, dtype: object = "
          "None) -> Tensor"),
      "Evenly spaced values: arange(stop) or arange(start, stop, step).");
}

}  // namespace loup::python
