#pragma once

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "loup/autograd/backward.h"
#include "loup/autograd/hooks.h"
#include "loup/masked/masked_tensor.h"

// Gradients of masked tensors. The record is that of their data. What does not count sends nothing,
// also where a rule further up would make NaN of a zero, and receives exact zeros.

namespace loup::masked {

/// What gradients are taken of, or by, and what they are given as: both kinds may be mixed.
using AnyTensor = std::variant<Tensor, MaskedTensor>;

/// The tensor itself, or the data of a masked one.
LOUP_EXPORT const Tensor& data_of(const AnyTensor& x);

/// As autograd::backward(), from what counts in `x`. A mask among the options tells where the
/// gradient counts.
LOUP_EXPORT void backward(const MaskedTensor& x, const autograd::BackwardOptions& options = {});
/// The same for several at once, with one gradient (or none) for each, or none at all: something
/// flows from where both count. `options.gradient` and `options.mask` are not used.
LOUP_EXPORT void backward(std::span<const AnyTensor> roots,
                          std::span<const std::optional<AnyTensor>> gradients = {},
                          const autograd::BackwardOptions& options = {});

struct GradOptions {
  std::vector<std::optional<AnyTensor>> gradients = {};  // of the outputs; none: as for backward()
  std::optional<bool> retain_graph = {};                 // as create_graph unless given
  bool create_graph = false;
  bool allow_unused = false;  // an input that the outputs do not depend on has no gradient
};

/// As autograd::grad(). The gradient of a masked input is masked: it has a copy of the input's mask
/// and zeros under it.
LOUP_EXPORT std::vector<std::optional<AnyTensor>> grad(const std::vector<AnyTensor>& outputs,
                                                       const std::vector<AnyTensor>& inputs,
                                                       const GradOptions& options = {});

/// Replaces or clears the gradient that `x` has collected. The tensor is shared unless it holds
/// something else than 0 where it or x does not count. Errors as for autograd::set_grad().
LOUP_EXPORT void set_grad(const MaskedTensor& x, const std::optional<AnyTensor>& gradient);

/// As autograd::Hook. What does not count in a masked result is 0.
using MaskedHook = std::function<std::optional<AnyTensor>(const MaskedTensor&)>;

/// As autograd::register_hook(). The hook sees gradients with the mask that `x` has now.
LOUP_EXPORT autograd::HookHandle register_hook(const MaskedTensor& x, MaskedHook hook);

}  // namespace loup::masked
