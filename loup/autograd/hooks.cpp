#include "loup/autograd/hooks.h"

#include <algorithm>
#include <utility>

#include "loup/autograd/attached.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"

namespace loup::autograd {

namespace {

Attached& attached_to(const char* operation, const Tensor& x) {
  if (!x.requires_grad()) {
    throw StateError("{}: expected a tensor that requires grad, got one without a record",
                     operation);
  }
  check_record(operation, x);
  return x.node()->attach();
}

}  // namespace

std::mutex& attached_mutex() {
  static std::mutex mutex;
  return mutex;
}

void HookHandle::remove() const {
  const std::shared_ptr<Node> node = node_.lock();
  if (node == nullptr || node->attached() == nullptr) return;
  std::shared_ptr<const Hook> removed;  // destroyed after the lock: it may run foreign code
  const std::lock_guard lock(attached_mutex());
  std::vector<Attached::Entry>& hooks = node->attached()->hooks;
  const auto position =
      std::ranges::find_if(hooks, [this](const auto& entry) { return entry.id == id_; });
  if (position == hooks.end()) return;
  removed = std::move(position->hook);
  hooks.erase(position);
}

HookHandle register_hook(const Tensor& x, Hook hook) {
  Attached& attached = attached_to("register_hook", x);
  const std::lock_guard lock(attached_mutex());
  const std::uint64_t id = attached.next_id++;
  attached.hooks.push_back({id, std::make_shared<const Hook>(std::move(hook))});
  return {x.node(), id};
}

void retain_grad(const Tensor& x) {
  Attached& attached = attached_to("retain_grad", x);
  if (x.node()->is_leaf()) return;
  const std::lock_guard lock(attached_mutex());
  attached.retains_grad = true;
}

bool retains_grad(const Tensor& x) {
  if (!x.requires_grad() || x.node()->attached() == nullptr) return false;
  const std::lock_guard lock(attached_mutex());
  return x.node()->attached()->retains_grad;
}

}  // namespace loup::autograd
