#include "loup/autograd/backward.h"

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/tensor/create.h"

namespace loup::autograd {

namespace {

struct Pending {
  std::shared_ptr<Node> node;
  Gradient gradient;
};
/// Largest number first: a node is reached when all calls made of it have been.
using Queue = std::map<std::uint64_t, Pending, std::greater<>>;

void push(Queue& queue, const std::shared_ptr<Node>& node, Gradient gradient) {
  if (node == nullptr) return;
  const auto [position, is_new] = queue.try_emplace(node->number(), Pending{node, gradient});
  if (!is_new) position->second.gradient = accumulate(position->second.gradient, gradient);
}

/// A copy that nobody else holds.
Tensor own(const Tensor& value) {
  Tensor result = empty_like(value);
  kernels::copy(value.shape(), result.array(), value.array());
  if (is_recorded(value)) {
    record("backward", result, {value}, {},
           [](const Saved&, const Gradient& g) -> std::vector<Gradient> { return {g}; });
  }
  return result;
}

/// A leaf owns its gradient, so later calls may add to it in place; not when it is recorded itself.
void collect(Node& leaf, const Gradient& gradient, bool creates_graph) {
  const Tensor value = materialize(gradient);
  if (!leaf.grad) {
    leaf.grad = gradient.mask ? value : own(value);  // materialize() copies where there is a mask
  } else if (creates_graph || leaf.grad->requires_grad()) {
    leaf.grad = accumulate({*leaf.grad, {}}, {value, {}}).value;
  } else {
    leaf.grad->prepare_write("backward");
    kernels::add(value.shape(), leaf.grad->array(), leaf.grad->array(), value.array());
  }
}

Tensor root_gradient(const Tensor& root, const std::optional<Tensor>& given) {
  if (!given) {
    if (root.size() != 1) {
      throw ValueError("backward: expected a gradient for shape {}, got none", root.shape());
    }
    return ones_like(root);
  }
  if (given->shape() != root.shape()) {
    throw ShapeError("backward: expected a gradient of shape {}, got {}", root.shape(),
                     given->shape());
  }
  if (given->dtype() != root.dtype()) {
    throw DTypeError("backward: expected a gradient of {}, got {}", root.dtype(), given->dtype());
  }
  return *given;
}

}  // namespace

void backward(const Tensor& root, const BackwardOptions& options) {
  if (!root.requires_grad()) {
    throw StateError("backward: expected a tensor that requires grad, got one without a record");
  }
  check_record("backward", root);
  const RecordingScope scope(options.create_graph);
  Queue queue;
  push(queue, root.node(), {root_gradient(root, options.gradient), {}});
  while (!queue.empty()) {
    const Pending current = std::move(queue.extract(queue.begin()).mapped());
    if (current.node->is_leaf()) {
      collect(*current.node, current.gradient, options.create_graph);
      continue;
    }
    std::vector<Gradient> gradients = current.node->apply(current.gradient);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      push(queue, current.node->inputs()[i], std::move(gradients[i]));
    }
    if (!options.retain_graph && !options.create_graph) current.node->release();
  }
}

}  // namespace loup::autograd
