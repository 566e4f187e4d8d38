#include "loup/autograd/node.h"

#include <atomic>
#include <cassert>
#include <mutex>
#include <utility>

#include "loup/autograd/attached.h"
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

const Tensor& Saved::operator[](std::size_t i) const {
  return node_->contents_.saved[i].unpack(node_->operation_);
}

bool Saved::needs(std::size_t i) const {
  const Node* const input = node_->inputs()[i].get();
  return input != nullptr && (needed_ == nullptr || needed_->contains(input));
}

Tensor Saved::output() const {
  Tensor result = node_->contents_.saved.back().unpack(node_->operation_);
  if (is_recording()) result.set_node(node_);
  return result;
}

Node::Node(Kind kind, const char* operation, NodeList inputs, std::vector<SavedTensor> saved,
           Rule rule)
    : operation_(operation),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      kind_(kind),
      contents_{std::move(inputs), std::move(saved), std::move(rule), nullptr} {}

Node::Node()
    : operation_("leaf"),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      kind_(Kind::leaf) {
  attach();
}

Node::~Node() {
  // Freeing what a node holds may free the next node, and so on: a long chain would overflow the
  // stack. So the first node of a chain frees the others, which only hand over what they hold.
  thread_local std::vector<Contents>* freeing = nullptr;
  if (freeing != nullptr) {
    freeing->push_back(std::move(contents_));
    return;
  }
  std::vector<Contents> pending;
  freeing = &pending;
  {
    const Contents own = std::move(contents_);
  }
  while (!pending.empty()) {
    const Contents next = std::move(pending.back());
    pending.pop_back();
  }
  freeing = nullptr;
}

std::vector<Gradient> Node::apply(const std::shared_ptr<Node>& node, const Gradient& gradient,
                                  const NodeSet* needed) {
  if (node->contents_.rule == nullptr) {
    throw StateError(
        "backward: expected a record that is still there, got one released by an "
        "earlier backward through {}; pass retain_graph the first time",
        node->operation_);
  }
  std::vector<Gradient> gradients = node->contents_.rule(Saved(node, needed), gradient);
  assert(gradients.size() == node->inputs().size());
  return gradients;
}

void Node::release() {
  contents_.saved.clear();
  contents_.saved.shrink_to_fit();
  contents_.rule = nullptr;
}

Attached& Node::attach() {
  if (contents_.attached == nullptr) contents_.attached = std::make_unique<Attached>();
  return *contents_.attached;
}

bool is_recording() { return recording; }

bool switch_recording(bool records) { return std::exchange(recording, records); }

namespace {

std::shared_ptr<Node> make_node(Node::Kind kind, const char* operation, NodeList inputs,
                                const Tensor& output, std::vector<SavedTensor>& saved, Rule& rule,
                                Output keeps) {
  // Detached, because a node that held its own tensor would keep itself alive.
  if (keeps == Output::saved) saved.emplace_back(output.detach());
  return std::make_shared<Node>(kind, operation, std::move(inputs), std::move(saved),
                                std::move(rule));
}

}  // namespace

void record(const char* operation, Tensor& output, const Inputs& inputs,
            std::vector<SavedTensor> saved, Rule rule, Output keeps) {
  NodeList nodes(inputs.size());
  auto kind = Node::Kind::call;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_record(operation, inputs[i]);
    nodes.data()[i] = inputs[i].node();
    if (i == 0 && inputs[i].storage() == output.storage()) kind = Node::Kind::view;
  }
  output.set_node(make_node(kind, operation, std::move(nodes), output, saved, rule, keeps));
}

void record_in_place(const char* operation, Tensor& x, const Inputs& others,
                     std::vector<SavedTensor> saved, Rule rule, Output keeps) {
  NodeList nodes(1 + others.size());
  nodes.data()[0] = x.node();
  for (std::size_t i = 0; i < others.size(); ++i) nodes.data()[1 + i] = others[i].node();
  replace_node(x, make_node(Node::Kind::call, operation, std::move(nodes), x, saved, rule, keeps));
}

void replace_node(Tensor& x, std::shared_ptr<Node> node) {
  Attached* const before = x.requires_grad() ? x.node()->attached() : nullptr;
  if (before != nullptr && node != nullptr && std::exchange(before->retains_grad, false)) {
    node->attach().retains_grad = true;
  }
  x.set_node(std::move(node));
}

void check_record(const char* operation, const Tensor& x) {
  if (!x.is_behind() || !x.requires_grad() || x.node()->is_leaf()) return;
  throw StateError(
      "{}: expected a tensor of shape {} as it was computed, got one changed in place through "
      "another tensor that shares its memory; take the view again after the change, or clone "
      "before it",
      operation, x.shape());
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
  if (!x.requires_grad() || x.node()->attached() == nullptr) return std::nullopt;
  const std::lock_guard lock(attached_mutex());
  return x.node()->attached()->grad;
}

void set_grad(const Tensor& x, std::optional<Tensor> gradient) {
  if (!x.requires_grad()) {
    if (!gradient) return;
    throw StateError("grad: expected a tensor that requires grad, got one without a record");
  }
  if (gradient && gradient->shape() != x.shape()) {
    throw ShapeError("grad: expected a gradient of shape {}, got {}", x.shape(), gradient->shape());
  }
  if (gradient && gradient->dtype() != x.dtype()) {
    throw DTypeError("grad: expected a gradient of {}, got {}", x.dtype(), gradient->dtype());
  }
  Attached& attached = x.node()->attach();
  {
    const std::lock_guard lock(attached_mutex());
    std::swap(attached.grad, gradient);
  }  // what was there is freed without the lock
}

}  // namespace loup::autograd
