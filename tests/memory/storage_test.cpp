#include "loup/memory/storage.h"

#include <atomic>
#include <bit>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loup/memory/pool.h"

namespace loup {
namespace {

/// Counts how often it is destroyed.
class Owner : public MemoryContext {
 public:
  explicit Owner(std::atomic<int>& destroyed) : destroyed_(destroyed) {}
  ~Owner() override { ++destroyed_; }

 private:
  std::atomic<int>& destroyed_;
};

TEST(Storage, OfNothingIsHarmless) {
  const Storage storage;
  EXPECT_EQ(storage.data(), nullptr);
  EXPECT_EQ(storage.bytes(), 0U);
  EXPECT_EQ(storage.version(), 0U);
  EXPECT_EQ(storage.use_count(), 0U);
  EXPECT_TRUE(storage.is_writable());
  storage.bump_version();
}

TEST(Storage, IsAlignedWhateverItsSize) {
  for (const std::size_t bytes : {0UL, 1UL, 100UL, 32768UL, 32769UL, 65536UL, 1000000UL}) {
    const Storage storage = Storage::allocate(bytes);
    EXPECT_EQ(storage.bytes(), bytes);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(storage.data()) % 64, 0U) << bytes;
    if (bytes > 0) storage.data()[bytes - 1] = std::byte{1};
  }
}

TEST(Storage, IsSharedByItsCopies) {
  const Storage storage = Storage::allocate(8);
  const Storage copy = storage;  // NOLINT(performance-unnecessary-copy-initialization): the test
  EXPECT_EQ(copy, storage);
  EXPECT_EQ(copy.data(), storage.data());
  EXPECT_EQ(storage.use_count(), 2U);
}

TEST(Storage, CountsItsHandles) {
  Storage a = Storage::allocate(8);
  {
    const Storage b = a;  // NOLINT(performance-unnecessary-copy-initialization): the test
    EXPECT_EQ(a.use_count(), 2U);
  }
  EXPECT_EQ(a.use_count(), 1U);
  const Storage c = std::move(a);
  EXPECT_EQ(c.use_count(), 1U);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): moved-from is empty
}

TEST(Storage, LetsGoOfItsOldBytesWhenAssigned) {
  Storage a = Storage::allocate(8);
  const Storage b = Storage::allocate(8);
  const Storage old = a;
  a = b;
  EXPECT_EQ(old.use_count(), 1U);
  EXPECT_EQ(b.use_count(), 2U);
  a = *&a;
  EXPECT_EQ(b.use_count(), 2U);
}

TEST(Storage, ReturnsLargeBytesToThePool) {
  const auto before = memory::pool_statistics().bytes_in_use;
  {
    const Storage storage = Storage::allocate(3'000'000);
  }
  EXPECT_EQ(memory::pool_statistics().bytes_in_use, before);
}

TEST(Storage, CountsChangesForAllHandles) {
  const Storage storage = Storage::allocate(8);
  const Storage copy = storage;  // NOLINT(performance-unnecessary-copy-initialization): the test
  copy.bump_version();
  EXPECT_EQ(storage.version(), 1U);
}

TEST(AdoptedStorage, ShowsTheBytesItWasGiven) {
  std::atomic<int> destroyed{0};
  int value = 5;
  const Storage storage =
      Storage::adopt({&value, sizeof value, std::make_shared<Owner>(destroyed), true});
  EXPECT_EQ(static_cast<void*>(storage.data()), &value);
  EXPECT_EQ(storage.bytes(), sizeof value);
}

TEST(AdoptedStorage, LetsItsOwnerGoOnceAndOnlyWithTheLastHandle) {
  std::atomic<int> destroyed{0};
  int value = 5;
  {
    Storage last;
    {
      const Storage storage =
          Storage::adopt({&value, sizeof value, std::make_shared<Owner>(destroyed), true});
      last = storage;
    }
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(value, 5);
}

TEST(AdoptedStorage, MayBeReadOnly) {
  int value = 5;
  EXPECT_FALSE(Storage::adopt({&value, sizeof value, nullptr, false}).is_writable());
  EXPECT_TRUE(Storage::adopt({&value, sizeof value, nullptr, true}).is_writable());
  EXPECT_TRUE(Storage::allocate(8).is_writable());
}

TEST(AdoptedStorage, MayHaveNoBytes) {
  std::atomic<int> destroyed{0};
  {
    const Storage storage = Storage::adopt({nullptr, 0, std::make_shared<Owner>(destroyed), true});
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(AdoptedStorage, LetsItsOwnerGoOnceWhenManyThreadsHoldIt) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> destroyed{0};
    int value = 5;
    Storage storage =
        Storage::adopt({&value, sizeof value, std::make_shared<Owner>(destroyed), true});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([held = storage]() mutable {
        for (int i = 0; i < 100; ++i) {
          Storage copy = held;
          copy = Storage();
        }
        held = Storage();
      });
    }
    storage = Storage();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    ASSERT_EQ(destroyed, 1);
  }
}

}  // namespace
}  // namespace loup
