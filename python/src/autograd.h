#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "loup/autograd/node.h"
#include "loup/masked/gradients.h"

namespace loup::python {

/// A Tensor or MaskedTensor; null for anything else.
std::optional<masked::AnyTensor> any_tensor_in(nb::handle object);

/// What was made just now, as a leaf that collects gradients if that is asked for.
template <class Made>
Made as_leaf(Made x, bool requires_grad) {
  if constexpr (std::is_same_v<Made, MaskedTensor>) {
    if (requires_grad) x.set_requires_grad(true);
  } else {
    if (requires_grad) autograd::set_requires_grad(x, true);
  }
  return x;
}

/// x.backward(): `gradient` is None, a MaskedTensor or what can be made a tensor, `inputs` None, a
/// tensor of either class or a sequence of them.
void run_backward(const masked::AnyTensor& x, nb::handle gradient,
                  const std::optional<bool>& retain_graph, bool create_graph, nb::handle inputs);

/// A Python function that hooks call with the interpreter's lock. It dies with the last tensor of
/// the record, on whatever thread.
std::shared_ptr<const nb::object> hook_function(nb::handle function);

}  // namespace loup::python
