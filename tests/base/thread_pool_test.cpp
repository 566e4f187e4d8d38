#include "loup/base/thread_pool.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace loup::detail {
namespace {

template <class Body>
void run(ThreadPool& pool, std::int64_t count, Body&& body) {
  pool.run(count, call<std::remove_reference_t<Body>>, erase(body));
}

TEST(ThreadPool, CallsEveryIndexOnce) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> calls(1000);
    run(pool, 1000, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& n : calls) ASSERT_EQ(n, 1) << threads << " threads";
  }
}

TEST(ThreadPool, RunsOnItsWorkersToo) {
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  run(pool, 2, [&](std::int64_t) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, RethrowsTheExceptionOfAChunk) {
  ThreadPool pool(3);
  EXPECT_THROW(run(pool, 100,
                   [](std::int64_t i) {
                     if (i % 10 == 3) throw std::out_of_range("chunk");
                   }),
               std::out_of_range);
  std::atomic<int> calls{0};
  run(pool, 100, [&](std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

TEST(ThreadPool, HandsOutNoMoreChunksAfterAnException) {
  ThreadPool pool(1);
  int calls = 0;
  EXPECT_THROW(run(pool, 100,
                   [&](std::int64_t) {
                     ++calls;
                     throw std::runtime_error("first");
                   }),
               std::runtime_error);
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, RunsANestedCallOnTheSameThread) {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::atomic<int> calls{0};
  run(pool, 10, [&](std::int64_t) {
    const auto self = std::this_thread::get_id();
    run(pool, 10, [&](std::int64_t) {
      ++calls;
      if (std::this_thread::get_id() != self) ++wrong;
    });
  });
  EXPECT_EQ(calls, 100);
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int n = 0; n < 50; ++n) run(pool, 20, [&](std::int64_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 4 * 50 * 20);
}

}  // namespace
}  // namespace loup::detail
