#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

#include <gmock/gmock.h>

#include "loup/memory/segment_header.h"
#include "tests/memory/faults.h"
#include "tests/support/errors.h"
#include "tests/support/sanitizer.h"

namespace loup::test {
namespace {

using enum MapFlags;
using Kind = MapError::Kind;
using Segment = RefcountedMapAllocator;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string text_of(const MapAllocator& map, std::size_t bytes) {
  return {static_cast<const char*>(map.data()), bytes};
}

/// Our names, without those that `held` had.
std::vector<std::string> names() {
  const Held held = Held::now();
  return {held.names.begin(), held.names.end()};
}

/// Kills a child before each of its system calls in turn, until it lives through all of them.
/// `check` looks at what each of them left behind.
template <class Body, class Check>
void kill_at_every_step(const Body& body, const Check& check) {
  for (int step = 0;; ++step) {
    SCOPED_TRACE("killed at step " + std::to_string(step));
    ASSERT_LT(step, 100);
    const Outcome outcome = run_in_child([&]() -> std::string {
      return body([&] {
        fault = {};
        fault.at = step;
        memory::system_hook = fail_once;
      });
    });
    check();
    if (!outcome.was_killed()) {
      EXPECT_TRUE(outcome.is_fine()) << outcome;
      EXPECT_GT(step, 3);
      return;
    }
  }
}

TEST_F(MapFaults, T19_KilledWhileCreatingThereIsNoNameOrACompleteSegment) {
  kill_at_every_step(
      [](const auto& arm) -> std::string {
        arm();
        const auto segment = Segment::create("half", 100);
        memory::system_hook = nullptr;
        _exit(0);  // without a detach
      },
      [] {
        for (const SegmentInfo& segment : shm::list(memory::shm_namespace())) {
          EXPECT_EQ(segment.bytes, 100U);
          EXPECT_FALSE(segment.is_live());
        }
        EXPECT_EQ(shm::list(memory::shm_namespace()).size(), names().size());
        EXPECT_TRUE(shm::sweep({.ns = memory::shm_namespace()}).failed.empty());
        EXPECT_THAT(names(), testing::IsEmpty());
      });
}

TEST_F(MapFaults, T19_WhereFilesNeedANameATemporaryOneServes) {
  fault = {.at = 0, .number = EOPNOTSUPP, .call = "open", .last = {}};
  memory::system_hook = fail_once;
  const auto segment = Segment::create("named", 100);
  memory::system_hook = nullptr;
  EXPECT_EQ(fault.last, "open");
  EXPECT_EQ(Segment::attach("named").size(), 100U);
  const std::string unfinished = "lp.tmp." + memory::shm_namespace();
  for (const auto& entry : std::filesystem::directory_iterator(memory::shm_directory())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(unfinished));
  }
}

TEST_F(MapFaults, T20_KilledWhileAttachingOthersAreUnaffected) {
  auto segment = Segment::create("shared", 100);
  kill_at_every_step(
      [](const auto& arm) -> std::string {
        arm();
        const auto other = Segment::attach("shared");
        memory::system_hook = nullptr;
        _exit(0);
      },
      [&] {
        EXPECT_EQ(segment.attachments(), 1U);
        EXPECT_EQ(Segment::attach("shared").size(), 100U);
      });
  segment.close();
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(MapFaults, T21_KilledWhileDetachingTheSweepRemovesExactlyIt) {
  const auto bystander = Segment::create("bystander", 100);
  const auto persistent = Segment::create("persistent", 100, {.lifetime = Lifetime::persistent});
  kill_at_every_step(
      [](const auto& arm) -> std::string {
        auto segment = Segment::create("left", 100);
        arm();
        segment.close();
        memory::system_hook = nullptr;
        return {};
      },
      [&] {
        const shm::SweepReport report = shm::sweep({.ns = memory::shm_namespace()});
        EXPECT_LE(report.removed.size(), 1U);
        EXPECT_EQ(names().size(), 2U);
        EXPECT_EQ(report.kept.size(), 2U);
      });
  EXPECT_TRUE(shm::remove("persistent", true));
}

TEST_F(MapFaults, T21_ANameLeftBehindDoesNotBlockACreate) {
  EXPECT_TRUE(run_in_child([]() -> std::string {
                const auto segment = Segment::create("left", 100);
                raise(SIGKILL);
                return {};
              }).was_killed());
  ASSERT_EQ(names().size(), 1U);
  EXPECT_EQ(Segment::create("left", 200).size(), 200U);
}

TEST_F(MapFaults, T22_AThousandProcessesAttachAndDetach) {
  const int processes = under_sanitizer ? 100 : 1000;
  {
    const auto segment = Segment::create("busy", 4096);
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        try {
          for (int round = 0; round < 20; ++round) {
            if (Segment::attach("busy").size() != 4096) _exit(2);
          }
        } catch (const std::exception& error) {
          fprintf(stderr, "%s\n", error.what());
          _exit(1);
        }
        _exit(0);
      }
      ASSERT_GT(pid, 0);
      children.push_back(pid);
    }
    int failed = 0;
    for (const pid_t pid : children) {
      int status = 0;
      waitpid(pid, &status, 0);
      failed += status != 0 ? 1 : 0;
    }
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(segment.attachments(), 1U);
  }
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(MapFaults, T24_AHolderInAnotherPidNamespaceCounts) {
  Signal is_attached;
  Signal may_end;
  auto segment = Segment::create("far", 100);
  Child child([&]() -> std::string {
    if (unshare(CLONE_NEWPID) != 0) {
      is_attached.give();
      return "skipped: no right to make a pid namespace";
    }
    return run_in_child([&]() -> std::string {
             CHILD_CHECK(getpid() == 1);
             const auto held = Segment::attach("far");
             is_attached.give();
             may_end.await();
             CHILD_CHECK(std::filesystem::exists(held.mapping()->path));
             return {};
           })
        .text;
  });
  is_attached.await();
  segment.close();
  const shm::SweepReport report = shm::sweep({.ns = memory::shm_namespace()});
  const auto list = shm::list(memory::shm_namespace());
  may_end.give();
  const Outcome outcome = child.wait();
  shm::sweep({.ns = memory::shm_namespace()});  // the child forked away our object, too
  if (outcome.is_skipped()) GTEST_SKIP() << outcome.text;
  EXPECT_TRUE(outcome.is_fine()) << outcome;
  EXPECT_EQ(report.kept.size(), 1U);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_TRUE(list[0].is_live());
}

struct Sockets {
  Sockets() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2]{};
};

TEST_F(MapFaults, T25_ASegmentOnItsWayOutlivesItsSender) {
  for (const bool is_named : {true, false}) {
    SCOPED_TRACE(is_named ? "named" : "anonymous");
    const Sockets sockets;
    EXPECT_TRUE(run_in_child([&]() -> std::string {
                  auto segment = is_named ? Segment::create("sent", 100) : Segment::anonymous(100);
                  std::memcpy(segment.data(), "hello", 5);
                  segment.send(sockets.ends[0]);
                  raise(SIGKILL);
                  return {};
                }).was_killed());
    EXPECT_TRUE(shm::sweep({.ns = memory::shm_namespace()}).removed.empty());
    const auto segment = Segment::recv(sockets.ends[1]);
    EXPECT_EQ(text_of(segment, 5), "hello");
    EXPECT_EQ(segment.attachments(), 1U);
    EXPECT_EQ(segment.mapping()->lifetime, is_named ? Lifetime::last_detach : Lifetime::anonymous);
  }
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(MapFaults, T25_MemorySealedForItsReceiversIsReadOnlyThere) {
  const Sockets sockets;
  const auto segment = Segment::anonymous(100, {.seal_writes = true});
  std::memcpy(segment.data(), "hello", 5);
  segment.send(sockets.ends[0]);
  const auto received = Segment::recv(sockets.ends[1]);
  EXPECT_TRUE(received.mapping()->is_read_only);
  EXPECT_EQ(text_of(received, 5), "hello");
  const Segment other(WITH_FD, "", segment.descriptor(), shared_mem);
  EXPECT_TRUE(other.mapping()->is_read_only);
}

TEST_F(MapFaults, T26_AReceiverWithoutRoomForADescriptorIsTold) {
  if (under_sanitizer) GTEST_SKIP() << "the sanitizer looks at objects through a pipe of its own";
  EXPECT_FINE(run_in_child([]() -> std::string {
    const Sockets sockets;
    const auto segment = Segment::anonymous(100);
    segment.send(sockets.ends[0]);
    const rlimit limit{static_cast<rlim_t>(sockets.ends[1]) + 2,
                       static_cast<rlim_t>(sockets.ends[1]) + 2};
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (dup(sockets.ends[1]) >= 0) {
    }
    const auto error = map_error_of([&] { Segment::recv(sockets.ends[1]); });
    CHILD_CHECK(error && error->kind() == Kind::limit);
    CHILD_CHECK(error->code() == std::errc::too_many_files_open);
    CHILD_CHECK(std::string(error->what()).find("(RLIMIT_NOFILE) is ") != std::string::npos);
    return {};
  }));
}

TEST_F(MapFaults, T26_WhatIsNoSegmentIsRefused) {
  const Sockets sockets;
  const std::string junk(400, 'x');
  ASSERT_EQ(write(sockets.ends[0], junk.data(), junk.size()), 400);
  EXPECT_EQ(kind_of([&] { Segment::recv(sockets.ends[1]); }), Kind::bad_header);
  const Sockets others;
  shutdown(others.ends[0], SHUT_WR);
  EXPECT_EQ(kind_of([&] { Segment::recv(others.ends[1]); }), Kind::io);
}

/// A file in the place of a segment.
std::string plant(const std::string& name, const std::string& content) {
  const std::string path = memory::shm_path(memory::segment_name(name));
  std::ofstream(path, std::ios::binary) << content;
  chmod(path.c_str(), 0600);
  return path;
}

TEST_F(MapFaults, T27_ForeignFilesAreNeitherAttachedNorSwept) {
  std::string magic(8192, '\0');
  magic.replace(0, 8, "LOUPSEG?");
  for (const std::string& content : {magic, std::string(8192, '\0'), std::string(10, 'x')}) {
    const std::string path = plant("foreign", content);
    EXPECT_EQ(kind_of([] { Segment::attach("foreign"); }), Kind::bad_header);
    EXPECT_TRUE(shm::sweep({.ns = memory::shm_namespace()}).removed.empty());
    EXPECT_TRUE(shm::list(memory::shm_namespace()).empty());
    EXPECT_EQ(kind_of([] { Segment::create("foreign", 100); }), Kind::already_exists);
    EXPECT_EQ(content_of(path), content);
    ASSERT_EQ(::unlink(path.c_str()), 0);
  }
}

/// The bytes of a real segment of 100 bytes.
std::string segment_bytes() {
  const auto segment = Segment::create("model", 100);
  return content_of(segment.mapping()->path);
}

std::string with_checksum(std::string bytes) {
  const auto span = std::as_bytes(std::span(bytes.data(), bytes.size()));
  const std::uint32_t first = memory::crc32(span.first(24));
  const std::uint32_t sum = memory::crc32(span.subspan(48, 120), first);
  std::memcpy(bytes.data() + 168, &sum, sizeof sum);
  return bytes;
}

TEST_F(MapFaults, T28_VersionsDecide) {
  const std::string bytes = segment_bytes();
  const auto attach = [&](std::string changed) {
    const std::string path = plant("version", with_checksum(std::move(changed)));
    const auto error = map_error_of([] { EXPECT_EQ(Segment::attach("version").size(), 100U); });
    ::unlink(path.c_str());
    return error ? std::string(error->what()) : std::string();
  };
  EXPECT_EQ(attach(bytes), "");
  std::string minor = bytes;
  minor[10] = 9;
  EXPECT_EQ(attach(minor), "");
  std::string major = bytes;
  major[8] = 2;
  EXPECT_THAT(attach(major), HasSubstr("attach: expected version 1, got 2.0 in"));
  std::string swapped = bytes;
  std::reverse(swapped.begin() + 12, swapped.begin() + 16);
  EXPECT_THAT(attach(swapped), HasSubstr("expected the byte order 01020304, got 04030201"));
  std::string large = bytes;
  large[24] = 101;
  EXPECT_THAT(attach(large), HasSubstr("got 101 in a capacity of 100"));
}

TEST_F(MapFaults, T29_EveryFlippedByteOfAHeaderIsRefusedOrHarmless) {
  const auto segment = Segment::create("flipped", 100, {.label = "a label"});
  const std::string path = segment.mapping()->path;
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  int refused = 0;
  for (off_t i = 0; i < 4096; ++i) {
    unsigned char byte = 0;
    ASSERT_EQ(pread(fd, &byte, 1, i), 1);
    const auto flipped = static_cast<unsigned char>(~byte);
    ASSERT_EQ(pwrite(fd, &flipped, 1, i), 1);
    try {
      auto other = Segment::attach("flipped");
      EXPECT_LE(other.size(), 100U);
      static_cast<void>(other.info());
      static_cast<void>(other.refresh());
    } catch (const MapError& error) {
      EXPECT_EQ(error.kind(), Kind::bad_header) << i;
      ++refused;
    }
    ASSERT_EQ(pwrite(fd, &byte, 1, i), 1);
  }
  ::close(fd);
  EXPECT_GE(refused, 24 + 124 + 14);  // fixed fields, checksum, and sizes that do not fit
}

TEST_F(MapFaults, T30_ReadersSeeTheSegmentGrow) {
  auto segment = Segment::create("growing", 4096);
  std::memset(segment.data(), 'a', 4096);
  Signal has_started;
  Signal has_grown;
  const auto reader = [&](bool read_only) {
    return [&, read_only]() -> std::string {
      auto mine = Segment::attach("growing", {.read_only = read_only});
      const auto* const old = static_cast<const char*>(mine.data());
      has_started.give();
      has_grown.await();
      CHILD_CHECK(old[4095] == 'a');
      CHILD_CHECK(mine.size() == 4096);
      CHILD_CHECK(mine.refresh());
      CHILD_CHECK(mine.size() == 10'000'000);
      CHILD_CHECK(static_cast<const char*>(mine.data())[9'999'999] == 'b');
      CHILD_CHECK(old[0] == 'a');
      CHILD_CHECK(!mine.refresh());
      return {};
    };
  };
  Child first(reader(false));
  Child second(reader(true));
  Child third(reader(true));
  for (int i = 0; i < 3; ++i) has_started.await();
  EXPECT_EQ(segment.attachments(), 4U);
  segment.grow(10'000'000);
  static_cast<char*>(segment.data())[9'999'999] = 'b';
  for (int i = 0; i < 3; ++i) has_grown.give();
  for (Child* child : {&first, &second, &third}) {
    const Outcome outcome = child->wait();
    EXPECT_TRUE(outcome.is_fine()) << outcome;
  }
  EXPECT_EQ(segment.info().generation, 1U);
}

TEST_F(MapFaults, T31_GrowingWithoutRoomOrToFewerBytesChangesNothing) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=1m"); !skipped.empty()) {
      return skipped;
    }
    auto segment = Segment::create("grow", 4096);
    std::memset(segment.data(), 'a', 4096);
    CHILD_CHECK(kind_of([&] { segment.grow(4 << 20); }) == Kind::no_space);
    CHILD_CHECK(segment.size() == 4096 && segment.info().generation == 0);
    CHILD_CHECK(kind_of([&] { segment.grow(100); }) == Kind::size_mismatch);
    CHILD_CHECK(segment.size() == 4096 && text_of(segment, 2) == "aa");
    segment.grow(512 << 10);
    CHILD_CHECK(segment.info().bytes == 512U << 10);
    return {};
  }));
}

TEST_F(MapFaults, T34_NamespacesAreIndependent) {
  const std::string ns = memory::shm_namespace();
  const auto here = Segment::create("twin", 100);
  const std::string other_ns = "o" + ns.substr(1);
  setenv("LOUP_NS", other_ns.c_str(), 1);
  {
    const auto there = Segment::create("twin", 200);
    EXPECT_EQ(Segment::attach("twin").size(), 200U);
    EXPECT_EQ(shm::list(other_ns).size(), 1U);
  }
  setenv("LOUP_NS", ns.c_str(), 1);
  EXPECT_EQ(Segment::attach("twin").size(), 100U);
  EXPECT_EQ(shm::list(ns).size(), 1U);
}

TEST_F(MapFaults, T34_ACollisionOfRandomNamesIsTriedAgain) {
  fault = {.at = 0, .number = EEXIST, .call = "linkat", .last = {}};
  memory::system_hook = fail_once;
  EXPECT_EQ(Segment::create("", 100).size(), 100U);
  static int links = 0;
  links = 0;
  memory::system_hook = [](const char* call) {
    const bool is_link = std::string_view(call) == "linkat";
    links += is_link ? 1 : 0;
    return is_link ? EEXIST : 0;
  };
  EXPECT_EQ(kind_of([] { Segment::create("", 100); }), Kind::already_exists);
  memory::system_hook = nullptr;
  EXPECT_GE(links, 8);
}

TEST_F(MapFaults, T36_AChildThatClosesLeavesItsParentAttached) {
  auto segment = Segment::create("family", 100);
  EXPECT_FINE(run_in_child([&]() -> std::string {
    segment.close();
    return {};
  }));
  EXPECT_EQ(Segment::attach("family").size(), 100U);
  EXPECT_TRUE(run_in_child([]() -> std::string {
                raise(SIGKILL);
                return {};
              }).was_killed());
  EXPECT_EQ(Segment::attach("family").size(), 100U);
  segment.close();
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(MapFaults, T36_AChildKeepsWhatItsParentLeaves) {
  auto segment = Segment::create("family", 100);
  Signal may_end;
  Child child([&]() -> std::string {
    may_end.await();
    CHILD_CHECK(Segment::attach("family").size() == 100);
    segment.close();
    return {};
  });
  segment.close();
  ASSERT_EQ(names().size(), 1U);
  may_end.give();
  const Outcome outcome = child.wait();
  EXPECT_TRUE(outcome.is_fine()) << outcome;
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(MapFaults, T36_AChildOfAPlainCreatorLeavesTheName) {
  MapAllocator map(new_shm_handle(), shared_mem | exclusive, 100);
  EXPECT_FINE(run_in_child([&]() -> std::string {
    map.close();
    return {};
  }));
  EXPECT_TRUE(std::filesystem::exists(map.mapping()->path));
}

/// What a program does with segments and files, in one go.
void live(const TemporaryFolder& folder) {
  const Sockets sockets;
  auto segment = Segment::create("live", 100);
  segment.grow(20'000);
  segment.incref();
  {
    auto other = Segment::attach("live", {.read_only = true});
    static_cast<void>(other.refresh());
    static_cast<void>(other.info());
  }
  segment.decref();
  const auto memory = Segment::anonymous(100);
  memory.send(sockets.ends[0]);
  const auto received = Segment::recv(sockets.ends[1]);
  MapAllocator file(folder / "file", shared, 100);
  file.grow(9000);
  file.sync();
  const MapAllocator view(folder / "file", none);
  const MapAllocator plain(new_shm_handle(), shared_mem | exclusive | keep_fd, 100);
  static_cast<void>(shm::list(memory::shm_namespace()));
}

class T37 : public MapFaults, public testing::WithParamInterface<int> {};

TEST_P(T37, T37_EverySystemCallMayFailOnce) {
  live(folder);
  std::filesystem::remove(folder / "file");
  const int calls = calls_of([&] { live(folder); });
  std::filesystem::remove(folder / "file");
  ASSERT_GT(calls, 60);
  int refused = 0;
  for (int call = 0; call < calls; ++call) {
    const Held before = Held::now();
    fault = {};
    fault.at = call;
    fault.number = GetParam();
    memory::system_hook = [](const char* name) {
      // Memory that the system refuses to unmap stays mapped, whatever we do.
      return std::string_view(name) == "munmap" ? 0 : fail_once(name);
    };
    try {
      live(folder);
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(GetParam(), EINTR) << call << " " << fault.last << ": " << error.what();
    }
    memory::system_hook = nullptr;
    std::filesystem::remove(folder / "file");
    shm::sweep({.ns = memory::shm_namespace()});
    Held after = Held::now();
    // A plain name whose removal failed has nobody else to remove it.
    if (fault.last == "unlink" || fault.last == "stat") {
      for (const std::string& name : after.names) ::unlink(memory::shm_path(name).c_str());
      after = Held::now();
    }
    EXPECT_EQ(after.names, before.names) << call << " " << fault.last;
    EXPECT_EQ(after.mappings, before.mappings) << call << " " << fault.last;
    EXPECT_EQ(after.descriptors, before.descriptors) << call << " " << fault.last;
  }
  if (GetParam() != EINTR) {
    EXPECT_GT(refused, calls / 3);
  }
}
INSTANTIATE_TEST_SUITE_P(MapFaults, T37, testing::Values(EINTR, EIO, ENOMEM, EACCES),
                         [](const auto& test) { return "errno" + std::to_string(test.param); });

TEST_F(MapFaults, T38_AttachingDoesNotWaitForEver) {
  const std::string busy = plant("busy", segment_bytes());
  const int fd = open(busy.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  const auto start = std::chrono::steady_clock::now();
  const auto error = map_error_of([] { Segment::attach("busy", {.timeout = 50ms}); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), Kind::busy);
  EXPECT_THAT(error->what(), HasSubstr("within 50 ms, got none: another process holds it"));
  flock(fd, LOCK_UN);
  EXPECT_EQ(Segment::attach("busy").size(), 100U);
  ::close(fd);
}

}  // namespace
}  // namespace loup::test
