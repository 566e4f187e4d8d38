#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "loup/base/parallel.h"

namespace loup::detail {

/// Plain std::thread workers: the backend where oneTBB cannot serve (ThreadSanitizer, and children
/// of fork, which inherit TBB's books but none of its threads).
///
/// Chunks are handed out by ticket. The caller takes part, and waits only for workers that hold a
/// ticket, never for one that has not started.
class LOUP_EXPORT ThreadPool {
 public:
  /// Uses `threads` threads, the caller of run() among them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls `chunk(body, i)` for every i in [0, count). A call from inside a chunk runs serially.
  void run(std::int64_t count, Chunk chunk, void* body);

 private:
  struct Job;
  void work();

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable job_left_;
  std::list<Job*> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace loup::detail
