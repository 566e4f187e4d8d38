#pragma once

#include <cstddef>
#include <cstdint>

// The innermost loops of kernels/compact.h, for the best instruction set of this CPU. Masks are
// bytes; anything but 0 is true.

namespace loup::kernels {

std::int64_t count_true(const std::uint8_t* mask, std::int64_t count);

/// Writes the elements, of `bytes` each, where the mask is true, one after the other; `room` of
/// them at most, and nothing beyond. Returns how many.
std::int64_t compact_row(const std::byte* from, std::int64_t bytes, const std::uint8_t* mask,
                         std::int64_t count, std::byte* to, std::int64_t room);
/// The same for the numbers first, first + 1, ….
std::int64_t compact_numbers(std::int64_t first, const std::uint8_t* mask, std::int64_t count,
                             std::int64_t* to, std::int64_t room);

}  // namespace loup::kernels
