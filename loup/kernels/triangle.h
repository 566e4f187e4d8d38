#pragma once

#include <cstdint>

#include "loup/base/array.h"
#include "loup/base/dims.h"
#include "loup/export.h"

namespace loup::kernels {

enum class Triangle : std::uint8_t { lower, upper };

/// Copies one triangle of the last two dims, the diagonal `diagonal` places above the main one
/// included, and writes zeros elsewhere. `to` is contiguous and of from's dtype. Uses threads.
LOUP_EXPORT void triangle(const Shape& shape, const Array& to, const Array& from, Triangle kind,
                          std::int64_t diagonal);

}  // namespace loup::kernels
