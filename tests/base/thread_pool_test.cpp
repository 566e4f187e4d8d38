#include "loup/base/thread_pool.h"

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "loup/base/threads.h"

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

TEST(ThreadPool, WaitsOnlyForChunksThatRun) {
  // The worker is kept inside a loop of another caller, so the second loop is the caller's alone.
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  std::atomic<bool> may_end{false};
  std::thread other([&] {
    run(pool, 2, [&](std::int64_t) {
      ++inside;
      while (!may_end) std::this_thread::yield();
    });
  });
  while (inside < 2) std::this_thread::yield();
  int calls = 0;
  run(pool, 100, [&](std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 100);
  may_end = true;
  other.join();
}

TEST(ThreadPool, GivesEachThreadAPartOfItsOwn) {
  // Chunks meet in pairs, so the two threads advance side by side.
  constexpr std::int64_t count = 64;
  ThreadPool pool(2);
  std::array<std::thread::id, count> ran_on;
  std::array<std::atomic<bool>, count> has_begun{};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  run(pool, count, [&](std::int64_t i) {
    ran_on[static_cast<std::size_t>(i)] = std::this_thread::get_id();
    has_begun[static_cast<std::size_t>(i)] = true;
    const auto partner = static_cast<std::size_t>((i + count / 2) % count);
    while (!has_begun[partner] && std::chrono::steady_clock::now() < limit) {
      std::this_thread::yield();
    }
  });
  const auto self = std::this_thread::get_id();
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(ran_on[i] == self, i < count / 2) << i;
}

TEST(ThreadPool, TakesTheChunksOfWorkersThatAreElsewhere) {
  ThreadPool pool(7);
  std::atomic<int> calls{0};
  run(pool, 1000, [&](std::int64_t i) {
    if (i % 100 == 7) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++calls;
  });
  EXPECT_EQ(calls, 1000);
}

TEST(ThreadPool, SharesNestedCalls) {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  run(pool, 2, [&](std::int64_t outer) {
    if (outer == 1) return;
    run(pool, 2, [&](std::int64_t) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, NestsThreeDeep) {
  for (const int threads : {2, 7}) {
    ThreadPool pool(threads);
    std::atomic<int> calls{0};
    run(pool, 12, [&](std::int64_t) {
      run(pool, 12, [&](std::int64_t) { run(pool, 12, [&](std::int64_t) { ++calls; }); });
    });
    EXPECT_EQ(calls, 12 * 12 * 12) << threads << " threads";
  }
}

/// 24 loops at once, each of which has begun: more than there are places for.
TEST(ThreadPool, TakesMoreLoopsThanItHasPlacesFor) {
  ThreadPool pool(2);
  std::atomic<int> begun{0};
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 24; ++t) {
    callers.emplace_back([&] {
      bool is_first = true;
      const auto self = std::this_thread::get_id();
      run(pool, 10, [&](std::int64_t) {
        ++calls;
        if (std::this_thread::get_id() != self || !is_first) return;
        is_first = false;
        ++begun;
        while (begun < 24) std::this_thread::yield();
      });
      if (is_first) ++begun;  // the worker was faster
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 24 * 10);
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

TEST(ThreadPool, GivesEachCallerItsOwnException) {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&pool, &wrong, t] {
      for (int n = 0; n < 200; ++n) {
        std::atomic<int> calls{0};
        try {
          run(pool, 20, [&](std::int64_t i) {
            ++calls;
            if ((t + n) % 2 == 0 && i % 3 == 0) throw std::runtime_error(std::to_string(t));
          });
          if ((t + n) % 2 == 0 || calls != 20) ++wrong;
        } catch (const std::runtime_error& error) {
          if (error.what() != std::to_string(t)) ++wrong;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, RethrowsFromNestedLoops) {
  ThreadPool pool(3);
  for (int n = 0; n < 50; ++n) {
    EXPECT_THROW(run(pool, 8,
                     [&](std::int64_t) {
                       run(pool, 8, [&](std::int64_t i) {
                         if (i == 5) throw std::out_of_range("inner");
                       });
                     }),
                 std::out_of_range);
  }
}

TEST(ThreadPool, RunsManyTinyLoops) {
  for (const int threads : {2, 7}) {
    ThreadPool pool(threads);
    std::array<std::int64_t, 4> sums{};
    for (std::int64_t n = 0; n < 100'000; ++n) {
      run(pool, 4, [&](std::int64_t i) { sums[static_cast<std::size_t>(i)] += n; });
    }
    for (const std::int64_t sum : sums) EXPECT_EQ(sum, 99'999LL * 50'000) << threads << " threads";
  }
}

TEST(ThreadPool, WakesItsWorkersAfterAPause) {
  ThreadPool pool(7);
  for (int n = 0; n < 5; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::atomic<int> inside{0};
    run(pool, 7, [&](std::int64_t) {
      ++inside;
      while (inside < 7) std::this_thread::yield();
    });
    EXPECT_EQ(inside, 7);
  }
}

TEST(ThreadPool, IsNotAwakeWithoutWorkers) {
  ThreadPool pool(1);
  for (int n = 0; n < 100; ++n) EXPECT_FALSE(pool.is_awake());
}

TEST(ThreadPool, FallsAsleepAfterAWhile) {
  ThreadPool pool(2);
  run(pool, 2, [](std::int64_t) {});
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (pool.is_awake() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(pool.is_awake());
}

TEST(ThreadPool, WakesUpWhenItIsAskedOftenEnough) {
  if (usable_cpus() < 2) GTEST_SKIP() << "nobody waits for work on a single CPU";
  ThreadPool pool(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!pool.is_awake() && std::chrono::steady_clock::now() < limit) {
  }
  EXPECT_LT(std::chrono::steady_clock::now(), limit);
}

TEST(ThreadPool, EndsWhileItsWorkersSpinOrSleep) {
  for (int n = 0; n < 50; ++n) {
    ThreadPool pool(3);
    for (int i = 0; i < n; ++i) run(pool, 3, [](std::int64_t) {});
    if (n % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

}  // namespace
}  // namespace loup::detail
