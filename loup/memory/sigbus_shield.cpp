#include "loup/memory/sigbus_shield.h"

#include <cerrno>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace loup {

namespace memory {

namespace {

std::atomic<ShieldedRange*> all_ranges{nullptr};
ShieldedRange* free_ranges = nullptr;

// Mappings may be released while static objects are destroyed, and made in a child of fork.
std::mutex& ranges_mutex() {
  static std::mutex* const mutex = [] {
    pthread_atfork([] { ranges_mutex().lock(); }, [] { ranges_mutex().unlock(); },
                   [] { ranges_mutex().unlock(); });
    return new std::mutex;
  }();
  return *mutex;
}

struct sigaction previous_action{};
bool is_installed = false;

/// The range around an address; null when it is not ours.
ShieldedRange* range_of(std::uintptr_t address) {
  for (ShieldedRange* range = all_ranges.load(std::memory_order_acquire); range != nullptr;
       range = range->next) {
    const std::uintptr_t first = range->first.load(std::memory_order_acquire);
    if (first != 0 && address >= first && address - first < range->bytes.load()) return range;
  }
  return nullptr;
}

bool replace_by_zeros(ShieldedRange& range, std::uintptr_t address) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = address / page * page;
  const std::uintptr_t end = (range.first + range.bytes + page - 1) / page * page;
  range.is_poisoned = true;
  const int protection = range.is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the address comes from the system
  return mmap(reinterpret_cast<void*>(first), end - first, protection,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

void handle(int number, siginfo_t* info, void* context) {
  const int before = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  ShieldedRange* const range = info->si_code == BUS_ADRERR ? range_of(address) : nullptr;
  const bool is_done = range != nullptr && replace_by_zeros(*range, address);
  errno = before;
  if (is_done) return;
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(number, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(number);
  } else {
    signal(SIGBUS, SIG_DFL);  // the access is repeated, and ends the process as it would have
  }
}

}  // namespace

ShieldedRange* shield(const void* data, std::size_t bytes, bool is_writable) {
  const std::lock_guard lock(ranges_mutex());
  ShieldedRange* range = free_ranges;
  if (range != nullptr) {
    free_ranges = range->next_free;
  } else {
    range = new ShieldedRange;
    range->next = all_ranges.load(std::memory_order_relaxed);
    all_ranges.store(range, std::memory_order_release);
  }
  range->bytes = bytes;
  range->is_writable = is_writable;
  range->is_poisoned = false;
  range->first.store(reinterpret_cast<std::uintptr_t>(data), std::memory_order_release);
  return range;
}

void unshield(ShieldedRange* range) noexcept {
  const std::lock_guard lock(ranges_mutex());
  range->first = 0;
  range->next_free = free_ranges;
  free_ranges = range;
}

}  // namespace memory

void set_sigbus_shield(bool on) {
  const std::lock_guard lock(memory::ranges_mutex());
  if (on == memory::is_installed) return;
  if (on) {
    struct sigaction action{};
    action.sa_sigaction = memory::handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &memory::previous_action);
  } else {
    sigaction(SIGBUS, &memory::previous_action, nullptr);
  }
  memory::is_installed = on;
}

}  // namespace loup
