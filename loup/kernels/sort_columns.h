#pragma once

#include <cstdint>

namespace loup::kernels {

/// Columns that sort_columns() sorts side by side, on the best instruction set of this CPU.
std::int64_t sorted_columns();
/// At most so many on any of them.
inline constexpr std::int64_t most_sorted_columns = 8;

/// Sorts the columns of a matrix of `rows` × sorted_columns() words, each by itself. The number of
/// steps depends on the number of rows only.
void sort_columns(std::uint64_t* words, std::int64_t rows);

}  // namespace loup::kernels
