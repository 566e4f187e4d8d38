#include "loup/kernels/targets.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "loup/base/error.h"

namespace loup::kernels {

namespace {

/// Highway orders targets by bit: the lower, the better.
std::vector<std::string> names(std::int64_t bits) {
  std::vector<std::string> result;
  for (; bits != 0; bits &= bits - 1) {
    result.emplace_back(hwy::TargetName(bits & -bits));
  }
  return result;
}

std::int64_t runnable_bits() { return hwy::SupportedTargets() & HWY_TARGETS; }

void use_targets(std::int64_t bits) {
  hwy::SetSupportedTargetsForTest(bits);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

Targets targets() {
  const std::int64_t allowed = runnable_bits();
  return {names(HWY_TARGETS), names(allowed), names(allowed).front()};
}

void choose_target(const std::string& name) {
  use_targets(0);  // lifts an earlier choice
  if (name.empty()) return;
  for (std::int64_t bits = runnable_bits(); bits != 0; bits &= bits - 1) {
    const std::int64_t bit = bits & -bits;
    if (name == hwy::TargetName(bit)) return use_targets(bit);
  }
  throw ValueError("choose_target: expected one of {}, got '{}'",
                   fmt::join(names(runnable_bits()), ", "), name);
}

}  // namespace loup::kernels
