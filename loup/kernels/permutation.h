#pragma once

#include <cstdint>

#include "loup/export.h"
#include "loup/kernels/philox.h"

namespace loup::kernels {

/// Writes 0, …, count - 1 in an order that is exactly equally likely to be any. Takes 2 * count
/// words. Uses threads; the order does not depend on them.
LOUP_EXPORT void random_permutation(const RandomStream& stream, std::int64_t* to,
                                    std::int64_t count);

}  // namespace loup::kernels
