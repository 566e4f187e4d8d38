#include "loup/base/parallel.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <pthread.h>

#include "loup/base/thread_pool.h"
#include "loup/base/threads.h"

namespace loup {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto interrupt_interval = std::chrono::milliseconds(50);

thread_local InterruptScope::Check interrupt_check = nullptr;
/// Of the clock; its time points have constructors that may throw.
thread_local Clock::rep last_interrupt_check = 0;

/// Never destroyed: loops may run in the destructors of static objects.
struct State {
  std::mutex mutex;
  std::shared_ptr<detail::ThreadPool> pool;  // replaced when the number of threads changes
};

std::atomic<State*> current_state{nullptr};
/// What set_num_threads() asked for; kept apart from State so that a forked child inherits it.
std::atomic<int> chosen_threads{0};

State& state() {
  static const bool installed = [] {
    current_state = new State;
    // The child inherits the bookkeeping of threads that it does not have: start afresh.
    pthread_atfork(nullptr, nullptr, [] { current_state = new State; });
    return true;
  }();
  static_cast<void>(installed);
  return *current_state;
}

std::shared_ptr<detail::ThreadPool> pool() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.pool) {
    const int chosen = chosen_threads;
    s.pool =
        std::make_shared<detail::ThreadPool>(chosen != 0 ? chosen : detail::default_num_threads());
  }
  return s.pool;
}

}  // namespace

int num_threads() { return pool()->threads(); }

void set_num_threads(int count) {
  detail::checked_num_threads("set_num_threads", count);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.pool && s.pool->threads() == count) return;
  chosen_threads = count;
  s.pool = nullptr;
}

/// Workers have no check of their own: only the thread that started the loop asks.
void check_interrupt() {
  if (interrupt_check == nullptr) return;
  const Clock::duration now = Clock::now().time_since_epoch();
  if (now - Clock::duration(last_interrupt_check) < interrupt_interval) return;
  last_interrupt_check = now.count();
  interrupt_check();
}

namespace detail {

void run_serial(std::int64_t count, Chunk chunk, void* body) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (i != 0) check_interrupt();
    chunk(body, i);
  }
}

void run_parallel(std::int64_t count, Chunk chunk, void* body) {
  if (count > 1) return pool()->run(count, chunk, body);
  run_serial(count, chunk, body);
}

void run_if_awake(std::int64_t count, Chunk chunk, void* body) {
  if (count > 1) {
    const auto threads = pool();
    if (threads->is_awake()) return threads->run(count, chunk, body);
  }
  run_serial(count, chunk, body);
}

}  // namespace detail

InterruptScope::InterruptScope(Check check) : previous_(interrupt_check) {
  interrupt_check = check;
  last_interrupt_check = Clock::now().time_since_epoch().count();
}

InterruptScope::~InterruptScope() { interrupt_check = previous_; }

}  // namespace loup
