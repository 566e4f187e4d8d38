#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "loup/export.h"

namespace loup {

/// How many threads `parallel_for` uses. By default the CPUs this process may use (affinity and
/// cgroup limit), divided by the MPI ranks on this host; LOUP_NUM_THREADS overrides it.
LOUP_EXPORT int num_threads();

/// Sets the number of threads from now on; ValueError unless it lies in [1, 1024].
LOUP_EXPORT void set_num_threads(int count);

namespace detail {
using Chunk = void (*)(void* body, std::int64_t index);
LOUP_EXPORT void run_parallel(std::int64_t count, Chunk chunk, void* body);
LOUP_EXPORT void run_if_awake(std::int64_t count, Chunk chunk, void* body);
LOUP_EXPORT void run_serial(std::int64_t count, Chunk chunk, void* body);
template <class Body>
void call(void* body, std::int64_t index) {
  (*static_cast<Body*>(body))(index);
}
template <class Body>
void* erase(Body& body) {
  return const_cast<void*>(static_cast<const void*>(std::addressof(body)));
}
}  // namespace detail

/// Calls `body(i)` once for every i in [0, count), on up to num_threads() threads in any order.
/// The first exception of a body ends the loop and is rethrown. May be nested, and works in a
/// forked child.
template <class Body>
void parallel_for(std::int64_t count, Body&& body) {
  detail::run_parallel(count, detail::call<std::remove_reference_t<Body>>, detail::erase(body));
}

/// How many tasks of `b` elements there are in `a`.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Up to this many bytes of work are done faster by one thread than by two.
inline constexpr std::int64_t serial_bytes = 128 * 1024;
/// Up to this many they are, unless a second thread is awake: waking one takes longer.
inline constexpr std::int64_t waking_bytes = 512 * 1024;

/// `parallel_for` when all bodies together read and write `bytes`: serial when that is little.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t bytes, Body&& body) {
  const auto run = bytes <= serial_bytes   ? detail::run_serial
                   : bytes <= waking_bytes ? detail::run_if_awake
                                           : detail::run_parallel;
  run(count, detail::call<std::remove_reference_t<Body>>, detail::erase(body));
}

/// Where a chunk takes long by itself: runs the check of the InterruptScope, if there is one and it
/// is due.
LOUP_EXPORT void check_interrupt();

/// While alive, loops started by this thread call `check` between chunks, some 20 times a second.
/// A check that throws ends the loop: this is how Ctrl-C reaches a long computation.
class LOUP_EXPORT InterruptScope {
 public:
  using Check = void (*)();
  explicit InterruptScope(Check check);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  Check previous_;
};

}  // namespace loup
