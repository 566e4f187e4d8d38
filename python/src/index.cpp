#include "index.h"

#include <fmt/format.h>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/index.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::python {

namespace {

/// An end or a step beyond the range of int64 means as far as there are elements.
std::optional<std::int64_t> clipped(nb::handle number) {
  if (number.is_none()) return std::nullopt;
  if (PyLong_Check(number.ptr()) == 0) return integer_from("slice", number);
  return PyNumber_AsSsize_t(number.ptr(), nullptr);
}

ops::Slice slice_from(nb::handle item) {
  return {clipped(item.attr("start")), clipped(item.attr("stop")),
          clipped(item.attr("step")).value_or(1)};
}

bool is_integer(nb::handle item) {
  return PyIndex_Check(item.ptr()) != 0 && !PyBool_Check(item.ptr());
}

/// A list without elements holds indices, not floats.
Tensor tensor_from(nb::handle item) {
  Tensor x = as_tensor("index", item);
  const bool is_list = PyList_Check(item.ptr()) || PyTuple_Check(item.ptr());
  return is_list && x.size() == 0 ? ops::to(x, DType::i64) : x;
}

ops::Index index_from(nb::handle item) {
  PyObject* const o = item.ptr();
  if (item.is_none()) return ops::new_dim;
  if (o == Py_Ellipsis) return ops::ellipsis;
  if (PySlice_Check(o)) return slice_from(item);
  if (PyBool_Check(o)) return full({}, o == Py_True);
  if (tensor_in(item) != nullptr) return *tensor_in(item);
  // Arrays of one element have __index__ too.
  if (is_integer(item) && !nb::hasattr(item, "__len__")) return integer_from("index", item);
  if (PyFloat_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) {
    throw_type_error(
        "index: expected None, Ellipsis, ints, slices and tensors of ints or bool, got {}",
        class_name(item));
  }
  return tensor_from(item);
}

std::vector<ops::Index> items_from(nb::handle key) {
  std::vector<ops::Index> items;
  if (!PyTuple_Check(key.ptr())) {
    items.push_back(index_from(key));
    return items;
  }
  for (nb::handle item : nb::borrow<nb::tuple>(key)) items.push_back(index_from(item));
  return items;
}

/// What is written: a number in the dtype of the tensor, or a tensor.
Tensor source_from(nb::handle value, DType dtype) {
  const bool is_number =
      PyBool_Check(value.ptr()) || PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr());
  if (is_number) return full({}, scalar_from("setitem", value), dtype);
  return as_tensor("setitem", value);
}

}  // namespace

Tensor index(const Tensor& x, nb::handle key) {
  if (PyLong_CheckExact(key.ptr()) && x.ndim() > 0) {
    return ops::select(x, 0, integer_from("index", key));
  }
  const std::vector<ops::Index> items = items_from(key);
  return without_gil(x.size(), [&] { return ops::index(x, items); });
}

MaskedTensor index(const MaskedTensor& x, nb::handle key) {
  return as_masked_tensor(index(x.get_data(), key), index(x.get_mask(), key));
}

void set_index(Tensor& x, nb::handle key, nb::handle value) {
  const std::vector<ops::Index> items = items_from(key);
  const Tensor source = source_from(value, x.dtype());
  without_gil(x.size(), [&] { ops::index_put_(x, items, source); });
}

void set_index(MaskedTensor& x, nb::handle key, nb::handle value) {
  const std::vector<ops::Index> items = items_from(key);
  if (const MaskedTensor* const other = masked_tensor_in(value)) {
    without_gil(x.size(), [&] { x.index_put_(items, other->get_data(), other->get_mask()); });
  } else {
    const Tensor source = source_from(value, x.dtype());
    without_gil(x.size(), [&] { x.index_put_(items, source); });
  }
}

}  // namespace loup::python
