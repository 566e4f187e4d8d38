#include "loup/autograd/engine.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "loup/autograd/attached.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/tensor/create.h"

namespace loup::autograd {

namespace {

/// The value in memory that nobody else holds, and of its own size.
Tensor own(Tensor value) {
  const Storage& storage = value.storage();
  const bool is_ours = storage.use_count() == 1 && storage.is_writable() && value.is_contiguous() &&
                       storage.bytes() == static_cast<std::size_t>(value.bytes());
  if (is_ours) return value;
  Tensor result = empty_like(value);
  kernels::copy(value.shape(), result.array(), value.array());
  if (is_recorded(value)) {
    record("backward", result, {value}, {},
           [](const Saved&, const Gradient& g) -> std::vector<Gradient> { return {g}; });
  }
  return result;
}

bool repeats_elements(const Tensor& x) {
  for (int i = 0; i < x.ndim(); ++i) {
    if (x.strides()[i] == 0 && x.shape()[i] > 1) return true;
  }
  return false;
}

/// before + value, in the memory of `before` where that may be changed: whoever holds it is used to
/// seeing it grow.
Tensor added(const Tensor& before, const Tensor& value) {
  const bool is_fixed = is_recording() || before.requires_grad() || value.requires_grad() ||
                        !before.storage().is_writable() || repeats_elements(before);
  if (is_fixed) return accumulate({before, {}}, {value, {}}).value;
  before.prepare_write("backward");
  add_into(before, before, value);
  return before;
}

void check_replacement(const Tensor& value, const Tensor& replacement) {
  if (replacement.shape() != value.shape()) {
    throw ShapeError("hook: expected a gradient of shape {}, got {}", value.shape(),
                     replacement.shape());
  }
  if (replacement.dtype() != value.dtype()) {
    throw DTypeError("hook: expected a gradient of {}, got {}", value.dtype(), replacement.dtype());
  }
}

Gradient hooked(Attached& attached, Gradient gradient) {
  std::vector<Attached::Entry> hooks;
  {
    const std::lock_guard lock(attached_mutex());
    hooks = attached.hooks;
  }
  if (hooks.empty()) return gradient;
  std::optional<Tensor> mask = gradient.mask;
  Tensor value = materialize(std::move(gradient));
  bool is_replaced = false;
  for (const Attached::Entry& entry : hooks) {
    std::optional<Tensor> replacement = (*entry.hook)(value);
    if (!replacement) continue;
    check_replacement(value, *replacement);
    value = std::move(*replacement);
    is_replaced = true;
  }
  // A zero by construction is one until something is written there.
  if (mask && is_replaced) {
    Tensor live = empty_like(value, DType::boolean);
    kernels::copy(value.shape(), live.array(), value.array());
    kernels::add(live.shape(), live.array(), live.array(), mask->array());
    return {std::move(value), std::move(live)};
  }
  return {std::move(value), std::move(mask)};
}

}  // namespace

void collect(Node& node, Tensor value) {
  Attached& attached = node.attach();
  // Sums are made without the lock. Meanwhile another thread may put its gradient where the one
  // that is being added to was: then that is added, too.
  std::optional<Tensor> before;
  while (true) {
    {
      const std::lock_guard lock(attached_mutex());
      if (!attached.grad) {
        attached.grad = std::move(value);
        return;
      }
      before = std::exchange(attached.grad, std::nullopt);
    }
    try {
      value = added(*before, value);
    } catch (...) {
      const std::lock_guard lock(attached_mutex());
      if (!attached.grad) attached.grad = std::move(before);
      throw;
    }
  }
}

void Engine::restrict_to(std::span<const Tensor> roots, std::span<const Tensor> wanted) {
  is_restricted_ = true;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (const Tensor& x : wanted) {
    oldest = std::min(oldest, x.node()->number());
    needed_.insert(x.node().get());
    found_.try_emplace(x.node().get());
  }
  NodeSet seen;
  std::vector<const Node*> reached;
  const auto reach = [&](const Node* node) {
    // What is older than all that is wanted does not lead there.
    if (node == nullptr || node->number() < oldest) return;
    if (seen.insert(node).second) reached.push_back(node);
  };
  for (const Tensor& root : roots) reach(root.node().get());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const auto& input : reached[i]->inputs()) reach(input.get());
  }
  std::ranges::sort(reached, {}, &Node::number);
  for (const Node* node : reached) {
    if (leads_on(*node)) needed_.insert(node);
  }
}

bool Engine::leads_on(const Node& node) const {
  if (!is_restricted_) return true;
  return std::ranges::any_of(node.inputs(),
                             [&](const auto& input) { return needed_.contains(input.get()); });
}

void Engine::push(const std::shared_ptr<Node>& node, Gradient gradient) {
  if (node == nullptr || (is_restricted_ && !needed_.contains(node.get()))) return;
  if (const auto position = queue_.find(node->number()); position != queue_.end()) {
    Gradient& sum = position->second.gradient;
    sum = accumulate(std::move(sum), std::move(gradient));
  } else if (spare_) {
    spare_.key() = node->number();
    spare_.mapped() = {node, std::move(gradient)};
    queue_.insert(std::move(spare_));
  } else {
    queue_.try_emplace(node->number(), Pending{node, std::move(gradient)});
  }
}

void Engine::run() {
  const RecordingScope scope(creates_graph_);
  while (!queue_.empty()) {
    check_interrupt();
    Queue::node_type current = queue_.extract(queue_.begin());
    visit(current.mapped());
    current.mapped() = {};
    spare_ = std::move(current);
  }
}

void Engine::visit(Pending& current) {
  const std::shared_ptr<Node> node = std::move(current.node);
  Attached* const attached = node->attached();
  if (attached != nullptr) {
    current.gradient = hooked(*attached, std::move(current.gradient));
    if (!is_restricted_ && (node->is_leaf() || attached->retains_grad)) {
      // A leaf has nothing to pass on, so the gradient need not be kept.
      Gradient kept = node->is_leaf() ? std::move(current.gradient) : current.gradient;
      collect(*node, own(materialize(std::move(kept))));
    }
  }
  if (const auto wanted = found_.find(node.get()); wanted != found_.end()) {
    Gradient kept = leads_on(*node) ? current.gradient : std::move(current.gradient);
    wanted->second = own(materialize(std::move(kept)));
  }
  if (node->is_leaf() || !leads_on(*node)) return;
  std::vector<Gradient> gradients =
      Node::apply(node, current.gradient, is_restricted_ ? &needed_ : nullptr);
  current.gradient = {};
  if (releases_) node->release();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    push(node->inputs()[i], std::move(gradients[i]));
  }
}

}  // namespace loup::autograd
