#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include "autograd.h"
#include "bindings.h"
#include "loup/autograd/hooks.h"
#include "loup/masked/gradients.h"

namespace loup::python {

using namespace nb::literals;

namespace {

using masked::AnyTensor;

AnyTensor masked_gradient_from(const char* operation, nb::handle object) {
  std::optional<AnyTensor> found = any_tensor_in(object);
  if (!found) {
    throw_type_error("{}: expected a MaskedTensor, a Tensor or None, got {}", operation,
                     class_name(object));
  }
  return *std::move(found);
}

void set_masked_grad(const MaskedTensor& x, nb::handle value) {
  if (value.is_none()) return masked::set_grad(x, {});
  masked::set_grad(x, masked_gradient_from("grad", value));
}

autograd::HookHandle register_masked_hook(const MaskedTensor& x, nb::handle function) {
  const auto hook =
      [kept = hook_function(function)](const MaskedTensor& gradient) -> std::optional<AnyTensor> {
    const nb::gil_scoped_acquire acquire;
    const nb::object result = (*kept)(gradient);
    if (result.is_none()) return std::nullopt;
    return masked_gradient_from("hook", result);
  };
  return masked::register_hook(x, hook);
}

void bind_masked_records(nb::class_<MaskedTensor>& type) {
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
  bind_masked_records(type);
  type.def_prop_rw(
          "grad", &MaskedTensor::grad, set_masked_grad, nb::for_setter(nb::arg("value").none()),
          nb::for_setter(nb::sig("def grad(self, value: MaskedTensor | Tensor | None, /) -> None")),
          "The gradient collected so far, or None.")
      .def("backward", run_backward, "gradient"_a.none() = nb::none(),
           "retain_graph"_a.none() = nb::none(), "create_graph"_a = false,
           "inputs"_a.none() = nb::none(),
           nb::sig("def backward(self, gradient: object = None, retain_graph: bool | None = None, "
                   "create_graph: bool = False, inputs: Tensor | MaskedTensor | "
                   "collections.abc.Sequence[Tensor | MaskedTensor] | None = None) -> None"),
           "Add the gradient of what counts in this tensor to every leaf it was computed from, or "
           "to inputs.")
      .def(
          "register_hook", register_masked_hook, "hook"_a,
          nb::sig("def register_hook(self, hook: collections.abc.Callable[[MaskedTensor], "
                  "MaskedTensor | Tensor | None]) -> HookHandle"),
          "Call hook with the gradient of this tensor, which has its mask, whenever that is known; "
          "what it returns, unless None, replaces the gradient.")
      .def("retain_grad", &MaskedTensor::retain_grad,
           "Keep the gradient of this tensor in grad, though it is no leaf.")
      .def_prop_ro(
          "retains_grad",
          [](const MaskedTensor& x) { return autograd::retains_grad(x.get_data()); },
          "Whether retain_grad() was called for this tensor.");
}

}  // namespace loup::python
