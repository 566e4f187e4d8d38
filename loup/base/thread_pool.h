#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loup/base/parallel.h"

namespace loup::detail {

/// Threads that share loops. A loop is cut into one part per thread, so that a thread meets the
/// same memory in the next loop; whoever is through with its own part takes chunks of the others'.
///
/// The caller takes part, and waits only for chunks that are running, never for a worker that has
/// not begun. Several threads may call at once, and chunks may call again; workers help everybody.
///
/// Idle workers spin for a while if their last pause was short, and sleep otherwise. Nobody spins
/// where there are more threads than CPUs.
class LOUP_EXPORT ThreadPool {
 public:
  /// Uses `threads` threads, the caller of run() among them; fewer if the system has no more.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Calls `chunk(body, i)` for every i in [0, count). The first exception ends the loop and is
  /// rethrown.
  void run(std::int64_t count, Chunk chunk, void* body);

  /// True if a worker would begin a loop at once. Questions that follow each other closely wake
  /// one: for loops that are worth sharing, but not worth waking somebody for.
  bool is_awake();

 private:
  using Clock = std::chrono::steady_clock;

  /// A part's chunks that nobody took yet; they are taken in rising order.
  struct alignas(64) Part {
    std::atomic<std::int64_t> left{0};
  };

  /// A place for one loop. It outlives the loops that use it, so that a worker may look for chunks
  /// at any time. What describes the loop is only read by those who took a chunk that they have not
  /// reported yet: as long as there is one, the loop does not end.
  struct alignas(64) Job {
    std::atomic<std::int64_t> unfinished{0};
    std::atomic<bool> is_taken{false};
    std::atomic<bool> has_failed{false};
    std::int64_t count = 0;
    Chunk chunk = nullptr;
    void* body = nullptr;
    std::exception_ptr error;
    std::vector<Part> parts;

    std::int64_t part_begin(std::size_t part) const;
    void open(std::int64_t chunks, Chunk function, void* argument);
    bool has_chunks() const;
    std::int64_t take(std::size_t own_part);
    std::int64_t take_all();
    void call(std::int64_t index, std::int64_t& finished);
  };

  Job* find_place();
  bool help(Job& job, std::size_t worker);
  void finish(Job& job, std::int64_t finished);
  void wait_for(const Job& job, Clock::time_point begin);
  template <class Condition>
  bool spin_until(Clock::time_point end, Condition&& condition) const;
  void work(std::size_t worker);
  void sleep(std::uint64_t seen);
  void wake_one();

  int threads_;
  bool spins_;
  std::array<Job, 16> jobs_;
  alignas(64) std::atomic<std::uint64_t> posted_{0};  // what spinning workers look at
  std::atomic<int> caller_cpu_{-1};                   // of the last one
  alignas(64) std::atomic<int> sleepers_{0};          // workers that sleep and that nobody woke
  std::atomic<int> sleeping_callers_{0};
  std::atomic<bool> is_stopping_{false};
  std::atomic<Clock::rep> last_question_{0};
  std::atomic<int> close_questions_{0};
  std::atomic<int> enough_questions_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable is_done_;
  int wakes_ = 0;  // sleepers that may go on, guarded by the mutex
  std::vector<std::thread> workers_;
};

}  // namespace loup::detail
