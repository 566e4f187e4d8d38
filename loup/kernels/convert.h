#pragma once

#include <cstdint>

#include "loup/base/dtype.h"

namespace loup::kernels {

/// Converts `count` elements that lie side by side, as convert() does. Neither reads nor writes
/// anything else; `to` and `from` do not overlap.
using ConvertRun = void (*)(void* to, const void* from, std::int64_t count);

/// The conversion between two dtypes for the best instruction set of this CPU.
ConvertRun find_convert(DType to, DType from);

}  // namespace loup::kernels
