#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loup/base/parallel.h"
#include "loup/kernels/targets.h"

namespace loup::test {

/// Restores the best instruction set.
class TargetScope {
 public:
  TargetScope() = default;
  explicit TargetScope(const std::string& name) { kernels::choose_target(name); }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
  ~TargetScope() { kernels::choose_target(""); }
};

/// Calls `f()` on each instruction set that this CPU runs.
template <class F>
void for_each_target(F&& f) {
  kernels::choose_target("");
  const std::vector<std::string> runnable = kernels::targets().runnable;
  for (const std::string& name : runnable) {
    const TargetScope scope(name);
    SCOPED_TRACE("instruction set " + name);
    f();
  }
}

/// Restores the number of threads.
class ThreadScope {
 public:
  explicit ThreadScope(int count) : previous_(num_threads()) { set_num_threads(count); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope() { set_num_threads(previous_); }

 private:
  int previous_;
};

/// Calls `f()` with each number of threads.
template <class F>
void with_threads(std::initializer_list<int> counts, F&& f) {
  for (const int count : counts) {
    const ThreadScope scope(count);
    SCOPED_TRACE("with " + std::to_string(count) + " threads");
    f();
  }
}

}  // namespace loup::test
