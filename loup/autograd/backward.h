#pragma once

#include <optional>
#include <span>
#include <vector>

#include "loup/tensor/tensor.h"

// Gradients of what was recorded. Any number of threads may do this at the same time, on records of
// their own; these may share leaves, to which all gradients are added. Calls that two threads share
// must be retained by both.

namespace loup::autograd {

struct BackwardOptions {
  std::optional<Tensor> gradient = {};    // of the root; may be left out when that has one element
  std::optional<Tensor> mask = {};        // false: nothing flows there, whatever the gradient holds
  std::optional<bool> retain_graph = {};  // keeps the record for another run; as create_graph
  bool create_graph = false;              // records the run itself: gradients of gradients
  std::vector<Tensor> inputs = {};        // only these collect, leaves or not; none: every leaf
};

/// Adds the gradient of `root` to every leaf it was computed from. A leaf owns its gradient, so
/// later runs add to it in place, unless it is recorded itself.
///
/// With create_graph a leaf may hold a gradient that was computed from it: they keep each other
/// alive until that is cleared. grad() of chosen inputs has no such cycles.
///
/// StateError when `root` or an input has no record, when that was released by an earlier run, or
/// when something it needs was changed in place; ShapeError or DTypeError when the gradient does
/// not fit.
LOUP_EXPORT void backward(const Tensor& root, const BackwardOptions& options = {});

/// The same for several roots at once, with one gradient (or none) for each, or none at all.
/// `options.gradient` and `options.mask` are not used.
LOUP_EXPORT void backward(std::span<const Tensor> roots,
                          std::span<const std::optional<Tensor>> gradients,
                          const BackwardOptions& options = {});

struct GradOptions {
  std::vector<std::optional<Tensor>> gradients = {};  // of the outputs; none: as for backward()
  std::optional<bool> retain_graph = {};              // as create_graph unless given
  bool create_graph = false;
  bool allow_unused = false;  // an input that the outputs do not depend on has no gradient
};

/// The gradients of the sum of `outputs` with respect to `inputs`, leaves or not, one for each. No
/// leaf collects anything, and only calls between the two are run. The results are contiguous, with
/// exact zeros where nothing flows, and belong to the caller.
///
/// Errors as for backward(); StateError when an input was not used, unless that is allowed.
LOUP_EXPORT std::vector<std::optional<Tensor>> grad(const std::vector<Tensor>& outputs,
                                                    const std::vector<Tensor>& inputs,
                                                    const GradOptions& options = {});

}  // namespace loup::autograd
