#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <thread>
#include <vector>

#include "tests/memory/faults.h"
#include "tests/support/random.h"

// Processes that create, attach, fork and sweep while they are killed at random. Nobody who is
// attached may lose the name, and one sweep removes what is left in the end.

namespace loup::test {
namespace {

using Segment = RefcountedMapAllocator;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// In memory that all processes share.
struct Counts {
  std::atomic<std::uint64_t> attaches, creates, detaches, forks, sweeps, kills, lost, failed;
};

constexpr int segment_names = 6;

std::chrono::seconds duration() {
  const char* const seconds = std::getenv("LOUP_SOAK_SECONDS");
  return std::chrono::seconds(seconds != nullptr ? std::strtol(seconds, nullptr, 10) : 5);
}

/// The name of a segment that we are attached to has to be there, and ours.
void check(const Segment& segment, Counts& counts) {
  try {
    if (segment.attachments() == 0) ++counts.lost;
  } catch (const MapError& error) {
    ++counts.lost;
    fprintf(stderr, "%s\n", error.what());
  }
}

void act(std::mt19937& random, std::vector<std::unique_ptr<Segment>>& held, Counts& counts) {
  const std::string name = "soak" + std::to_string(random() % segment_names);
  const auto choice = random() % 100;
  if (choice < 30) {
    held.emplace_back(new Segment(Segment::attach(name)));
    ++counts.attaches;
  } else if (choice < 45) {
    held.emplace_back(new Segment(Segment::create(name, 4096)));
    ++counts.creates;
  } else if (choice < 93) {
    if (!held.empty()) {
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
      ++counts.detaches;
    }
  } else if (choice < 96) {
    shm::sweep({.ns = memory::shm_namespace()});
    ++counts.sweeps;
  } else if (choice < 98 && !held.empty()) {
    ++counts.forks;
    if (fork() == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
      check(*held.front(), counts);
      held.clear();
      _exit(0);
    }
  }
  if (!held.empty()) check(*held[random() % held.size()], counts);
}

[[noreturn]] void work(unsigned seed, Counts& counts) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGCHLD, SIG_IGN);
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<Segment>> held;
  for (;;) {
    try {
      act(random, held, counts);
    } catch (const MapError& error) {
      // What others do at the same time may be in the way; anything else is a fault.
      const auto kind = error.kind();
      if (kind != MapError::Kind::not_found && kind != MapError::Kind::already_exists) {
        ++counts.failed;
        fprintf(stderr, "%s\n", error.what());
      }
    }
    if (held.size() > 4) held.erase(held.begin());
  }
}

TEST_F(MapFaults, T23_RandomKillsLoseNoLiveNameAndLeaveNothing) {
  auto* const counts = static_cast<Counts*>(
      mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const unsigned seed = static_cast<unsigned>(Clock::now().time_since_epoch().count());
  std::mt19937 random(seed);
  constexpr int workers = 8;
  std::vector<pid_t> pids;
  const auto start_worker = [&] {
    const unsigned chosen = static_cast<unsigned>(random());
    const pid_t pid = fork();
    if (pid == 0) work(chosen, *counts);
    return pid;
  };
  for (int i = 0; i < workers; ++i) pids.push_back(start_worker());
  const auto end = Clock::now() + duration();
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1500));
    pid_t& victim = pids[random() % pids.size()];
    kill(victim, SIGKILL);
    waitpid(victim, nullptr, 0);
    ++counts->kills;
    victim = start_worker();
  }
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  // Children of the killed are ours now.
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  const auto swept = shm::sweep({.ns = memory::shm_namespace()});
  const auto left = shm::list(memory::shm_namespace());
  printf(
      "soak: seed %u, %lld s, %lu attaches, %lu creates, %lu detaches, %lu forks, %lu sweeps, %lu "
      "kills, %lu lost, %lu failed, %zu swept at the end, %zu left\n",
      seed, static_cast<long long>(duration().count()), counts->attaches.load(),
      counts->creates.load(), counts->detaches.load(), counts->forks.load(), counts->sweeps.load(),
      counts->kills.load(), counts->lost.load(), counts->failed.load(), swept.removed.size(),
      left.size());
  EXPECT_EQ(counts->lost, 0U) << "seed " << seed;
  EXPECT_EQ(counts->failed, 0U) << "seed " << seed;
  EXPECT_TRUE(left.empty()) << "seed " << seed;
  EXPECT_TRUE(swept.failed.empty());
  EXPECT_GT(counts->attaches, 0U);
  munmap(counts, sizeof(Counts));
}

}  // namespace
}  // namespace loup::test
