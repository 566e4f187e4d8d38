#pragma once

#include <functional>
#include <vector>

#include "bindings.h"
#include "loup/autograd/hooks.h"

namespace loup::python {

/// A Tensor or MaskedTensor, or a sequence of them, as what gradients are recorded for.
std::vector<Tensor> recorded_from(const char* operation, nb::handle object);

/// A Python function as a hook: it is called with what `shown` makes of a gradient, and what it
/// returns, unless None, becomes one by `taken`. It dies with the last tensor of the record, on
/// whatever thread.
autograd::Hook hook_from(nb::handle function, std::function<nb::object(const Tensor&)> shown,
                         std::function<Tensor(nb::handle)> taken);

}  // namespace loup::python
