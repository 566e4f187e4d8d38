#pragma once

namespace loup::test {

// AddressSanitizer ends the process when far too much memory is asked for, and our pool keeps
// nothing under it, so that it sees every free.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_address_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool under_address_sanitizer = true;
#else
inline constexpr bool under_address_sanitizer = false;
#endif
#else
inline constexpr bool under_address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// Sanitizers have handlers, memory and limits of their own.
inline constexpr bool under_sanitizer = under_address_sanitizer || under_thread_sanitizer;

}  // namespace loup::test
