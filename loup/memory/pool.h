#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/export.h"

// Warm memory for outputs and scratch. Touching a fresh 64 MB block costs more than most operators
// that fill it, so blocks are kept when they are freed: small ones (up to 64 KB) per thread, large
// ones, rounded to 2 MB and backed by huge pages where the system has them, in one shared list that
// is bounded and goes back to the system when idle.

namespace loup::memory {

/// `bytes` of uninitialised memory, aligned to 64 bytes at least. Throws std::bad_alloc.
LOUP_EXPORT void* allocate(std::size_t bytes);

/// Gives back what `allocate(bytes)` returned; any thread may.
LOUP_EXPORT void release(void* block, std::size_t bytes) noexcept;

/// The most bytes of large blocks kept for reuse; 0 keeps none. By default an eighth of the
/// machine's memory, and LOUP_POOL_LIMIT (in bytes) overrides it.
LOUP_EXPORT void set_pool_limit(std::size_t bytes);
LOUP_EXPORT std::size_t pool_limit();

/// Returns every kept large block to the system now. Blocks unused for some seconds return by
/// themselves.
LOUP_EXPORT void trim_pool() noexcept;

/// Counters of large blocks: how much is in use, kept for reuse, was at most in use since
/// reset_peak(), and how many were asked for.
struct PoolStatistics {
  std::size_t bytes_in_use;
  std::size_t bytes_kept;
  std::size_t peak_bytes;
  std::uint64_t allocations;
};
LOUP_EXPORT PoolStatistics pool_statistics();
LOUP_EXPORT void reset_pool_peak();

}  // namespace loup::memory
