#include "loup/ops/in_place.h"

#include "loup/base/error.h"
#include "loup/kernels/copy.h"

namespace loup::ops {

namespace {

/// Whether a chain of views leads from the tensor of `node` to a leaf.
bool shows_leaf(const autograd::Node* node) {
  while (node != nullptr && node->is_view()) node = node->inputs().front().get();
  return node != nullptr && node->is_leaf();
}

void check_recorded_change(const char* operation, const Tensor& x, const autograd::Inputs& others) {
  autograd::check_record(operation, x);
  bool has_source = false;
  for (std::size_t i = 0; i < others.size(); ++i) {
    autograd::check_record(operation, others[i]);
    has_source |= others[i].requires_grad();
  }
  if (shows_leaf(x.node().get())) {
    throw StateError(
        "{}: expected a tensor that may change while gradients are recorded, got {} that requires "
        "grad; use no_grad, or detach or clone it first",
        operation, x.node()->is_leaf() ? "a leaf" : "a view of a leaf");
  }
  if (has_source && is_floating(x.dtype()) && !x.requires_grad() && x.storage().use_count() > 1) {
    throw StateError(
        "{}: expected to be the only tensor of its memory when it takes up a gradient record, got "
        "one shared with {} others that would not notice; clone it first",
        operation, x.storage().use_count() - 1);
  }
}

}  // namespace

void prepare_in_place(const char* operation, Tensor& x, const autograd::Inputs& others) {
  if (autograd::is_recording()) check_recorded_change(operation, x, others);
  const bool is_empty = x.size() == 0;
  for (int i = 0; i < x.ndim(); ++i) {
    if (!is_empty && x.strides()[i] == 0 && x.shape()[i] > 1) {
      throw ValueError(
          "{}: expected a tensor that holds each element once, got one expanded along "
          "dim {}; clone it first",
          operation, i);
    }
  }
  const bool was_behind = x.is_behind();
  x.prepare_write(operation);
  // An unrecorded change through this very handle is meant to leave its record as it is.
  if (!autograd::is_recording() && !was_behind) x.set_node(x.node());
}

void replace_(const char* operation, Tensor& x, const Tensor& result) {
  prepare_in_place(operation, x, {result});
  kernels::copy(x.shape(), x.array(), result.array());
  if (autograd::is_recorded(x) || autograd::is_recorded(result))
    autograd::replace_node(x, result.node());
}

}  // namespace loup::ops
