#pragma once

#include <cstddef>
#include <cstdint>

namespace loup::kernels {

/// Copies rows × cols elements of 1, 2, 4 or 8 bytes whose columns are contiguous in the target and
/// whose rows are in the source: to[r * to_row + c] = from[r + c * from_col].
using TurnRun = void (*)(std::byte* to, std::int64_t to_row, const std::byte* from,
                         std::int64_t from_col, std::int64_t rows, std::int64_t cols);

/// For elements of so many bytes, for the best instruction set of this CPU.
TurnRun find_turn(std::int64_t item_bytes);

}  // namespace loup::kernels
