#include "loup/ops/in_place.h"

#include <cstdint>
#include <cstdlib>

#include "loup/base/axes.h"
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

/// Whether every stride steps over all that the smaller ones reach: then no two places are one
/// element. What views make of whole tensors nests, but for windows that overlap.
bool nests(const Layout& layout) {
  Axes<1> axes;
  for (int i = 0; i < layout.shape.size(); ++i) axes.push({layout.shape[i], {layout.strides[i]}});
  axes.sort_by_step(0);
  std::int64_t reach = 0;
  while (!axes.empty()) {
    const Axis<1> axis = axes.pop();
    const std::int64_t step = std::abs(axis.step[0]);
    if (step <= reach) return false;
    reach += (axis.size - 1) * step;
  }
  return true;
}

void check_elements_once(const char* operation, const Tensor& x) {
  if (x.size() == 0 || x.is_contiguous()) return;
  for (int i = 0; i < x.ndim(); ++i) {
    if (x.strides()[i] == 0 && x.shape()[i] > 1) {
      throw ValueError(
          "{}: expected a tensor that holds each element once, got one expanded along "
          "dim {}; clone it first",
          operation, i);
    }
  }
  if (!nests(x.layout())) {
    throw ValueError(
        "{}: expected a tensor that holds each element once, got overlapping ones: shape {} with "
        "strides {}; clone it first",
        operation, x.shape(), x.strides());
  }
}

}  // namespace

void check_in_place(const char* operation, const Tensor& x, const autograd::Inputs& others) {
  if (autograd::is_recording()) check_recorded_change(operation, x, others);
  check_elements_once(operation, x);
  x.check_writable(operation);
}

void prepare_in_place(const char* operation, Tensor& x, const autograd::Inputs& others) {
  check_in_place(operation, x, others);
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
