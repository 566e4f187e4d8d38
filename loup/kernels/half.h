#pragma once

#include <cstdint>

#include "loup/base/half.h"

namespace loup::kernels {

// Contiguous conversions of the half types, for the best instruction set of this CPU.
void widen(const Float16* from, float* to, std::int64_t count);
void widen(const BFloat16* from, float* to, std::int64_t count);

}  // namespace loup::kernels
