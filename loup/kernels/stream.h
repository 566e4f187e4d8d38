#pragma once

#include <cstddef>

namespace loup::kernels {

/// Copies bytes to memory past the caches: for results that would only push other things out of
/// them, and for which no memory is read this way. Fence by end_stream().
void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes);

/// Other threads see what this one streamed.
void end_stream();

}  // namespace loup::kernels
