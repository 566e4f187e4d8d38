#include "loup/autograd/node.h"

#include <atomic>
#include <utility>

#include "loup/base/error.h"

namespace loup::autograd {

namespace {

std::atomic<std::uint64_t> next_number{0};
thread_local bool recording = true;

}  // namespace

const Tensor& SavedTensor::unpack(const char* operation) const {
  const std::uint64_t now = tensor_.storage().version();
  if (now != version_) {
    throw StateError(
        "{} backward: expected a tensor of shape {} as it was in the forward call, "
        "got one changed in place since (version {} instead of {})",
        operation, tensor_.shape(), now, version_);
  }
  return tensor_;
}

Node::Node(const char* operation, std::vector<std::shared_ptr<Node>> inputs, Saved saved, Rule rule)
    : operation_(operation),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      is_leaf_(false),
      inputs_(std::move(inputs)),
      saved_(std::move(saved)),
      rule_(std::move(rule)) {}

Node::Node()
    : operation_("leaf"),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      is_leaf_(true),
      saved_("leaf", {}) {}

Node::~Node() {
  // One by one: a long chain of calls would overflow the stack by nested destructors.
  std::vector<std::shared_ptr<Node>> pending = std::move(inputs_);
  while (!pending.empty()) {
    const std::shared_ptr<Node> node = std::move(pending.back());
    pending.pop_back();
    if (node != nullptr && node.use_count() == 1) {
      node->release();
      for (auto& input : node->inputs_) pending.push_back(std::move(input));
      node->inputs_.clear();
    }
  }
}

std::vector<Gradient> Node::apply(const Gradient& gradient) const {
  if (rule_ == nullptr) {
    throw StateError(
        "backward: expected a record that is still there, got one released by an "
        "earlier backward through {}; pass retain_graph the first time",
        operation_);
  }
  return rule_(saved_, gradient);
}

void Node::release() {
  saved_ = Saved(operation_, {});
  rule_ = nullptr;
}

bool is_recording() { return recording; }

RecordingScope::RecordingScope(bool records) : previous_(std::exchange(recording, records)) {}
RecordingScope::~RecordingScope() { recording = previous_; }

void record(const char* operation, Tensor& output, std::initializer_list<Tensor> inputs,
            std::vector<SavedTensor> saved, Rule rule) {
  std::vector<std::shared_ptr<Node>> nodes;
  for (const Tensor& input : inputs) nodes.push_back(input.node());
  output.set_node(std::make_shared<Node>(operation, std::move(nodes),
                                         Saved(operation, std::move(saved)), std::move(rule)));
}

void set_requires_grad(Tensor& x, bool requires_grad) {
  if (!requires_grad) {
    x.set_node(nullptr);
  } else if (!is_floating(x.dtype())) {
    throw DTypeError("requires_grad: expected a floating dtype, got {}", x.dtype());
  } else if (!x.requires_grad()) {
    x.set_node(std::make_shared<Node>());
  }
}

std::optional<Tensor> grad(const Tensor& x) {
  return x.requires_grad() ? x.node()->grad : std::nullopt;
}

}  // namespace loup::autograd
