#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "loup/export.h"

namespace loup {

/// Off unless asked for. While on, touching mapped memory whose file was cut short reads zeros
/// instead of ending the process by SIGBUS: the missing pages are replaced by zeros, and the
/// mapping is poisoned (`verify()` is false from then on). Faults elsewhere go to the handler that
/// was there before.
LOUP_EXPORT void set_sigbus_shield(bool on);

namespace memory {

/// One mapping as the handler sees it. Never freed, only reused: a handler may be looking at it.
struct ShieldedRange {
  std::atomic<std::uintptr_t> first{0};
  std::atomic<std::size_t> bytes{0};
  std::atomic<bool> is_writable{false};
  std::atomic<bool> is_poisoned{false};
  ShieldedRange* next = nullptr;       // all there ever were
  ShieldedRange* next_free = nullptr;  // those without a mapping
};

ShieldedRange* shield(const void* data, std::size_t bytes, bool is_writable);
void unshield(ShieldedRange* range) noexcept;

}  // namespace memory

}  // namespace loup
