#include "loup/memory/pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <list>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "loup/base/error.h"

// AddressSanitizer must see every free, so nothing is kept under it.
#if defined(__SANITIZE_ADDRESS__)
#define LOUP_POOL_KEEPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOUP_POOL_KEEPS 0
#endif
#endif
#ifndef LOUP_POOL_KEEPS
#define LOUP_POOL_KEEPS 1
#endif

namespace loup::memory {

namespace {

using Time = std::chrono::nanoseconds;

/// To a few milliseconds, which is enough to know what lies idle for seconds, and ten times as
/// fast.
Time coarse_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::chrono::seconds(time.tv_sec) + Time(time.tv_nsec);
}

constexpr std::size_t alignment = 64;
constexpr std::size_t largest_small = 64 * 1024;
constexpr std::size_t huge_page = 2 * 1024 * 1024;
constexpr auto idle_time = std::chrono::seconds(10);

void* aligned_block(std::size_t align, std::size_t bytes) {
  void* block = std::aligned_alloc(align, bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// --- small blocks: per-thread stacks by power of two, no locks, no counters ---

constexpr std::size_t class_count = 11;  // 64 B, 128 B, … 64 KB
constexpr std::size_t kept_per_class = 32;

std::size_t size_class(std::size_t bytes) {
  return bytes <= alignment ? 0 : static_cast<std::size_t>(std::bit_width((bytes - 1) / alignment));
}

/// Of one thread. Zeros to begin with, so that nothing has to be made before it is looked at.
struct SmallBlocks {
  struct Stack {
    std::array<void*, kept_per_class> blocks;
    std::size_t size;
  };
  std::array<Stack, class_count> stacks;
  // Whether it is emptied when the thread ends. Before it has blocks it is not; nor after that:
  // tensors may outlive the thread's own objects, as static ones are destroyed after them.
  bool keeps, is_gone;
};
constinit thread_local SmallBlocks small_blocks{};

struct SmallBlocksKeeper {
  SmallBlocksKeeper() noexcept { small_blocks.keeps = true; }
  SmallBlocksKeeper(const SmallBlocksKeeper&) = delete;
  SmallBlocksKeeper& operator=(const SmallBlocksKeeper&) = delete;
  ~SmallBlocksKeeper() {
    SmallBlocks& own = small_blocks;
    own.keeps = false;
    own.is_gone = true;
    for (SmallBlocks::Stack& stack : own.stacks) {
      while (stack.size > 0) std::free(stack.blocks[--stack.size]);
    }
  }
};

/// Lets the thread keep blocks from now on, if it is not about to end.
bool begin_to_keep() noexcept {
  if (LOUP_POOL_KEEPS == 0 || small_blocks.is_gone) return false;
  thread_local const SmallBlocksKeeper keeper;
  return small_blocks.keeps;
}

void* allocate_small(std::size_t bytes) {
  const std::size_t c = size_class(bytes);
  SmallBlocks::Stack& stack = small_blocks.stacks[c];
  if (stack.size > 0) return stack.blocks[--stack.size];
  return aligned_block(alignment, alignment << c);
}

void release_small(void* block, std::size_t bytes) noexcept {
  SmallBlocks& own = small_blocks;
  if (own.keeps || begin_to_keep()) {
    SmallBlocks::Stack& stack = own.stacks[size_class(bytes)];
    if (stack.size < kept_per_class) {
      stack.blocks[stack.size++] = block;
      return;
    }
  }
  std::free(block);
}

// --- large blocks: one list, bounded, emptied when idle ---

/// Mapped, not taken from the heap: freeing it returns it to the system whatever lies around it.
void* map_block(std::size_t bytes) {
  if (LOUP_POOL_KEEPS == 0) return aligned_block(alignment, bytes);
  const std::size_t slack = bytes >= huge_page ? huge_page : 0;
  void* mapped =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  if (slack == 0) return mapped;
  auto* first = static_cast<std::byte*>(mapped);
  const std::size_t head =
      (huge_page - std::bit_cast<std::uintptr_t>(first) % huge_page) % huge_page;
  if (head > 0) munmap(first, head);
  if (slack > head) munmap(first + head + bytes, slack - head);
  madvise(first + head, bytes, MADV_HUGEPAGE);
  return first + head;
}

void unmap_block(void* block, std::size_t bytes) noexcept {
  if (LOUP_POOL_KEEPS == 0) {
    std::free(block);
  } else {
    munmap(block, bytes);
  }
}

/// In a container the group's limit, not the machine's memory, is what there is.
std::size_t memory_bytes() {
  const auto pages = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const std::size_t machine = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t group = machine;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> group)) return machine;
  return std::min(machine, group);
}

std::size_t default_limit() {
  if (LOUP_POOL_KEEPS == 0) return 0;
  if (const char* text = std::getenv("LOUP_POOL_LIMIT")) {
    std::size_t bytes = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, bytes);
    if (error != std::errc{} || stop != end) {
      throw ValueError("LOUP_POOL_LIMIT: expected a number of bytes, got '{}'", text);
    }
    return bytes;
  }
  return memory_bytes() / 8;
}

class LargeBlocks {
 public:
  void* allocate(std::size_t bytes) {
    const std::size_t rounded = round_up(bytes);
    if (void* block = take_kept(rounded)) return block;
    void* block = map_block(rounded);
    const std::lock_guard lock(mutex_);
    count_use(rounded);
    return block;
  }

  void release(void* block, std::size_t bytes) noexcept {
    const std::size_t rounded = round_up(bytes);
    std::list<Kept> surplus;
    {
      const std::lock_guard lock(mutex_);
      statistics_.bytes_in_use -= rounded;
      try {
        kept_.push_front({block, rounded, coarse_now()});
        block = nullptr;
      } catch (const std::bad_alloc&) {
        // Then this block is simply not kept.
      }
      if (block == nullptr) statistics_.bytes_kept += rounded;
      move_surplus(limit_, Time::min(), surplus);
      if (!kept_.empty()) start_sweeper();
    }
    if (block != nullptr) unmap_block(block, rounded);
    free_all(surplus);
  }

  void set_limit(std::size_t bytes) {
    std::list<Kept> surplus;
    {
      const std::lock_guard lock(mutex_);
      limit_ = bytes;
      move_surplus(limit_, Time::min(), surplus);
    }
    free_all(surplus);
  }

  std::size_t limit() {
    const std::lock_guard lock(mutex_);
    return limit_;
  }

  void trim() noexcept {
    std::list<Kept> surplus;
    {
      const std::lock_guard lock(mutex_);
      move_surplus(0, Time::max(), surplus);
    }
    free_all(surplus);
  }

  PoolStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    statistics_.peak_bytes = statistics_.bytes_in_use;
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void after_fork_in_child() {
    sweeping_ = false;  // the sweeper stayed with the parent
    mutex_.unlock();
  }

 private:
  struct Kept {
    void* block;
    std::size_t bytes;
    Time since;
  };

  /// To 2 MB, or below that to a quarter of a power of two, so that blocks are found again.
  static std::size_t round_up(std::size_t bytes) {
    if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
    const std::size_t step = std::min(huge_page, std::bit_floor(bytes) / 4);
    return (bytes + step - 1) / step * step;
  }

  void* take_kept(std::size_t rounded) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, rounded, &Kept::bytes);
    if (found == kept_.end()) return nullptr;
    void* block = found->block;
    statistics_.bytes_kept -= rounded;
    kept_.erase(found);
    count_use(rounded);
    return block;
  }

  void count_use(std::size_t rounded) {
    ++statistics_.allocations;
    statistics_.bytes_in_use += rounded;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.bytes_in_use);
  }

  /// Moves the oldest blocks out until at most `limit` bytes are left, and all kept since before
  /// `oldest`. The newest stand in front.
  void move_surplus(std::size_t limit, Time oldest, std::list<Kept>& surplus) {
    while (!kept_.empty() && (statistics_.bytes_kept > limit || kept_.back().since < oldest)) {
      statistics_.bytes_kept -= kept_.back().bytes;
      surplus.splice(surplus.end(), kept_, std::prev(kept_.end()));
    }
  }

  static void free_all(const std::list<Kept>& blocks) {
    for (const Kept& kept : blocks) unmap_block(kept.block, kept.bytes);
  }

  /// A thread that lives only while blocks are kept.
  void start_sweeper() noexcept {
    if (sweeping_) return;
    try {
      std::thread([this] { sweep(); }).detach();
      sweeping_ = true;
    } catch (const std::exception&) {
      // Without a thread, blocks go back at the limit or by trim_pool().
    }
  }

  void sweep() {
    while (true) {
      std::this_thread::sleep_for(idle_time / 2);
      std::list<Kept> surplus;
      bool done = false;
      {
        const std::lock_guard lock(mutex_);
        move_surplus(limit_, coarse_now() - idle_time, surplus);
        done = kept_.empty();
        if (done) sweeping_ = false;
      }
      free_all(surplus);
      if (done) return;
    }
  }

  std::mutex mutex_;
  std::list<Kept> kept_;
  std::size_t limit_ = default_limit();
  PoolStatistics statistics_{};
  bool sweeping_ = false;
};

LargeBlocks& large_blocks() {
  // Never destroyed: tensors may be freed after static objects are.
  static LargeBlocks* const blocks = [] {
    auto* made = new LargeBlocks;
    pthread_atfork([] { large_blocks().before_fork(); }, [] { large_blocks().after_fork(); },
                   [] { large_blocks().after_fork_in_child(); });
    return made;
  }();
  return *blocks;
}

}  // namespace

void* allocate(std::size_t bytes) {
  return bytes <= largest_small ? allocate_small(bytes) : large_blocks().allocate(bytes);
}

void release(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  if (bytes <= largest_small) {
    release_small(block, bytes);
  } else {
    large_blocks().release(block, bytes);
  }
}

void set_pool_limit(std::size_t bytes) { large_blocks().set_limit(bytes); }
std::size_t pool_limit() { return large_blocks().limit(); }
void trim_pool() noexcept { large_blocks().trim(); }
PoolStatistics pool_statistics() { return large_blocks().statistics(); }
void reset_pool_peak() { large_blocks().reset_peak(); }

}  // namespace loup::memory
