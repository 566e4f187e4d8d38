#include <cstdint>
#include <limits>
#include <optional>

#include <nanobind/stl/optional.h>

#include "autograd.h"
#include "bindings.h"
#include "loup/autograd/backward.h"
#include "loup/autograd/hooks.h"
#include "loup/autograd/node.h"
#include "loup/masked/masked_tensor.h"
#include "loup/ops/copy.h"

// Gradients of masked tensors. The record is that of their data; gradients that users see have the
// tensor's mask.

namespace loup::python {

using namespace nb::literals;

namespace {

/// A gradient that a user gives: what does not count is 0.
Tensor gradient_from(const char* operation, nb::handle object) {
  if (const MaskedTensor* const given = masked_tensor_in(object)) return given->to_tensor(0);
  return as_tensor(operation, object);
}

void backward(const MaskedTensor& x, nb::handle gradient, const std::optional<bool>& retain_graph,
              bool create_graph, nb::handle inputs) {
  autograd::BackwardOptions options{.mask = x.get_mask(), .create_graph = create_graph};
  options.retain_graph = retain_graph;
  if (!gradient.is_none()) {
    options.gradient = ops::to(gradient_from("backward", gradient), x.dtype());
  }
  if (!inputs.is_none()) options.inputs = recorded_from("backward", inputs);
  without_gil(std::numeric_limits<std::int64_t>::max(),
              [&] { autograd::backward(x.get_data(), options); });
}

void set_grad(const MaskedTensor& x, nb::handle value) {
  if (value.is_none()) return autograd::set_grad(x.get_data(), {});
  if (masked_tensor_in(value) == nullptr && tensor_in(value) == nullptr) {
    throw_type_error("grad: expected a MaskedTensor, a Tensor or None, got {}", class_name(value));
  }
  autograd::set_grad(x.get_data(), gradient_from("grad", value));
}

/// The hook sees the gradient with the mask that the tensor has now.
autograd::HookHandle register_hook(const MaskedTensor& x, nb::handle function) {
  const auto shown = [mask = x.get_mask()](const Tensor& gradient) {
    return nb::cast(as_masked_tensor(ops::filled(gradient, mask, 0), mask));
  };
  const auto taken = [](nb::handle result) -> Tensor {
    if (masked_tensor_in(result) == nullptr && tensor_in(result) == nullptr) {
      throw_type_error("hook: expected a MaskedTensor, a Tensor or None, got {}",
                       class_name(result));
    }
    return gradient_from("hook", result);
  };
  return autograd::register_hook(x.get_data(), hook_from(function, shown, taken));
}

void bind_records(nb::class_<MaskedTensor>& type) {
  type.def_prop_rw("requires_grad", &MaskedTensor::requires_grad, &MaskedTensor::set_requires_grad,
                   "Whether operations on this tensor are recorded for gradients.")
      .def(
          "requires_grad_",
          [](nb::handle_t<MaskedTensor> self, bool value) {
            masked_tensor_in(self)->set_requires_grad(value);
            return nb::borrow(self);
          },
          "requires_grad"_a = true,
          nb::sig("def requires_grad_(self, requires_grad: bool = True) -> MaskedTensor"),
          "Make this tensor collect gradients, or cut it off the record.")
      .def_prop_ro("is_leaf", &MaskedTensor::is_leaf,
                   "Whether this tensor was made by the user, not computed from recorded ones.")
      .def("detach", &MaskedTensor::detach, "The same elements without a gradient record.")
      .def(
          "detach_",
          [](nb::handle_t<MaskedTensor> self) {
            masked_tensor_in(self)->set_requires_grad(false);
            return nb::borrow(self);
          },
          nb::sig("def detach_(self) -> MaskedTensor"), "Forget the gradient record.");
}

}  // namespace

void bind_masked_gradients(nb::class_<MaskedTensor>& type) {
  bind_records(type);
  type.def_prop_rw(
          "grad", &MaskedTensor::grad, set_grad, nb::for_setter(nb::arg("value").none()),
          nb::for_setter(nb::sig("def grad(self, value: MaskedTensor | Tensor | None, /) -> None")),
          "The gradient collected so far, or None.")
      .def("backward", backward, "gradient"_a.none() = nb::none(),
           "retain_graph"_a.none() = nb::none(), "create_graph"_a = false,
           "inputs"_a.none() = nb::none(),
           nb::sig("def backward(self, gradient: object = None, retain_graph: bool | None = None, "
                   "create_graph: bool = False, inputs: object = None) -> None"),
           "Add the gradient of what counts in this tensor to every leaf it was computed from, or "
           "to inputs.")
      .def(
          "register_hook", register_hook, "hook"_a,
          nb::sig("def register_hook(self, hook: collections.abc.Callable[[MaskedTensor], "
                  "MaskedTensor | Tensor | None]) -> HookHandle"),
          "Call hook with the gradient of this tensor, which has its mask, whenever that is known; "
          "what it returns, unless None, replaces the gradient.")
      .def(
          "retain_grad", [](const MaskedTensor& x) { autograd::retain_grad(x.get_data()); },
          "Keep the gradient of this tensor in grad, though it is no leaf.")
      .def_prop_ro(
          "retains_grad",
          [](const MaskedTensor& x) { return autograd::retains_grad(x.get_data()); },
          "Whether retain_grad() was called for this tensor.");
}

}  // namespace loup::python
