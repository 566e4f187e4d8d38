#pragma once

#include <array>
#include <cstdint>

namespace loup::memory {

/// Who this process is: a pid alone is reused, and means another process in another container.
struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot
  std::uint64_t pid_namespace = 0;
};

/// Found out once, and again after fork.
ProcessIdentity process_identity();
/// Of the running system; zeros when unknown.
std::array<std::uint8_t, 16> boot_id();
/// Since 1970.
std::uint64_t nanoseconds_now();

}  // namespace loup::memory
