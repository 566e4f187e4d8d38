#include "loup/base/thread_pool.h"

#include <algorithm>
#include <sched.h>
#include <system_error>
#include <utility>

#include "loup/base/threads.h"

namespace loup::detail {

namespace {

/// Sleeping and waking takes 10 to 50 µs; whoever expects to wait less than a few times that spins.
constexpr auto spin_time = std::chrono::microseconds(200);
/// Looks at a cache line between two looks at the clock: about 1 µs. In between nobody yields: on
/// Linux that gives away a whole time slice, however little the others are entitled to.
constexpr int looks = 20;
/// Questions for workers that are awake are close below this. So many of them wake one, and twice
/// as many the next time unless it found work: where other programs hold the CPUs it never does.
constexpr auto close_time = std::chrono::microseconds(30);
constexpr int few_questions = 4;
constexpr int most_questions = 1024;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// Jobs

std::int64_t ThreadPool::Job::part_begin(std::size_t part) const {
  const auto i = static_cast<std::int64_t>(part);
  const auto n = static_cast<std::int64_t>(parts.size());
  return count / n * i + std::min(i, count % n);
}

void ThreadPool::Job::open(std::int64_t chunks, Chunk function, void* argument) {
  count = chunks;
  chunk = function;
  body = argument;
  unfinished.store(count, std::memory_order_relaxed);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].left.store(part_begin(i + 1) - part_begin(i), std::memory_order_release);
  }
}

bool ThreadPool::Job::has_chunks() const {
  if (unfinished.load(std::memory_order_relaxed) == 0) return false;
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.left.load(std::memory_order_relaxed) > 0;
  });
}

/// A chunk that is now the caller's, or -1.
std::int64_t ThreadPool::Job::take(std::size_t own_part) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t at = (own_part + i) % parts.size();
    std::atomic<std::int64_t>& left = parts[at].left;
    std::int64_t n = left.load(std::memory_order_relaxed);
    while (n > 0) {
      // A loop that began since the load is as good as the one before: the chunk belongs to it.
      if (left.compare_exchange_weak(n, n - 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return part_begin(at + 1) - n;
      }
    }
  }
  return -1;
}

/// Takes what is left, for nobody to run; returns how many that are.
std::int64_t ThreadPool::Job::take_all() {
  std::int64_t taken = 0;
  for (Part& part : parts) taken += part.left.exchange(0, std::memory_order_relaxed);
  return taken;
}

void ThreadPool::Job::call(std::int64_t index, std::int64_t& finished) {
  try {
    check_interrupt();
    chunk(body, index);
  } catch (...) {
    if (!has_failed.exchange(true)) error = std::current_exception();
    finished += take_all();
  }
  ++finished;
}

// Callers

void ThreadPool::run(std::int64_t count, Chunk chunk, void* body) {
  Job* const job = count > 1 && !workers_.empty() ? find_place() : nullptr;
  if (job == nullptr) return run_serial(count, chunk, body);
  const auto begin = Clock::now();
  job->open(count, chunk, body);
  caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  posted_.fetch_add(1);
  if (sleepers_.load() > 0) wake_one();
  std::int64_t finished = 0;
  for (std::int64_t i = job->take(0); i >= 0; i = job->take(0)) job->call(i, finished);
  finish(*job, finished);
  wait_for(*job, begin);
  std::exception_ptr error;
  if (job->has_failed.exchange(false)) error = std::exchange(job->error, nullptr);
  job->is_taken.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

/// Null when there are so many loops that no worker is free anyway.
ThreadPool::Job* ThreadPool::find_place() {
  for (Job& job : jobs_) {
    if (!job.is_taken.load(std::memory_order_relaxed) &&
        !job.is_taken.exchange(true, std::memory_order_acquire)) {
      return &job;
    }
  }
  return nullptr;
}

void ThreadPool::wait_for(const Job& job, Clock::time_point begin) {
  const auto is_done = [&job] { return job.unfinished.load() == 0; };
  if (is_done()) return;
  // A chunk that takes longer than all before it may wait for this very CPU.
  const auto now = Clock::now();
  if (spin_until(std::min(now + (now - begin), now + spin_time), is_done)) return;
  std::unique_lock lock(mutex_);
  ++sleeping_callers_;
  is_done_.wait(lock, is_done);
  --sleeping_callers_;
}

bool ThreadPool::is_awake() {
  if (!spins_) return false;
  if (sleepers_.load(std::memory_order_relaxed) < static_cast<int>(workers_.size())) return true;
  const Clock::duration now = Clock::now().time_since_epoch();
  const Clock::duration last(last_question_.exchange(now.count(), std::memory_order_relaxed));
  const int asked =
      now - last > close_time ? 1 : close_questions_.load(std::memory_order_relaxed) + 1;
  const int enough = enough_questions_.load(std::memory_order_relaxed);
  close_questions_.store(asked < enough ? asked : 0, std::memory_order_relaxed);
  if (asked >= enough) {
    enough_questions_.store(std::min(2 * enough, most_questions), std::memory_order_relaxed);
    wake_one();
  }
  return false;
}

// Workers

ThreadPool::ThreadPool(int threads)
    : threads_(threads),
      spins_(threads > 1 && threads <= usable_cpus()),
      enough_questions_(few_questions) {
  for (Job& job : jobs_) job.parts = std::vector<Part>(static_cast<std::size_t>(threads));
  workers_.reserve(static_cast<std::size_t>(threads));
  try {
    for (std::size_t i = 1; i < static_cast<std::size_t>(threads); ++i) {
      workers_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error&) {
    // Loops need no workers.
  }
}

ThreadPool::~ThreadPool() {
  is_stopping_ = true;
  posted_.fetch_add(1);
  while (sleepers_.load() > 0) wake_one();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work(std::size_t worker) {
  bool is_patient = false;
  while (true) {
    const std::uint64_t seen = posted_.load();
    if (is_stopping_.load()) return;
    bool has_helped = false;
    for (Job& job : jobs_) has_helped |= help(job, worker);
    if (has_helped) continue;
    const auto begin = Clock::now();
    // Where it shares a CPU with the caller, it is in the way of the loop it waits for.
    is_patient = is_patient && sched_getcpu() != caller_cpu_.load(std::memory_order_relaxed);
    const auto is_posted = [&] { return posted_.load(std::memory_order_relaxed) != seen; };
    if (is_patient && spin_until(begin + spin_time, is_posted)) {
      if (enough_questions_.load(std::memory_order_relaxed) != few_questions) {
        enough_questions_.store(few_questions, std::memory_order_relaxed);
      }
      continue;
    }
    sleep(seen);
    is_patient = Clock::now() - begin < spin_time;
  }
}

/// True if there was something to do.
bool ThreadPool::help(Job& job, std::size_t worker) {
  if (!job.has_chunks()) return false;
  std::int64_t finished = 0;
  for (std::int64_t i = job.take(worker); i >= 0; i = job.take(worker)) {
    // Waking takes a while: the caller wakes one, and those who are awake the others.
    if (sleepers_.load(std::memory_order_relaxed) > 0 && job.has_chunks()) wake_one();
    job.call(i, finished);
  }
  if (finished > 0) finish(job, finished);
  return finished > 0;
}

/// Reports chunks: once all are, the loop may end and another one may use its place.
void ThreadPool::finish(Job& job, std::int64_t finished) {
  if (job.unfinished.fetch_sub(finished) != finished) return;
  if (sleeping_callers_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  is_done_.notify_all();
}

template <class Condition>
bool ThreadPool::spin_until(Clock::time_point end, Condition&& condition) const {
  if (!spins_) return false;
  do {
    for (int i = 0; i < looks; ++i) {
      if (condition()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return false;
}

/// Sleeps until woken, unless a loop was posted since `seen`. Whoever posts one afterwards sees the
/// sleeper: each of the two writes first and looks then.
void ThreadPool::sleep(std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  if (posted_.load() != seen) {
    --sleepers_;
    return;
  }
  has_work_.wait(lock, [this] { return wakes_ > 0; });
  --wakes_;
}

void ThreadPool::wake_one() {
  {
    const std::lock_guard lock(mutex_);
    if (sleepers_.load() == 0) return;
    --sleepers_;
    ++wakes_;
  }
  has_work_.notify_one();
}

}  // namespace loup::detail
