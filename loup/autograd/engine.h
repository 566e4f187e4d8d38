#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "loup/autograd/gradient.h"
#include "loup/autograd/node.h"

namespace loup::autograd {

/// One walk from the outputs of a record to what they were computed from, by falling numbers: a
/// call is reached when all gradients of its output have been added up.
class Engine {
 public:
  Engine(bool releases, bool creates_graph) : releases_(releases), creates_graph_(creates_graph) {}

  /// Runs only what leads from `roots` to `wanted`, and keeps the gradients of the latter instead
  /// of adding them to leaves.
  void restrict_to(std::span<const Tensor> roots, std::span<const Tensor> wanted);
  /// Adds to the gradient of a call's output.
  void push(const std::shared_ptr<Node>& node, Gradient gradient);
  void run();
  /// What a restricted run found for the output of `node`.
  std::optional<Tensor> found(const Node* node) const { return found_.at(node); }

 private:
  struct Pending {
    std::shared_ptr<Node> node;
    Gradient gradient;
  };
  using Queue = std::map<std::uint64_t, Pending, std::greater<>>;

  void visit(Pending& current);
  bool leads_on(const Node& node) const;

  bool releases_;
  bool creates_graph_;
  bool is_restricted_ = false;
  Queue queue_;
  Queue::node_type spare_;  // of the queue, to be used again
  NodeSet needed_;
  std::unordered_map<const Node*, std::optional<Tensor>> found_;
};

/// Adds to the gradient that the tensor of `node` has collected.
void collect(Node& node, Tensor value);

}  // namespace loup::autograd
