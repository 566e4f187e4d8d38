#include "loup/autograd/backward.h"

#include "loup/autograd/engine.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/tensor/create.h"

namespace loup::autograd {

namespace {

Tensor root_gradient(const char* operation, const Tensor& root,
                     const std::optional<Tensor>& given) {
  if (!given) {
    if (root.size() != 1) {
      throw ValueError("{}: expected a gradient for shape {}, got none", operation, root.shape());
    }
    return ones_like(root);
  }
  if (given->shape() != root.shape()) {
    throw ShapeError("{}: expected a gradient of shape {}, got {}", operation, root.shape(),
                     given->shape());
  }
  if (given->dtype() != root.dtype()) {
    throw DTypeError("{}: expected a gradient of {}, got {}", operation, root.dtype(),
                     given->dtype());
  }
  return *given;
}

void check_requires_grad(const char* operation, const Tensor& x) {
  if (!x.requires_grad()) {
    throw StateError("{}: expected a tensor that requires grad, got one without a record",
                     operation);
  }
  check_record(operation, x);
}

void check_mask(const Tensor& root, const Tensor& mask) {
  if (mask.dtype() != DType::boolean) {
    throw DTypeError("backward: expected a mask of bool, got {}", mask.dtype());
  }
  if (mask.shape() != root.shape()) {
    throw ShapeError("backward: expected a mask of shape {}, got {}", root.shape(), mask.shape());
  }
}

void push_roots(Engine& engine, const char* operation, std::span<const Tensor> roots,
                std::span<const std::optional<Tensor>> gradients) {
  if (!gradients.empty() && gradients.size() != roots.size()) {
    throw ValueError("{}: expected {} gradients, one for each tensor, got {}", operation,
                     roots.size(), gradients.size());
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::optional<Tensor> given = gradients.empty() ? std::nullopt : gradients[i];
    engine.push(roots[i].node(), {root_gradient(operation, roots[i], given), {}});
  }
}

Engine engine_of(const std::optional<bool>& retain_graph, bool create_graph) {
  return {!retain_graph.value_or(create_graph), create_graph};
}

Engine start(std::span<const Tensor> roots, const BackwardOptions& options) {
  for (const Tensor& root : roots) check_requires_grad("backward", root);
  for (const Tensor& input : options.inputs) check_requires_grad("backward", input);
  Engine engine = engine_of(options.retain_graph, options.create_graph);
  if (!options.inputs.empty()) engine.restrict_to(roots, options.inputs);
  return engine;
}

void finish(Engine& engine, const BackwardOptions& options) {
  engine.run();
  NodeSet done;
  for (const Tensor& input : options.inputs) {
    if (!done.insert(input.node().get()).second) continue;
    if (auto gradient = engine.found(input.node().get())) collect(*input.node(), *gradient);
  }
}

}  // namespace

void backward(const Tensor& root, const BackwardOptions& options) {
  Engine engine = start({&root, 1}, options);
  if (options.mask) check_mask(root, *options.mask);
  engine.push(root.node(), {root_gradient("backward", root, options.gradient), options.mask});
  finish(engine, options);
}

void backward(std::span<const Tensor> roots, std::span<const std::optional<Tensor>> gradients,
              const BackwardOptions& options) {
  Engine engine = start(roots, options);
  push_roots(engine, "backward", roots, gradients);
  finish(engine, options);
}

std::vector<std::optional<Tensor>> grad(const std::vector<Tensor>& outputs,
                                        const std::vector<Tensor>& inputs,
                                        const GradOptions& options) {
  for (const Tensor& output : outputs) check_requires_grad("grad", output);
  for (const Tensor& input : inputs) check_requires_grad("grad", input);
  Engine engine = engine_of(options.retain_graph, options.create_graph);
  engine.restrict_to(outputs, inputs);
  push_roots(engine, "grad", outputs, options.gradients);
  engine.run();
  std::vector<std::optional<Tensor>> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    result.push_back(engine.found(inputs[i].node().get()));
    if (!result.back() && !options.allow_unused) {
      throw StateError(
          "grad: expected inputs that the outputs were computed from, got one at position {} that "
          "was not used; pass allow_unused if that is meant",
          i);
    }
  }
  return result;
}

}  // namespace loup::autograd
