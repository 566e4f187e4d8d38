#include "autograd.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/hooks.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"

namespace loup::python {

using namespace nb::literals;

namespace {

const Tensor& tensor_or_refuse(const char* operation, nb::handle object) {
  const Tensor* const tensor = tensor_in(object);
  if (tensor == nullptr) {
    throw_type_error("{}: expected a Tensor, got {}", operation, class_name(object));
  }
  return *tensor;
}

/// A tensor or a sequence of tensors.
std::vector<Tensor> tensors_from(const char* operation, nb::handle object) {
  if (tensor_in(object) != nullptr) return {*tensor_in(object)};
  if (!PySequence_Check(object.ptr())) {
    throw_type_error("{}: expected a Tensor or a sequence of them, got {}", operation,
                     class_name(object));
  }
  std::vector<Tensor> result;
  for (const nb::handle item : nb::borrow<nb::object>(object)) {
    result.push_back(tensor_or_refuse(operation, item));
  }
  return result;
}

/// None, what can be made a tensor, or for several outputs a sequence of those.
std::vector<std::optional<Tensor>> gradients_from(const char* operation, nb::handle object,
                                                  std::span<const Tensor> outputs) {
  if (object.is_none()) return {};
  const auto gradient_of = [&](nb::handle given, std::size_t i) -> std::optional<Tensor> {
    if (given.is_none()) return std::nullopt;
    const Tensor gradient = as_tensor(operation, given);
    return i < outputs.size() ? ops::to(gradient, outputs[i].dtype()) : gradient;
  };
  if (tensor_in(object) != nullptr || !PySequence_Check(object.ptr())) {
    return {gradient_of(object, 0)};
  }
  std::vector<std::optional<Tensor>> result;
  for (const nb::handle item : nb::borrow<nb::object>(object)) {
    result.push_back(gradient_of(item, result.size()));
  }
  return result;
}

/// Runs without the interpreter's lock; hooks take it again. Ctrl-C ends the run.
template <class Work>
auto run(Work&& work) {
  return without_gil(std::numeric_limits<std::int64_t>::max(), std::forward<Work>(work));
}

Tensor hook_result(nb::handle result) {
  if (tensor_in(result) == nullptr) {
    throw_type_error("hook: expected a Tensor or None, got {}", class_name(result));
  }
  return *tensor_in(result);
}

void backward(const Tensor& x, nb::handle gradient, const std::optional<bool>& retain_graph,
              bool create_graph, nb::handle inputs) {
  autograd::BackwardOptions options;
  options.retain_graph = retain_graph;
  options.create_graph = create_graph;
  if (!gradient.is_none()) {
    options.gradient = ops::to(as_tensor("backward", gradient), x.dtype());
  }
  if (!inputs.is_none()) options.inputs = tensors_from("backward", inputs);
  run([&] { autograd::backward(x, options); });
}

void backward_of_several(nb::handle tensors, nb::handle gradients,
                         const std::optional<bool>& retain_graph, bool create_graph,
                         nb::handle inputs) {
  const std::vector<Tensor> roots = tensors_from("backward", tensors);
  const auto given = gradients_from("backward", gradients, roots);
  autograd::BackwardOptions options;
  options.retain_graph = retain_graph;
  options.create_graph = create_graph;
  if (!inputs.is_none()) options.inputs = tensors_from("backward", inputs);
  run([&] { autograd::backward(roots, given, options); });
}

nb::tuple grad(nb::handle outputs, nb::handle inputs, nb::handle gradients,
               const std::optional<bool>& retain_graph, bool create_graph, bool allow_unused) {
  const std::vector<Tensor> roots = tensors_from("grad", outputs);
  const std::vector<Tensor> wanted = tensors_from("grad", inputs);
  const autograd::GradOptions options{.gradients = gradients_from("grad", gradients, roots),
                                      .retain_graph = retain_graph,
                                      .create_graph = create_graph,
                                      .allow_unused = allow_unused};
  const auto found = run([&] { return autograd::grad(roots, wanted, options); });
  nb::list result;
  for (const std::optional<Tensor>& gradient : found) result.append(nb::cast(gradient));
  return nb::tuple(result);
}

void bind_records(nb::class_<Tensor>& tensor) {
  tensor
      .def_prop_rw(
          "requires_grad", &Tensor::requires_grad,
          [](Tensor& x, bool value) { autograd::set_requires_grad(x, value); },
          "Whether operations on this tensor are recorded for gradients.")
      .def(
          "requires_grad_",
          [](nb::handle_t<Tensor> self, bool value) {
            autograd::set_requires_grad(*tensor_in(self), value);
            return nb::borrow(self);
          },
          "requires_grad"_a = true,
          nb::sig("def requires_grad_(self, requires_grad: bool = True) -> Tensor"),
          "Make this tensor collect gradients, or cut it off the record.")
      .def_prop_ro(
          "is_leaf", [](const Tensor& x) { return !x.requires_grad() || x.node()->is_leaf(); },
          "Whether this tensor was made by the user, not computed from recorded ones.")
      .def("detach", &Tensor::detach, "The same elements without a gradient record.")
      .def(
          "detach_",
          [](nb::handle_t<Tensor> self) {
            autograd::set_requires_grad(*tensor_in(self), false);
            return nb::borrow(self);
          },
          nb::sig("def detach_(self) -> Tensor"), "Forget the gradient record.");
}

void bind_gradients(nb::class_<Tensor>& tensor) {
  tensor
      .def_prop_rw(
          "grad", [](const Tensor& x) { return autograd::grad(x); },
          [](const Tensor& x, nb::handle value) {
            if (value.is_none()) return autograd::set_grad(x, {});
            autograd::set_grad(x, tensor_or_refuse("grad", value));
          },
          nb::for_setter(nb::arg("value").none()),
          nb::for_setter(nb::sig("def grad(self, value: Tensor | None, /) -> None")),
          "The gradient collected so far, or None.")
      .def("backward", backward, "gradient"_a.none() = nb::none(),
           "retain_graph"_a.none() = nb::none(), "create_graph"_a = false,
           "inputs"_a.none() = nb::none(),
           nb::sig("def backward(self, gradient: object = None, retain_graph: bool | None = None, "
                   "create_graph: bool = False, inputs: Tensor | "
                   "collections.abc.Sequence[Tensor] | None = None) -> None"),
           "Add the gradient of this tensor to every leaf it was computed from, or to inputs.")
      .def(
          "register_hook",
          [](const Tensor& x, nb::handle hook) {
            return autograd::register_hook(
                x, hook_from(
                       hook, [](const Tensor& gradient) { return nb::cast(gradient); },
                       [](nb::handle result) { return hook_result(result); }));
          },
          "hook"_a,
          nb::sig("def register_hook(self, hook: collections.abc.Callable[[Tensor], Tensor | "
                  "None]) -> HookHandle"),
          "Call hook with the gradient of this tensor whenever that is known; what it returns, "
          "unless None, replaces the gradient. A hook must not change its argument, and one that "
          "refers to its own tensor keeps it alive until it is removed.")
      .def("retain_grad", autograd::retain_grad,
           "Keep the gradient of this tensor in grad, though it is no leaf.")
      .def_prop_ro("retains_grad", autograd::retains_grad,
                   "Whether retain_grad() was called for this tensor.");
}

}  // namespace

std::vector<Tensor> recorded_from(const char* operation, nb::handle object) {
  const auto found = [](nb::handle item) -> const Tensor* {
    const MaskedTensor* const x = masked_tensor_in(item);
    return x != nullptr ? &x->get_data() : tensor_in(item);
  };
  if (const Tensor* const x = found(object)) return {*x};
  if (PySequence_Check(object.ptr()) == 0) {
    throw_type_error("{}: expected tensors or masked tensors, got {}", operation,
                     class_name(object));
  }
  std::vector<Tensor> result;
  for (const nb::handle item : nb::borrow<nb::object>(object)) {
    const Tensor* const x = found(item);
    if (x == nullptr) {
      throw_type_error("{}: expected tensors or masked tensors, got {}", operation,
                       class_name(item));
    }
    result.push_back(*x);
  }
  return result;
}

autograd::Hook hook_from(nb::handle function, std::function<nb::object(const Tensor&)> shown,
                         std::function<Tensor(nb::handle)> taken) {
  if (PyCallable_Check(function.ptr()) == 0) {
    throw_type_error("register_hook: expected a function, got {}", class_name(function));
  }
  const auto free = [](nb::object* object) {
    if (!nb::is_alive()) return;  // the interpreter has ended, and its objects with it
    const nb::gil_scoped_acquire acquire;
    delete object;
  };
  const std::shared_ptr<nb::object> kept(new nb::object(nb::borrow(function)), free);
  return [kept, shown = std::move(shown),
          taken = std::move(taken)](const Tensor& gradient) -> std::optional<Tensor> {
    const nb::gil_scoped_acquire acquire;
    const nb::object result = (*kept)(shown(gradient));
    if (result.is_none()) return std::nullopt;
    return taken(result);
  };
}

void bind_autograd(nb::module_& m) {
  nb::class_<autograd::HookHandle>(m, "HookHandle", "What register_hook returns.")
      .def("remove", &autograd::HookHandle::remove, "Take the hook away.")
      .def(
          "__enter__", [](nb::handle_t<autograd::HookHandle> self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> HookHandle"))
      .def(
          "__exit__", [](const autograd::HookHandle& self, const nb::args&) { self.remove(); },
          nb::sig("def __exit__(self, *args: object) -> None"));
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  bind_records(tensor);
  bind_gradients(tensor);
  m.def("is_grad_enabled", autograd::is_recording,
        "Whether operations are recorded for gradients now.");
  // loup.autograd gives these their names and defaults.
  m.def("autograd_record", autograd::switch_recording, "records"_a,
        "Switch recording on or off; returns what it was.");
  m.def("autograd_backward", backward_of_several, "tensors"_a, "grad_tensors"_a.none(),
        "retain_graph"_a.none(), "create_graph"_a, "inputs"_a.none(),
        nb::sig("def autograd_backward(tensors: object, grad_tensors: object, retain_graph: bool | "
                "None, create_graph: bool, inputs: object) -> None"));
  m.def("autograd_grad", grad, "outputs"_a, "inputs"_a, "grad_outputs"_a.none(),
        "retain_graph"_a.none(), "create_graph"_a, "allow_unused"_a,
        nb::sig("def autograd_grad(outputs: object, inputs: object, grad_outputs: object, "
                "retain_graph: bool | None, create_graph: bool, allow_unused: bool) -> "
                "tuple[Tensor | None, ...]"));
}

}  // namespace loup::python
