#include "loup/base/parallel.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "loup/base/threads.h"
#include "tests/support/errors.h"
#include "tests/support/settings.h"

namespace loup {
namespace {

using test::expect_error;
using test::with_threads;

TEST(ParallelFor, CallsEveryIndexOnce) {
  with_threads({1, 2, 7}, [] {
    for (const std::int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& n : calls) ASSERT_EQ(n, 1);
    }
  });
}

TEST(ParallelFor, UsesNoMoreThreadsThanAsked) {
  with_threads({1, 2, 7}, [] {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    parallel_for(500, [&](std::int64_t) {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    EXPECT_LE(static_cast<int>(ids.size()), num_threads());
  });
}

TEST(ParallelFor, UsesASecondThreadForWorkThatWaits) {
  const test::ThreadScope threads(2);
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  parallel_for(2, [&](std::int64_t) {
    ++inside;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!met && std::chrono::steady_clock::now() < limit) {
      if (inside == 2) met = true;
    }
  });
  EXPECT_TRUE(met);
}

TEST(ParallelFor, RethrowsAnExceptionAndWorksAfterwards) {
  with_threads({1, 2, 7}, [] {
    try {
      parallel_for(1000, [](std::int64_t i) {
        if (i == 500) throw std::runtime_error("number 500");
      });
      FAIL() << "expected an exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "number 500");
    }
    std::atomic<int> calls{0};
    parallel_for(100, [&](std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 100);
  });
}

TEST(ParallelFor, MayBeNested) {
  with_threads({1, 2, 7}, [] {
    std::atomic<int> calls{0};
    parallel_for(20, [&](std::int64_t) { parallel_for(30, [&](std::int64_t) { ++calls; }); });
    EXPECT_EQ(calls, 600);
  });
}

TEST(ParallelFor, MayBeCalledFromSeveralThreads) {
  const test::ThreadScope threads(2);
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int n = 0; n < 20; ++n) parallel_for(50, [&](std::int64_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 4 * 20 * 50);
}

TEST(ParallelFor, StaysOnTheCallingThreadForLittleWork) {
  const test::ThreadScope threads(7);
  const auto self = std::this_thread::get_id();
  parallel_for(100, serial_bytes,
               [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST(ParallelFor, SharesMediumWorkOnceCallsFollowEachOther) {
  if (detail::usable_cpus() < 2) GTEST_SKIP() << "nobody waits for work on a single CPU";
  const test::ThreadScope threads(2);
  const auto self = std::this_thread::get_id();
  std::atomic<bool> is_shared{false};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_shared && std::chrono::steady_clock::now() < limit) {
    parallel_for(8, waking_bytes, [&](std::int64_t) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
      while (std::chrono::steady_clock::now() < end) {
      }
      if (std::this_thread::get_id() != self) is_shared = true;
    });
  }
  EXPECT_TRUE(is_shared);
}

TEST(ParallelFor, NestsThreeDeepFromSeveralThreads) {
  with_threads({2, 7}, [] {
    std::atomic<int> calls{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 3; ++t) {
      callers.emplace_back([&] {
        parallel_for(6, [&](std::int64_t) {
          parallel_for(6, [&](std::int64_t) { parallel_for(6, [&](std::int64_t) { ++calls; }); });
        });
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(calls, 3 * 6 * 6 * 6);
  });
}

/// Runs `check` in a forked child, which reports through its exit code.
template <class Check>
bool holds_in_child(Check&& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a loop that hangs ends the child, not the whole test run
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool counts_to(int wanted) {
  std::atomic<int> calls{0};
  parallel_for(wanted, [&](std::int64_t) { ++calls; });
  return calls == wanted;
}

TEST(ParallelFor, WorksInAForkedChild) {
  with_threads({1, 2, 7}, [] {
    ASSERT_TRUE(counts_to(100));
    const int threads = num_threads();
    EXPECT_TRUE(holds_in_child([=] { return counts_to(100) && num_threads() == threads; }));
  });
}

TEST(ParallelFor, UsesSeveralThreadsInAForkedChild) {
  const test::ThreadScope threads(2);
  ASSERT_TRUE(counts_to(100));
  EXPECT_TRUE(holds_in_child([] {
    std::atomic<int> inside{0};
    parallel_for(2, [&](std::int64_t) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    });
    return true;
  }));
}

TEST(ParallelFor, WorksInTheChildOfAChild) {
  const test::ThreadScope threads(2);
  ASSERT_TRUE(counts_to(100));
  EXPECT_TRUE(holds_in_child(
      [] { return counts_to(50) && holds_in_child([] { return counts_to(100); }); }));
}

TEST(ParallelFor, WorksInTheParentAfterAFork) {
  const test::ThreadScope threads(2);
  ASSERT_TRUE(holds_in_child([] { return counts_to(10); }));
  EXPECT_TRUE(counts_to(100));
}

TEST(ParallelFor, WorksInAChildThatIsForkedWhileLoopsRun) {
  const test::ThreadScope threads(2);
  std::atomic<bool> stop{false};
  std::atomic<bool> wrong{false};
  std::thread runner([&] {
    while (!stop) wrong = wrong || !counts_to(64);
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(holds_in_child([] { return counts_to(100); }));
  }
  stop = true;
  runner.join();
  EXPECT_FALSE(wrong);
}

TEST(SetNumThreads, RefusesWhatIsNotANumberOfThreads) {
  const int before = num_threads();
  expect_error<ValueError>([] { set_num_threads(0); },
                           "set_num_threads: expected a number of threads from 1 to 1024", "got 0");
  expect_error<ValueError>([] { set_num_threads(1025); },
                           "set_num_threads: expected a number of threads from 1 to 1024",
                           "got 1025");
  EXPECT_EQ(num_threads(), before);
}

TEST(SetNumThreads, MayBeCalledWhileLoopsRun) {
  const test::ThreadScope restores(2);
  std::atomic<bool> stop{false};
  std::atomic<bool> wrong{false};
  std::thread runner([&] {
    while (!stop) wrong = wrong || !counts_to(64);
  });
  for (int i = 0; i < 30; ++i) set_num_threads(1 + i % 5);
  stop = true;
  runner.join();
  EXPECT_FALSE(wrong);
}

TEST(SetNumThreads, MayBeCalledInsideALoop) {
  const test::ThreadScope restores(3);
  std::atomic<int> calls{0};
  parallel_for(40, [&](std::int64_t i) {
    set_num_threads(1 + static_cast<int>(i) % 4);
    parallel_for(5, [&](std::int64_t) { ++calls; });
  });
  EXPECT_EQ(calls, 200);
}

struct Interrupted {};

TEST(InterruptScope, EndsALongLoop) {
  with_threads({1, 2}, [] {
    const InterruptScope scope([] { throw Interrupted(); });
    std::atomic<int> calls{0};
    EXPECT_THROW(parallel_for(1000,
                              [&](std::int64_t) {
                                ++calls;
                                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                              }),
                 Interrupted);
    EXPECT_LT(calls, 1000);
  });
}

TEST(InterruptScope, LeavesShortLoopsAlone) {
  const InterruptScope scope([] { throw Interrupted(); });
  EXPECT_TRUE(counts_to(10));
}

TEST(InterruptScope, EndsWithItsLife) {
  {
    const InterruptScope scope([] { throw Interrupted(); });
  }
  EXPECT_NO_THROW(parallel_for(
      40, [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }));
}

}  // namespace
}  // namespace loup
