#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "loup/tensor/tensor.h"

namespace loup::autograd {

class Node;

/// Called with the complete gradient of a tensor, with zeros where nothing flows. What it returns,
/// of the same shape and dtype, replaces the gradient.
using Hook = std::function<std::optional<Tensor>(const Tensor&)>;

/// Takes a hook away again. It does not keep tensor or hook alive.
class LOUP_EXPORT HookHandle {
 public:
  HookHandle(std::weak_ptr<Node> node, std::uint64_t id) : node_(std::move(node)), id_(id) {}
  /// Does nothing when the hook is gone already.
  void remove() const;

 private:
  std::weak_ptr<Node> node_;
  std::uint64_t id_;
};

/// Calls `hook` once per backward() or grad() that reaches `x`, before its gradient is collected or
/// flows on; several hooks run in the order of their registration, each on what the last returned.
/// Where the gradient is zero by construction it stays so unless the hook writes something else. A
/// hook belongs to x as it is now: after an in-place change it sees the gradient of what x was.
/// What a hook throws leaves backward(); gradients collected until then stay, and the part of the
/// record that was passed is released unless it is retained.
/// StateError when x does not require grad.
LOUP_EXPORT HookHandle register_hook(const Tensor& x, Hook hook);

/// Makes backward() keep the gradient of `x`, which is not a leaf, so that grad(x) gives it. It
/// holds for x after in-place changes too. StateError when x does not require grad.
LOUP_EXPORT void retain_grad(const Tensor& x);
/// Whether `x` was told to retain_grad().
LOUP_EXPORT bool retains_grad(const Tensor& x);

}  // namespace loup::autograd
