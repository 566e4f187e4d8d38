#pragma once

#include <optional>

#include "loup/tensor/tensor.h"

namespace loup::autograd {

struct BackwardOptions {
  std::optional<Tensor> gradient = {};  // of the root; may be left out when that has one element
  bool retain_graph = false;            // keeps the record for another backward
  bool create_graph = false;            // records the backward itself: gradients of gradients
};

/// Adds the gradient of `root` to every leaf it was computed from.
/// StateError when `root` has no record, ShapeError or DTypeError when the gradient does not fit.
LOUP_EXPORT void backward(const Tensor& root, const BackwardOptions& options = {});

}  // namespace loup::autograd
