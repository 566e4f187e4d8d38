#include "loup/base/thread_pool.h"

#include <atomic>
#include <exception>

namespace loup::detail {

namespace {
thread_local bool inside_chunk = false;
}

struct ThreadPool::Job {
  std::int64_t count;
  Chunk chunk;
  void* body;
  std::atomic<std::int64_t> next{0};
  int helpers = 0;           // workers inside run_tickets(), guarded by the pool's mutex
  std::exception_ptr error;  // the first one, guarded by the pool's mutex

  bool has_tickets() const { return next.load(std::memory_order_relaxed) < count; }

  void run_tickets(std::mutex& mutex) {
    inside_chunk = true;
    try {
      while (true) {
        const std::int64_t ticket = next.fetch_add(1, std::memory_order_relaxed);
        if (ticket >= count) break;
        chunk(body, ticket);
      }
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
    inside_chunk = false;
  }
};

ThreadPool::ThreadPool(int threads) {
  workers_.reserve(static_cast<std::size_t>(threads));
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  has_work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::int64_t count, Chunk chunk, void* body) {
  if (inside_chunk || workers_.empty() || count < 2) {
    for (std::int64_t i = 0; i < count; ++i) chunk(body, i);
    return;
  }
  Job job{.count = count, .chunk = chunk, .body = body, .error = {}};
  std::unique_lock lock(mutex_);
  const auto position = jobs_.insert(jobs_.end(), &job);
  lock.unlock();
  has_work_.notify_all();
  job.run_tickets(mutex_);
  lock.lock();
  jobs_.erase(position);
  job_left_.wait(lock, [&job] { return job.helpers == 0; });
  if (job.error) std::rethrow_exception(job.error);
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    Job* job = nullptr;
    has_work_.wait(lock, [this, &job] {
      for (Job* candidate : jobs_) {
        if (candidate->has_tickets()) job = candidate;
      }
      return stopping_ || job != nullptr;
    });
    if (stopping_) return;
    ++job->helpers;
    lock.unlock();
    job->run_tickets(mutex_);
    lock.lock();
    if (--job->helpers == 0) job_left_.notify_all();
  }
}

}  // namespace loup::detail
