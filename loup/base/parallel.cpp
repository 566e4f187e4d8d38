#include "loup/base/parallel.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <pthread.h>

#include "loup/base/thread_pool.h"
#include "loup/base/threads.h"

#if LOUP_USE_TBB
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#endif

namespace loup {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto interrupt_interval = std::chrono::milliseconds(50);

thread_local InterruptScope::Check interrupt_check = nullptr;
thread_local Clock::time_point last_interrupt_check;

/// Threads that run chunks; replaced whole when the number of threads changes.
class Backend {
 public:
  Backend(int threads, bool in_forked_child);
  int threads() const { return threads_; }
  void run(std::int64_t count, detail::Chunk chunk, void* body);

 private:
  int threads_;
  std::unique_ptr<detail::ThreadPool> pool_;
#if LOUP_USE_TBB
  std::unique_ptr<tbb::global_control> limit_;
  std::unique_ptr<tbb::task_arena> arena_;
#endif
};

Backend::Backend(int threads, bool in_forked_child) : threads_(threads) {
#if LOUP_USE_TBB
  if (!in_forked_child) {
    limit_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                   static_cast<std::size_t>(threads));
    arena_ = std::make_unique<tbb::task_arena>(threads);
    return;
  }
#endif
  static_cast<void>(in_forked_child);
  pool_ = std::make_unique<detail::ThreadPool>(threads);
}

void Backend::run(std::int64_t count, detail::Chunk chunk, void* body) {
  if (pool_) {
    struct Call {
      detail::Chunk chunk;
      void* body;
    } call{chunk, body};
    const detail::Chunk polled = [](void* erased, std::int64_t i) {
      check_interrupt();
      const auto& inner = *static_cast<Call*>(erased);
      inner.chunk(inner.body, i);
    };
    pool_->run(count, polled, &call);
    return;
  }
#if LOUP_USE_TBB
  arena_->execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count, 1),
        [chunk, body](const tbb::blocked_range<std::int64_t>& range) {
          for (std::int64_t i = range.begin(); i < range.end(); ++i) {
            check_interrupt();
            chunk(body, i);
          }
        },
        tbb::simple_partitioner());
  });
#endif
}

/// Never destroyed: loops may run in the destructors of static objects.
struct State {
  std::mutex mutex;
  std::shared_ptr<Backend> backend;
  bool in_forked_child = false;
};

std::atomic<State*> current_state{nullptr};
/// What set_num_threads() asked for; kept apart from State so that a forked child inherits it.
std::atomic<int> chosen_threads{0};

State& state() {
  static const bool installed = [] {
    current_state = new State;
    // The child inherits the bookkeeping of threads that it does not have: start afresh.
    pthread_atfork(nullptr, nullptr, [] {
      auto* fresh = new State;
      fresh->in_forked_child = true;
      current_state = fresh;
    });
    return true;
  }();
  static_cast<void>(installed);
  return *current_state;
}

std::shared_ptr<Backend> backend() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.backend) {
    const int chosen = chosen_threads;
    s.backend = std::make_shared<Backend>(chosen != 0 ? chosen : detail::default_num_threads(),
                                          s.in_forked_child);
  }
  return s.backend;
}

}  // namespace

int num_threads() { return backend()->threads(); }

void set_num_threads(int count) {
  detail::checked_num_threads("set_num_threads", count);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.backend && s.backend->threads() == count) return;
  chosen_threads = count;
  s.backend = nullptr;
}

/// Workers have no check of their own: only the thread that started the loop asks.
void check_interrupt() {
  if (interrupt_check == nullptr) return;
  const auto now = Clock::now();
  if (now - last_interrupt_check < interrupt_interval) return;
  last_interrupt_check = now;
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
  if (count > 1) {
    const auto threads = backend();
    if (threads->threads() > 1) return threads->run(count, chunk, body);
  }
  run_serial(count, chunk, body);
}

}  // namespace detail

InterruptScope::InterruptScope(Check check) : previous_(interrupt_check) {
  interrupt_check = check;
  last_interrupt_check = Clock::now();
}

InterruptScope::~InterruptScope() { interrupt_check = previous_; }

}  // namespace loup
