#include "loup/tensor/create.h"

#include <nanobind/stl/optional.h>

#include "autograd.h"
#include "define.h"
#include "loup/autograd/node.h"
#include "loup/masked/create.h"
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

/// A shape, and what it is filled with.
void bind_full(nb::module_& m) {
  m.def(
      "empty",
      [](nb::handle shape, nb::handle dtype, bool requires_grad) {
        const DType wanted = dtype_from("empty", dtype).value_or(DType::f32);
        return as_leaf(empty(dims_from("empty", shape), wanted), requires_grad);
      },
      "shape"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
      nb::sig("def empty(shape: int | collections.abc.Sequence[int], dtype: object = None, "
              "requires_grad: bool = False) -> Tensor"),
      "Uninitialised elements.");
  m.def(
      "full",
      [](nb::handle shape, nb::handle value, nb::handle dtype, bool requires_grad) {
        return as_leaf(
            full(dims_from("full", shape), scalar_from("full", value), dtype_from("full", dtype)),
            requires_grad);
      },
      "shape"_a, "fill_value"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
      nb::sig(
          "def full(shape: int | collections.abc.Sequence[int], fill_value: float, dtype: object "
          "= None, requires_grad: bool = False) -> Tensor"),
      "One value everywhere.");
}

/// The shape of another tensor; of a masked one also the mask.
void bind_like(nb::module_& m) {
  m.def(
      "full_like",
      [](nb::handle input, nb::handle value, nb::handle dtype, bool requires_grad) {
        const Scalar number = scalar_from("full_like", value);
        const std::optional<DType> wanted = dtype_from("full_like", dtype);
        return with_input("full_like", input, [&](const auto& x) {
          using loup::full_like;  // both: x decides
          using masked::full_like;
          return as_leaf(full_like(x, number, wanted), requires_grad);
        });
      },
      "input"_a, "fill_value"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
      nb::sig("def full_like(input: object, fill_value: float, dtype: object = None, "
              "requires_grad: bool = False) -> Tensor"),
      "One value everywhere, with the shape of input, and its dtype unless another is given.");
  m.def(
      "empty_like",
      [](nb::handle input, nb::handle dtype, bool requires_grad) {
        const std::optional<DType> wanted = dtype_from("empty_like", dtype);
        return with_input("empty_like", input, [&](const auto& x) {
          using loup::empty_like;  // both: x decides
          using masked::empty_like;
          return as_leaf(empty_like(x, wanted), requires_grad);
        });
      },
      "input"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false,
      nb::sig("def empty_like(input: object, dtype: object = None, requires_grad: bool = False) -> "
              "Tensor"),
      "Uninitialised elements, with the shape of input, and its dtype unless another is given.");
}

// --- new_zeros and its like: plain tensors, of the dtype of another unless one is given ---

DType new_dtype(const char* operation, nb::handle self, nb::handle dtype) {
  return dtype_or_of(operation, dtype.is_none() ? self : dtype);
}

void define_new(const char* name, Tensor (*make)(const Shape&, DType), const char* summary) {
  const char* const signature =
      "(input: object, *size: int | collections.abc.Sequence[int], dtype: object = None, "
      "requires_grad: bool = False) -> Tensor";
  define_typed_methods(
      name, signature, signature,
      [name, make](nb::handle self, const nb::args& size, nb::handle dtype, bool requires_grad) {
        return as_leaf(make(dims_from_args(name, size), new_dtype(name, self, dtype)),
                       requires_grad);
      },
      summary, "size"_a, "dtype"_a.none() = nb::none(), "requires_grad"_a = false);
}

void bind_new() {
  define_new("new_empty", empty, "A plain tensor of uninitialised elements, of this dtype.");
  define_new("new_zeros", zeros, "A plain tensor of zeros, of this dtype.");
  define_new("new_ones", ones, "A plain tensor of ones, of this dtype.");
  const char* const of_value =
      "(input: object, size: int | collections.abc.Sequence[int], fill_value: float, *, dtype: "
      "object = None, requires_grad: bool = False) -> Tensor";
  define_typed_methods(
      "new_full", of_value, of_value,
      [](nb::handle self, nb::handle size, nb::handle value, nb::handle dtype, bool requires_grad) {
        return as_leaf(full(dims_from("new_full", size), scalar_from("new_full", value),
                            new_dtype("new_full", self, dtype)),
                       requires_grad);
      },
      "A plain tensor of one value, of this dtype.", "size"_a, "fill_value"_a, nb::kw_only(),
      "dtype"_a.none() = nb::none(), "requires_grad"_a = false);
  const char* const of_data =
      "(input: object, data: object, *, dtype: object = None, requires_grad: bool = False) -> "
      "Tensor";
  define_typed_methods(
      "new_tensor", of_data, of_data,
      [](nb::handle self, nb::handle data, nb::handle dtype, bool requires_grad) {
        return copy_of(data, dtype_object(new_dtype("new_tensor", self, dtype)), requires_grad);
      },
      "A plain tensor with a copy of data, of this dtype.", "data"_a, nb::kw_only(),
      "dtype"_a.none() = nb::none(), "requires_grad"_a = false);
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

  bind_full(m);
  bind_like(m);
  bind_new();
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
