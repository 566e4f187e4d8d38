#include "loup/memory/pool.h"

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "loup/base/error.h"
#include "tests/support/random.h"
#include "tests/support/sanitizer.h"

namespace loup::memory {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20U;

/// A known limit and an empty pool, restored afterwards.
class Pool : public testing::Test {
 protected:
  Pool() {
    set_pool_limit(64 * megabyte);
    trim_pool();
  }
  ~Pool() override {
    trim_pool();
    set_pool_limit(before_);
  }
  std::size_t before_ = pool_limit();
};

TEST_F(Pool, AlignsEverySize) {
  for (const std::size_t bytes :
       {0UL, 1UL, 63UL, 64UL, 65UL, 4096UL, 65536UL, 65537UL, 100000UL, 3 * megabyte + 5}) {
    void* const block = allocate(bytes);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(block) % 64, 0U) << bytes;
    std::memset(block, 0x5A, bytes);
    release(block, bytes);
  }
}

TEST_F(Pool, GivesDifferentBlocksToDifferentCallers) {
  std::vector<unsigned char*> blocks;
  for (unsigned char i = 0; i < 100; ++i) {
    blocks.push_back(static_cast<unsigned char*>(allocate(200)));
    std::memset(blocks.back(), i, 200);
  }
  for (unsigned char i = 0; i < 100; ++i) {
    EXPECT_EQ(blocks[i][0], i);
    EXPECT_EQ(blocks[i][199], i);
    release(blocks[i], 200);
  }
}

TEST_F(Pool, ReusesASmallBlockOfTheSameClass) {
  if (test::under_address_sanitizer) GTEST_SKIP() << "nothing is kept under AddressSanitizer";
  void* const block = allocate(100);
  release(block, 100);
  void* const again = allocate(120);
  EXPECT_EQ(again, block);
  release(again, 120);
}

TEST_F(Pool, ReusesALargeBlockOfNearlyTheSameSize) {
  void* const block = allocate(10 * megabyte);
  release(block, 10 * megabyte);
  void* const again = allocate(10 * megabyte - 100);
  EXPECT_EQ(again, block);
  release(again, 10 * megabyte - 100);
}

TEST_F(Pool, CountsLargeBlocks) {
  const PoolStatistics before = pool_statistics();
  reset_pool_peak();
  void* const block = allocate(4 * megabyte);
  const PoolStatistics inside = pool_statistics();
  EXPECT_EQ(inside.bytes_in_use, before.bytes_in_use + 4 * megabyte);
  EXPECT_EQ(inside.peak_bytes, inside.bytes_in_use);
  EXPECT_EQ(inside.allocations, before.allocations + 1);
  release(block, 4 * megabyte);
  const PoolStatistics after = pool_statistics();
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.bytes_kept, 4 * megabyte);
  EXPECT_EQ(after.peak_bytes, inside.peak_bytes);
  reset_pool_peak();
  EXPECT_EQ(pool_statistics().peak_bytes, before.bytes_in_use);
}

TEST_F(Pool, DoesNotCountSmallBlocks) {
  const auto before = pool_statistics().allocations;
  release(allocate(1000), 1000);
  EXPECT_EQ(pool_statistics().allocations, before);
}

TEST_F(Pool, KeepsNoMoreThanItsLimit) {
  set_pool_limit(10 * megabyte);
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(allocate(4 * megabyte));
  for (void* const block : blocks) {
    release(block, 4 * megabyte);
    EXPECT_LE(pool_statistics().bytes_kept, 10 * megabyte);
  }
  EXPECT_EQ(pool_statistics().bytes_kept, 8 * megabyte);
}

TEST_F(Pool, KeepsNothingWithALimitOfZero) {
  set_pool_limit(0);
  release(allocate(4 * megabyte), 4 * megabyte);
  EXPECT_EQ(pool_statistics().bytes_kept, 0U);
}

TEST_F(Pool, FreesAtOnceWhatALowerLimitForbids) {
  release(allocate(20 * megabyte), 20 * megabyte);
  ASSERT_EQ(pool_statistics().bytes_kept, 20 * megabyte);
  set_pool_limit(megabyte);
  EXPECT_EQ(pool_statistics().bytes_kept, 0U);
  EXPECT_EQ(pool_limit(), megabyte);
}

TEST_F(Pool, ReturnsEverythingWhenTrimmed) {
  release(allocate(20 * megabyte), 20 * megabyte);
  trim_pool();
  EXPECT_EQ(pool_statistics().bytes_kept, 0U);
}

TEST_F(Pool, SaysWhenThereIsNoMemoryAndCountsNothing) {
  if (test::under_address_sanitizer) GTEST_SKIP() << "AddressSanitizer would end the process";
  reset_pool_peak();
  const PoolStatistics before = pool_statistics();
  EXPECT_THROW(allocate(std::size_t{1} << 60U), std::bad_alloc);
  EXPECT_THROW(allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_EQ(pool_statistics().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(pool_statistics().peak_bytes, before.peak_bytes);
}

TEST_F(Pool, IgnoresANullBlock) { release(nullptr, 100); }

TEST_F(Pool, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<int> damaged(6);
  for (std::size_t t = 0; t < damaged.size(); ++t) {
    threads.emplace_back([&damaged, t] {
      test::Random random(t);
      for (int i = 0; i < 400; ++i) {
        const auto bytes = static_cast<std::size_t>(
            random.chance(0.8) ? random.integer(1, 5000) : random.integer(70'000, 900'000));
        auto* const block = static_cast<unsigned char*>(allocate(bytes));
        const auto mark = static_cast<unsigned char>(random.bits());
        block[0] = mark;
        block[bytes - 1] = mark;
        std::this_thread::yield();
        if (block[0] != mark || block[bytes - 1] != mark) ++damaged[t];
        release(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, std::vector<int>(6, 0));
}

TEST_F(Pool, TakesBlocksBackInAnotherThread) {
  for (const std::size_t bytes : {std::size_t{100}, 2 * megabyte}) {
    void* const block = allocate(bytes);
    std::thread([=] { release(block, bytes); }).join();
  }
  EXPECT_EQ(pool_statistics().bytes_kept, 2 * megabyte);
}

/// Holds a block until its thread's other objects are gone.
struct LateOwner {
  void* block = nullptr;
  ~LateOwner() { release(block, 100); }
};

TEST_F(Pool, TakesBlocksBackWhileAThreadEnds) {
  std::thread([] {
    thread_local LateOwner owner;  // made before the thread's own blocks, so it dies after them
    owner.block = allocate(100);
    release(allocate(200), 200);
  }).join();
}

TEST_F(Pool, ReturnsIdleBlocksByItself) {
  release(allocate(4 * megabyte), 4 * megabyte);
  ASSERT_EQ(pool_statistics().bytes_kept, 4 * megabyte);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (pool_statistics().bytes_kept > 0 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(pool_statistics().bytes_kept, 0U);
}

/// The default is read once, so each value needs a process of its own.
class PoolLimit : public testing::Test {
 protected:
  void SetUp() override {
    if (test::under_address_sanitizer) GTEST_SKIP() << "nothing is kept under AddressSanitizer";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  ~PoolLimit() override { unsetenv("LOUP_POOL_LIMIT"); }
};

TEST_F(PoolLimit, FollowsTheEnvironment) {
  setenv("LOUP_POOL_LIMIT", "12345678", 1);
  EXPECT_EXIT(std::_Exit(pool_limit() == 12345678 ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_F(PoolLimit, RefusesTextThatIsNotANumber) {
  setenv("LOUP_POOL_LIMIT", "12 GB", 1);
  const auto complain = [] {
    try {
      pool_limit();
    } catch (const ValueError& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(3);
    }
  };
  EXPECT_EXIT(complain(), testing::ExitedWithCode(3),
              "LOUP_POOL_LIMIT: expected a number of bytes, got '12 GB'");
}

TEST_F(Pool, WorksInAForkedChild) {
  release(allocate(4 * megabyte), 4 * megabyte);  // starts the sweeper
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    auto* const block = static_cast<unsigned char*>(allocate(4 * megabyte));
    block[0] = 1;
    release(block, 4 * megabyte);
    release(allocate(100), 100);
    trim_pool();
    _exit(pool_statistics().bytes_kept == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace loup::memory
