#pragma once

#include <string>
#include <vector>

#include "loup/export.h"

namespace loup::kernels {

/// Instruction sets by name, best first.
struct Targets {
  std::vector<std::string> compiled;  // into this library
  std::vector<std::string> runnable;  // of these, what this CPU has
  std::string chosen;                 // what kernels run on
};
LOUP_EXPORT Targets targets();

/// Makes kernels run on one of the runnable instruction sets; ValueError otherwise. An empty name
/// goes back to the best. For tests: affects the whole process.
LOUP_EXPORT void choose_target(const std::string& name);

}  // namespace loup::kernels
