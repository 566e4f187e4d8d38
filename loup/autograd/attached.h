#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "loup/autograd/hooks.h"
#include "loup/tensor/tensor.h"

// What nodes carry beside their record. Not for users: hooks.h and node.h have functions.

namespace loup::autograd {

struct Attached {
  struct Entry {
    std::uint64_t id;
    std::shared_ptr<const Hook> hook;
  };
  std::optional<Tensor> grad;
  bool retains_grad = false;
  std::uint64_t next_id = 0;
  std::vector<Entry> hooks;
};

/// Guards what is attached to any node, for the time of a few moves: several threads may run
/// backward() over records that share a leaf.
std::mutex& attached_mutex();

}  // namespace loup::autograd
