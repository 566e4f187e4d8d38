#pragma once

#include <vector>

#include "bindings.h"

// Arguments that several operators take in the same way.

namespace loup::python {

/// NumPy's `axis` where it was given, otherwise `dim`.
inline nb::handle dim_or_axis(nb::handle dim, nb::handle axis) {
  return axis.is_none() ? dim : axis;
}

/// A sequence of tensors, or of what becomes one.
inline std::vector<Tensor> tensors_from(const char* operation, nb::handle object) {
  if (PySequence_Check(object.ptr()) == 0 || PyUnicode_Check(object.ptr()) != 0) {
    throw_type_error("{}: expected a sequence of tensors, got {}", operation, class_name(object));
  }
  std::vector<Tensor> tensors;
  for (nb::handle item : nb::borrow<nb::sequence>(object)) {
    tensors.push_back(as_tensor(operation, item));
  }
  return tensors;
}

/// Whether one of a sequence is a MaskedTensor.
inline bool has_masked(nb::handle object) {
  if (PySequence_Check(object.ptr()) == 0) return false;
  for (nb::handle item : nb::borrow<nb::sequence>(object)) {
    if (masked_tensor_in(item) != nullptr) return true;
  }
  return false;
}

inline std::int64_t total_size(const std::vector<Tensor>& tensors) {
  std::int64_t total = 0;
  for (const Tensor& x : tensors) total += x.size();
  return total;
}

inline nb::tuple tuple_of(const std::vector<Tensor>& tensors) {
  nb::list items;
  for (const Tensor& x : tensors) items.append(x);
  return nb::tuple(items);
}

}  // namespace loup::python
