#include "autograd.h"

#include <limits>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/hooks.h"
#include "loup/autograd/node.h"
#include "loup/ops/copy.h"

namespace loup::python {

using namespace nb::literals;

namespace {

using masked::AnyTensor;

AnyTensor any_tensor_from(const char* operation, nb::handle object) {
  std::optional<AnyTensor> found = any_tensor_in(object);
  if (!found) {
    throw_type_error("{}: expected a Tensor or MaskedTensor, got {}", operation,
                     class_name(object));
  }
  return *std::move(found);
}

/// One of them or a sequence.
std::vector<AnyTensor> any_tensors_from(const char* operation, nb::handle object) {
  if (std::optional<AnyTensor> found = any_tensor_in(object)) return {*std::move(found)};
  if (PySequence_Check(object.ptr()) == 0) {
    throw_type_error("{}: expected a Tensor or MaskedTensor, or a sequence of them, got {}",
                     operation, class_name(object));
  }
  std::vector<AnyTensor> result;
  for (const nb::handle item : nb::borrow<nb::object>(object)) {
    result.push_back(any_tensor_from(operation, item));
  }
  return result;
}

/// None, a MaskedTensor or what can be made a tensor: a gradient of something of `dtype`.
std::optional<AnyTensor> gradient_from(const char* operation, nb::handle object, DType dtype) {
  if (object.is_none()) return std::nullopt;
  if (const MaskedTensor* const x = masked_tensor_in(object)) return x->to(dtype);
  return ops::to(as_tensor(operation, object), dtype);
}

/// One gradient for the only output, or for several outputs a sequence of them.
std::vector<std::optional<AnyTensor>> gradients_from(const char* operation, nb::handle object,
                                                     const std::vector<AnyTensor>& outputs) {
  if (object.is_none()) return {};
  const auto dtype_of_output = [&](std::size_t i) {
    // Of gradients beyond the last output only their number will matter.
    return i < outputs.size() ? masked::data_of(outputs[i]).dtype() : DType::f32;
  };
  if (any_tensor_in(object) || PySequence_Check(object.ptr()) == 0) {
    return {gradient_from(operation, object, dtype_of_output(0))};
  }
  std::vector<std::optional<AnyTensor>> result;
  for (const nb::handle item : nb::borrow<nb::object>(object)) {
    result.push_back(gradient_from(operation, item, dtype_of_output(result.size())));
  }
  return result;
}

autograd::BackwardOptions backward_options(const std::optional<bool>& retain_graph,
                                           bool create_graph, nb::handle inputs) {
  autograd::BackwardOptions options;
  options.retain_graph = retain_graph;
  options.create_graph = create_graph;
  if (inputs.is_none()) return options;
  for (const AnyTensor& input : any_tensors_from("backward", inputs)) {
    options.inputs.push_back(masked::data_of(input));
  }
  return options;
}

/// Runs without the interpreter's lock; hooks take it again. Ctrl-C ends the run.
template <class Work>
auto run_long(Work&& work) {
  return without_gil(std::numeric_limits<std::int64_t>::max(), std::forward<Work>(work));
}

void backward(nb::handle tensors, nb::handle gradients, const std::optional<bool>& retain_graph,
              bool create_graph, nb::handle inputs) {
  const std::vector<AnyTensor> roots = any_tensors_from("backward", tensors);
  const auto given = gradients_from("backward", gradients, roots);
  const auto options = backward_options(retain_graph, create_graph, inputs);
  run_long([&] { masked::backward(roots, given, options); });
}

nb::tuple grad(nb::handle outputs, nb::handle inputs, nb::handle gradients,
               const std::optional<bool>& retain_graph, bool create_graph, bool allow_unused) {
  const std::vector<AnyTensor> roots = any_tensors_from("grad", outputs);
  const std::vector<AnyTensor> wanted = any_tensors_from("grad", inputs);
  const masked::GradOptions options{.gradients = gradients_from("grad", gradients, roots),
                                    .retain_graph = retain_graph,
                                    .create_graph = create_graph,
                                    .allow_unused = allow_unused};
  const auto found = run_long([&] { return masked::grad(roots, wanted, options); });
  nb::list result;
  for (const std::optional<AnyTensor>& gradient : found) result.append(nb::cast(gradient));
  return nb::tuple(result);
}

void set_grad(const Tensor& x, nb::handle value) {
  if (value.is_none()) return autograd::set_grad(x, {});
  if (tensor_in(value) == nullptr) {
    throw_type_error("grad: expected a Tensor, got {}", class_name(value));
  }
  autograd::set_grad(x, *tensor_in(value));
}

autograd::HookHandle register_hook(const Tensor& x, nb::handle function) {
  const auto hook = [kept =
                         hook_function(function)](const Tensor& gradient) -> std::optional<Tensor> {
    const nb::gil_scoped_acquire acquire;
    const nb::object result = (*kept)(gradient);
    if (result.is_none()) return std::nullopt;
    if (tensor_in(result) == nullptr) {
      throw_type_error("hook: expected a Tensor or None, got {}", class_name(result));
    }
    return *tensor_in(result);
  };
  return autograd::register_hook(x, hook);
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
          "grad", [](const Tensor& x) { return autograd::grad(x); }, set_grad,
          nb::for_setter(nb::arg("value").none()),
          nb::for_setter(nb::sig("def grad(self, value: Tensor | None, /) -> None")),
          "The gradient collected so far, or None.")
      .def("backward", run_backward, "gradient"_a.none() = nb::none(),
           "retain_graph"_a.none() = nb::none(), "create_graph"_a = false,
           "inputs"_a.none() = nb::none(),
           nb::sig("def backward(self, gradient: object = None, retain_graph: bool | None = None, "
                   "create_graph: bool = False, inputs: Tensor | MaskedTensor | "
                   "collections.abc.Sequence[Tensor | MaskedTensor] | None = None) -> None"),
           "Add the gradient of this tensor to every leaf it was computed from, or to inputs.")
      .def("register_hook", register_hook, "hook"_a,
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

std::optional<AnyTensor> any_tensor_in(nb::handle object) {
  if (const Tensor* const x = tensor_in(object)) return *x;
  if (const MaskedTensor* const x = masked_tensor_in(object)) return *x;
  return std::nullopt;
}

void run_backward(const AnyTensor& x, nb::handle gradient, const std::optional<bool>& retain_graph,
                  bool create_graph, nb::handle inputs) {
  const std::optional<AnyTensor> given =
      gradient_from("backward", gradient, masked::data_of(x).dtype());
  const auto options = backward_options(retain_graph, create_graph, inputs);
  run_long([&] { masked::backward({&x, 1}, {&given, 1}, options); });
}

std::shared_ptr<const nb::object> hook_function(nb::handle function) {
  if (PyCallable_Check(function.ptr()) == 0) {
    throw_type_error("register_hook: expected a function, got {}", class_name(function));
  }
  const auto free = [](const nb::object* object) {
    if (!nb::is_alive()) return;  // the interpreter has ended, and its objects with it
    const nb::gil_scoped_acquire acquire;
    delete object;
  };
  return {new nb::object(nb::borrow(function)), free};
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
  m.def("autograd_backward", backward, "tensors"_a, "grad_tensors"_a.none(),
        "retain_graph"_a.none(), "create_graph"_a, "inputs"_a.none(),
        nb::sig("def autograd_backward(tensors: object, grad_tensors: object, retain_graph: bool | "
                "None, create_graph: bool, inputs: object) -> None"));
  m.def("autograd_grad", grad, "outputs"_a, "inputs"_a, "grad_outputs"_a.none(),
        "retain_graph"_a.none(), "create_graph"_a, "allow_unused"_a,
        nb::sig("def autograd_grad(outputs: object, inputs: object, grad_outputs: object, "
                "retain_graph: bool | None, create_graph: bool, allow_unused: bool) -> "
                "tuple[Tensor | MaskedTensor | None, ...]"));
}

}  // namespace loup::python
