#pragma once

#include <cstdint>

#include "loup/kernels/lines.h"
#include "loup/ops/line_plan.h"

// Operators whose output has the shape of their input and that work on lines: on all elements along
// one or more dims.

namespace loup::ops {

/// Runs a kernel over all lines along `dims` (as bits). No size may be 0. Uses threads.
LOUP_EXPORT void run_lines(const kernels::LineKernel& kernel, std::uint32_t dims,
                           const LineOperands& operands, const double* parameters);

/// Results beyond this many bytes are written past the caches.
inline constexpr std::int64_t streamed_bytes = 8 * 1024 * 1024;

}  // namespace loup::ops
