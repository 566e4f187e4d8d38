#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <gmock/gmock.h>

#include "loup/memory/sigbus_shield.h"
#include "loup/memory/storage.h"
#include "loup/tensor/mapped.h"
#include "tests/memory/faults.h"
#include "tests/support/errors.h"
#include "tests/support/sanitizer.h"

namespace loup::test {
namespace {

using enum MapFlags;
using Kind = MapError::Kind;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(MapFaults, T01_MissingPathsAreNamed) {
  for (const std::string& path : {folder / "missing", folder / "no/parent"}) {
    const auto error = map_error_of([&] { MapAllocator(path, none); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), Kind::not_found);
    EXPECT_EQ(error->code(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error->path(), path);
    EXPECT_STREQ(error->what(), ("map: expected an existing file, got \"" + path +
                                 "\": No such file or directory (errno 2)")
                                    .c_str());
  }
  EXPECT_EQ(kind_of([&] { MapAllocator(folder / "no/parent", shared, 10); }), Kind::not_found);
}

TEST_F(MapFaults, T02_WhatIsNoFileIsRefusedAtOnce) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string path = folder / "socket";
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& name : {folder.string(), pipe, path, std::string("/dev/null")}) {
    for (const MapFlags flags : {none, shared, read_only}) {
      EXPECT_EQ(kind_of([&] { MapAllocator(name, flags); }), Kind::not_regular) << name;
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
  ::close(socket);
}

TEST_F(MapFaults, T03_PermissionIsAskedOfTheSystem) {
  const std::string path = folder.file("a", "hello");
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder.string().c_str(), 0755), 0);
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (geteuid() == 0 && setuid(65534) != 0) return "skipped: cannot become another user";
    CHILD_CHECK(kind_of([&] { MapAllocator(path, shared); }) == Kind::permission_denied);
    CHILD_CHECK(MapAllocator(path, none).size() == 5);
    CHILD_CHECK(MapAllocator(path, shared | read_only).size() == 5);
    CHILD_CHECK(map_error_of([&] { MapAllocator(path, shared); })->code() ==
                std::errc::permission_denied);
    return {};
  }));
}

TEST_F(MapFaults, T03_ReadOnlyFileSystemsAreSaidSo) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=1m"); !skipped.empty()) {
      return skipped;
    }
    const std::string path = folder.file("a", "hello");
    if (mount("none", folder.string().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return "skipped: cannot remount";
    }
    const auto error = map_error_of([&] { MapAllocator(path, shared); });
    CHILD_CHECK(error && error->kind() == Kind::permission_denied);
    CHILD_CHECK(error->code() == std::errc::read_only_file_system);
    CHILD_CHECK(std::string(error->what()).find("; map it private or read-only") !=
                std::string::npos);
    CHILD_CHECK(MapAllocator(path, none).size() == 5);
    CHILD_CHECK(MapAllocator(path, shared | read_only).size() == 5);
    return {};
  }));
}

TEST_F(MapFaults, T04_GrowingKeepsOldBytes) {
  const std::string path = folder.file("a", "hello world");
  {
    const MapAllocator map(path, shared, 8192);
  }
  const std::string content = content_of(path);
  EXPECT_EQ(content.substr(0, 11), "hello world");
  EXPECT_EQ(content.substr(11), std::string(8192 - 11, '\0'));
}

TEST_F(MapFaults, T05_AFullTmpfsIsAnErrorAndLeavesNoName) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=1m"); !skipped.empty()) {
      return skipped;
    }
    const Held before = Held::now();
    const auto plain =
        map_error_of([] { MapAllocator(new_shm_handle(), shared_mem | exclusive, 4 << 20); });
    CHILD_CHECK(plain && plain->kind() == Kind::no_space);
    CHILD_CHECK(std::string(plain->what()).find("; 1048576 bytes are free") != std::string::npos);
    CHILD_CHECK(std::string(plain->what()).find("expected room for 4194304 bytes") !=
                std::string::npos);
    CHILD_CHECK(kind_of([] { RefcountedMapAllocator::create("full", 4 << 20); }) == Kind::no_space);
    CHILD_CHECK(Held::now() == before);
    CHILD_CHECK(RefcountedMapAllocator::create("fits", 512 << 10).size() == 512U << 10);
    return {};
  }));
}

TEST_F(MapFaults, T06_AFullDiskIsAnErrorForSharedFilesUnlessSparse) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=1m"); !skipped.empty()) {
      return skipped;
    }
    const std::string path = folder / "a";
    CHILD_CHECK(kind_of([&] { MapAllocator(path, shared, 4 << 20); }) == Kind::no_space);
    CHILD_CHECK(!std::filesystem::exists(path));
    folder.file("b", "hello");
    CHILD_CHECK(kind_of([&] { MapAllocator(folder / "b", shared, 4 << 20); }) == Kind::no_space);
    CHILD_CHECK(content_of(folder / "b") == "hello");
    const MapAllocator holes(path, shared | sparse, 4 << 20);
    CHILD_CHECK(!holes.reserved());
    CHILD_CHECK(MapAllocator(folder / "c", shared, 4096).reserved());
    return {};
  }));
}

TEST_F(MapFaults, T07_FilesLargerThanMemoryAreMapped) {
  const std::string path = folder.file("large", "");
  const auto bytes = 2 * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * 4096;
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(MapAllocator(path, none).size(), bytes);
  EXPECT_EQ(MapAllocator(path, read_only).size(), bytes);
}

TEST_F(MapFaults, T08_NothingIsAValidSize) {
  const std::string path = folder.file("a", "hello");
  EXPECT_EQ(MapAllocator(path, none, 0).size(), 0U);
  EXPECT_EQ(MapAllocator(path, none, 0).data(), nullptr);
  EXPECT_EQ(MapAllocator(path, none).size(), 5U);
  const std::string empty = folder.file("b", "");
  MapAllocator map(empty, shared);
  EXPECT_TRUE(map.bytes().empty());
  EXPECT_TRUE(map.verify());
  map.sync();
  map.grow(10);
  EXPECT_EQ(map.size(), 10U);
  const auto segment = RefcountedMapAllocator::create("", 0);
  EXPECT_TRUE(segment.bytes().empty());
}

TEST_F(MapFaults, T09_SignalsDoNotHinderALargeCreate) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval every{{0, 1000}, {0, 1000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
  const auto start = std::chrono::steady_clock::now();
  {
    const auto segment = RefcountedMapAllocator::create("", std::size_t{1} << 30);
    EXPECT_TRUE(segment.reserved());
  }
  const auto took = std::chrono::steady_clock::now() - start;
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_LT(took, 20s);
}

TEST_F(MapFaults, T10_ACutFileIsNoticedWithoutASignal) {
  const std::string path = folder.file("a", std::string(3 * 4096, 'x'));
  const MapAllocator map(path, none);
  EXPECT_TRUE(map.verify());
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  EXPECT_FALSE(map.verify());
}

TEST_F(MapFaults, T10_TheShieldTurnsAMissingPageIntoZeros) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    const std::string path = folder.file("a", std::string(3 * 4096, 'x'));
    const MapAllocator map(path, shared);
    const MapAllocator other(folder.file("b", "hello"), none);
    set_sigbus_shield(true);
    CHILD_CHECK(truncate(path.c_str(), 4096) == 0);
    CHILD_CHECK(static_cast<char>(map.bytes()[0]) == 'x');
    CHILD_CHECK(map.bytes()[2 * 4096] == std::byte{0});
    CHILD_CHECK(!map.verify());
    CHILD_CHECK(other.verify());
    CHILD_CHECK(truncate(path.c_str(), 3 * 4096) == 0);
    CHILD_CHECK(!map.verify());  // poisoned for good
    set_sigbus_shield(false);
    return {};
  }));
}

TEST_F(MapFaults, T10_WithoutTheShieldTheSystemDecides) {
  if (under_sanitizer) GTEST_SKIP() << "the sanitizer has a handler of its own";
  const Outcome outcome = run_in_child([&]() -> std::string {
    const std::string path = folder.file("a", std::string(3 * 4096, 'x'));
    const MapAllocator map(path, shared);
    set_sigbus_shield(true);
    set_sigbus_shield(false);
    CHILD_CHECK(truncate(path.c_str(), 0) == 0);
    volatile std::byte value = map.bytes()[0];
    static_cast<void>(value);
    return "still alive";
  });
  EXPECT_TRUE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGBUS) << outcome;
}

TEST_F(MapFaults, T11_SealedMemoryCannotBeCut) {
  const auto segment = RefcountedMapAllocator::anonymous(4096);
  const int fd = segment.descriptor();
  EXPECT_EQ(ftruncate(fd, 10), -1);
  EXPECT_EQ(errno, EPERM);
  ::close(fd);
  EXPECT_TRUE(segment.verify());
}

TEST_F(MapFaults, T12_AnonymousMemoryIsOutsideOfTheDirectorysLimit) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=1m"); !skipped.empty()) {
      return skipped;
    }
    const auto segment = RefcountedMapAllocator::anonymous(64 << 20);
    CHILD_CHECK(segment.size() == 64U << 20);
    std::memset(segment.data(), 1, segment.size());
    return {};
  }));
}

TEST_F(MapFaults, T13_ImpossibleSizesNeedNoSystemCall) {
  constexpr std::size_t half = std::size_t{1} << 63;
  for (const std::size_t bytes : {half, std::numeric_limits<std::size_t>::max()}) {
    const int calls = calls_of([&] {
      EXPECT_EQ(kind_of([&] { MapAllocator(folder / "a", shared, bytes); }), Kind::overflow);
      EXPECT_EQ(kind_of([&] { MapAllocator("x", shared_mem, bytes); }), Kind::overflow);
      EXPECT_EQ(kind_of([&] { RefcountedMapAllocator("x", shared_mem, bytes); }), Kind::overflow);
      EXPECT_EQ(kind_of([&] { RefcountedMapAllocator::create("x", bytes); }), Kind::overflow);
      EXPECT_EQ(kind_of([&] { RefcountedMapAllocator::anonymous(bytes); }), Kind::overflow);
      EXPECT_EQ(kind_of([&] { RefcountedMapAllocator::attach("x", {.bytes = bytes}); }),
                Kind::overflow);
    });
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls_of([&] {
              EXPECT_THROW(from_file(folder / "a", DType::f32, Shape{1LL << 32, 1LL << 32}),
                           ShapeError);
              EXPECT_THROW(from_file(folder / "a", DType::f64, Shape{1LL << 61}), ShapeError);
            }),
            0);
}

TEST_F(MapFaults, T14_ASymbolicLinkAtTheNameIsRefused) {
  const std::string target = folder.file("target", std::string(8192, 'x'));
  const std::string name = new_shm_handle();
  const std::string path = memory::shm_path(name);
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  const auto plain = map_error_of([&] { MapAllocator(name, shared_mem, 10); });
  const auto segment = map_error_of([&] { RefcountedMapAllocator::attach(name); });
  ASSERT_TRUE(plain && segment);
  EXPECT_EQ(plain->code(), std::errc::too_many_symbolic_link_levels);
  EXPECT_EQ(segment->code(), std::errc::too_many_symbolic_link_levels);
  EXPECT_EQ(content_of(target), std::string(8192, 'x'));
  ASSERT_EQ(::unlink(path.c_str()), 0);
}

TEST_F(MapFaults, T15_WhatOthersMayWriteIsRefused) {
  const auto segment = RefcountedMapAllocator::create("mine", 100);
  const std::string path = segment.mapping()->path;
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(kind_of([] { RefcountedMapAllocator::attach("mine"); }), Kind::permission_denied);
  EXPECT_EQ(RefcountedMapAllocator::attach("mine", {.allow_foreign = true}).size(), 100U);
  EXPECT_EQ(kind_of([&] { MapAllocator(segment.name(), shared_mem | no_create); }),
            Kind::permission_denied);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(RefcountedMapAllocator::attach("mine").size(), 100U);
}

TEST_F(MapFaults, T15_ASegmentOfAnotherUserIsRefused) {
  const auto segment = RefcountedMapAllocator::create("mine", 100);
  const std::string path = segment.mapping()->path;
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "skipped: no right to chown";
  const auto error = map_error_of([] { RefcountedMapAllocator::attach("mine"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), Kind::permission_denied);
  EXPECT_THAT(error->what(), HasSubstr("of user 65534 with mode 0600; allow_foreign accepts it"));
  EXPECT_EQ(RefcountedMapAllocator::attach("mine", {.allow_foreign = true}).size(), 100U);
  // Nor is it ours to sweep.
  EXPECT_TRUE(shm::sweep({.ns = memory::shm_namespace()}).removed.empty());
  ASSERT_EQ(chown(path.c_str(), geteuid(), getegid()), 0);
}

TEST_F(MapFaults, T16_NoDescriptorReachesAnotherProgram) {
  const MapAllocator file(folder.file("secret-file", "hello"), keep_fd);
  const auto segment = RefcountedMapAllocator::create("secret-segment", 100);
  auto held = RefcountedMapAllocator::anonymous(100);
  held.incref();
  FILE* const list = popen("ls -l /proc/self/fd", "r");
  std::string text;
  for (int c = 0; (c = fgetc(list)) != EOF;) text += static_cast<char>(c);
  pclose(list);
  EXPECT_THAT(text, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(text, testing::Not(HasSubstr("memfd")));
}

TEST_F(MapFaults, T17_ANameThatIsGoneIsNoError) {
  MapAllocator plain(new_shm_handle(), shared_mem | exclusive, 100);
  auto segment = RefcountedMapAllocator::create("gone", 100);
  ASSERT_EQ(::unlink(plain.mapping()->path.c_str()), 0);
  ASSERT_EQ(::unlink(segment.mapping()->path.c_str()), 0);
  std::error_code error;
  plain.close(error);
  EXPECT_FALSE(error);
  EXPECT_NO_THROW(segment.close());
}

TEST_F(MapFaults, T17_ANameThatIsAnothersIsLeftAlone) {
  auto segment = RefcountedMapAllocator::create("taken", 100);
  ASSERT_EQ(::unlink(segment.mapping()->path.c_str()), 0);
  const auto other = RefcountedMapAllocator::create("taken", 200);
  segment.close();
  EXPECT_EQ(RefcountedMapAllocator::attach("taken").size(), 200U);
}

TEST_F(MapFaults, T18_ClosingTwiceIsHarmlessAndUseAfterCloseIsAnError) {
  static_assert(!std::is_move_constructible_v<RefcountedMapAllocator>);
  static_assert(!std::is_copy_constructible_v<RefcountedMapAllocator>);
  const std::string path = folder.file("a", "hello");
  MapAllocator map(path, none);
  auto segment = RefcountedMapAllocator::create("", 100);
  for (int i = 0; i < 2; ++i) {
    map.close();
    segment.close();
  }
  EXPECT_EQ(map.data(), nullptr);
  EXPECT_EQ(segment.data(), nullptr);
  EXPECT_FALSE(map.verify());
  EXPECT_EQ(map.advise(Advice::random), AdviceResult::unsupported);
  expect_error<StateError>([&] { map.bytes(); }, "bytes: expected an open mapping",
                           "got \"" + path + "\" after close");
  EXPECT_THROW(segment.bytes(), StateError);
  EXPECT_THROW(segment.grow(200), StateError);
  EXPECT_THROW(segment.refresh(), StateError);
  EXPECT_THROW(segment.incref(), StateError);
  EXPECT_THROW(static_cast<void>(segment.attachments()), StateError);
}

TEST_F(MapFaults, T32_SyncReportsWhatWentWrong) {
  MapAllocator map(folder.file("a", std::string(10'000, 'x')), shared);
  map.sync(100, 5000);
  map.sync(0, MapAllocator::npos, true);
  map.sync(10'000, 0);
  expect_error<IndexError>([&] { map.sync(9'999, 2); },
                           "sync: expected a range inside of 10000 bytes", "got 2 bytes at 9999");
  EXPECT_THROW(map.sync(10'001), IndexError);
  fault = {.at = 0, .number = EIO, .call = "msync", .last = {}};
  memory::system_hook = fail_once;
  const auto error = map_error_of([&] { map.sync(); });
  memory::system_hook = nullptr;
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), Kind::io);
  EXPECT_EQ(error->code(), std::errc::io_error);
  map.close();
  EXPECT_THROW(map.sync(), StateError);
}

TEST_F(MapFaults, T32_SyncReportsABrokenDisk) {
  // A file system in a file in a tmpfs that is too small for it: writing back fails for real.
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=4m"); !skipped.empty()) {
      return skipped;
    }
    const std::string image = folder / "image";
    const std::string disk = folder / "disk";
    const std::string commands = "truncate -s 64M " + image + " && mke2fs -q -F -t ext2 " + image +
                                 " && mkdir " + disk + " && mount -o loop " + image + " " + disk;
    if (system(("(" + commands + ") >/dev/null 2>&1").c_str()) != 0) {
      return "skipped: no loop device or no mke2fs";
    }
    std::string result;
    {
      MapAllocator map(disk + "/file", shared | sparse, 32 << 20);
      std::memset(map.data(), 1, map.size());
      const auto error = map_error_of([&] { map.sync(); });
      if (!error || error->kind() == Kind::not_found) result = "sync saw no error";
    }
    static_cast<void>(system(("umount " + disk + " >/dev/null 2>&1").c_str()));
    return result;
  }));
}

TEST_F(MapFaults, T33_AdviceTellsWhetherItWorks) {
  const auto segment = RefcountedMapAllocator::create("", 8 << 20);
  for (const Advice advice :
       {Advice::sequential, Advice::random, Advice::willneed, Advice::populate, Advice::dontneed}) {
    EXPECT_EQ(segment.advise(advice), AdviceResult::effective);
  }
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string setting;
  std::getline(file, setting);
  if (setting.find("[never]") == std::string::npos) {
    GTEST_SKIP() << "skipped: huge pages of shared memory are not off: " << setting;
  }
  EXPECT_EQ(segment.advise(Advice::hugepage), AdviceResult::accepted);
}

TEST_F(MapFaults, T33_PopulateOnAFullTmpfsIsNoSpace) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    if (const auto skipped = enter_small_tmpfs(folder.string(), "size=1m"); !skipped.empty()) {
      return skipped;
    }
    {
      const MapAllocator holes(folder / "a", shared | sparse, 4 << 20);
      CHILD_CHECK(holes.advise(Advice::populate) == AdviceResult::no_space);
    }
    CHILD_CHECK(::unlink((folder / "a").c_str()) == 0);
    CHILD_CHECK(kind_of([&] { MapAllocator(folder / "b", shared | sparse | populate, 4 << 20); }) ==
                Kind::no_space);
    CHILD_CHECK(!std::filesystem::exists(folder / "b"));
    return {};
  }));
}

/// Runs `body` in a child under a resource limit.
template <class Body>
Outcome run_limited(__rlimit_resource resource, rlim_t limit, const Body& body) {
  return run_in_child([&]() -> std::string {
    const rlimit value{limit, limit};
    if (setrlimit(resource, &value) != 0) return "skipped: cannot set the limit";
    return body();
  });
}

TEST_F(MapFaults, T35_NoDescriptorIsLeft) {
  if (under_sanitizer) GTEST_SKIP() << "the sanitizer looks at objects through a pipe of its own";
  const std::string path = folder.file("a", "hello");
  EXPECT_FINE(run_limited(RLIMIT_NOFILE, 3, [&]() -> std::string {
    for (int fd = 3; fd < 64; ++fd) ::close(fd);  // the child's own
    const auto error = map_error_of([&] { MapAllocator(path, none); });
    CHILD_CHECK(error && error->kind() == Kind::limit);
    CHILD_CHECK(error->code() == std::errc::too_many_files_open);
    CHILD_CHECK(std::string(error->what()).find("(RLIMIT_NOFILE) is 3") != std::string::npos);
    CHILD_CHECK(kind_of([] { RefcountedMapAllocator::create("", 10); }) == Kind::limit);
    return {};
  }));
}

TEST_F(MapFaults, T35_NoAddressSpaceIsLeft) {
  if (under_sanitizer) GTEST_SKIP() << "the sanitizer needs the address space itself";
  const std::string path = folder / "new";
  EXPECT_FINE(run_limited(RLIMIT_AS, rlim_t{2} << 30, [&]() -> std::string {
    const Held before = Held::now();
    const auto error = map_error_of([&] { MapAllocator(path, shared | sparse, 4UL << 30); });
    CHILD_CHECK(error && error->kind() == Kind::limit);
    CHILD_CHECK(std::string(error->what()).find("(RLIMIT_AS) is 2147483648") != std::string::npos);
    CHILD_CHECK(!std::filesystem::exists(path));
    CHILD_CHECK(kind_of([] { RefcountedMapAllocator::create("", 4UL << 30); }) == Kind::limit);
    CHILD_CHECK(Held::now() == before);
    return {};
  }));
}

TEST_F(MapFaults, T35_FileSizesAreLimited) {
  const std::string path = folder / "new";
  EXPECT_FINE(run_limited(RLIMIT_FSIZE, 1 << 20, [&]() -> std::string {
    const Held before = Held::now();
    const auto error = map_error_of([&] { MapAllocator(path, shared, 4 << 20); });
    CHILD_CHECK(error && error->kind() == Kind::no_space);
    CHILD_CHECK(error->code() == std::errc::file_too_large);
    CHILD_CHECK(std::string(error->what()).find("(RLIMIT_FSIZE) is 1048576") != std::string::npos);
    CHILD_CHECK(!std::filesystem::exists(path));
    CHILD_CHECK(kind_of([] { RefcountedMapAllocator::create("", 4 << 20); }) == Kind::no_space);
    CHILD_CHECK(kind_of([] { RefcountedMapAllocator::anonymous(4 << 20); }) == Kind::no_space);
    CHILD_CHECK(Held::now() == before);
    return {};
  }));
}

TEST_F(MapFaults, T35_MappingsAreLimited) {
  if (under_sanitizer) GTEST_SKIP() << "the sanitizer needs mappings itself";
  const std::string path = folder.file("a", "hello");
  EXPECT_FINE(run_in_child([&]() -> std::string {
    // Neighbours with different rights are different mappings.
    constexpr std::size_t page = 4096;
    constexpr std::size_t pages = 200'000;
    auto* const room = static_cast<std::byte*>(
        mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::size_t used = 0;
    while (used < pages && mprotect(room + used * page, page, PROT_READ) == 0) used += 2;
    if (used >= pages) return "skipped: vm.max_map_count is too large to reach";
    // The last ones that are left.
    while (mmap(nullptr, page, used++ % 2 == 0 ? PROT_READ : PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0) != MAP_FAILED) {
    }
    const auto error = map_error_of([&] { MapAllocator(path, none); });
    munmap(room, pages * page);
    CHILD_CHECK(error && error->kind() == Kind::limit);
    CHILD_CHECK(std::string(error->what()).find("(vm.max_map_count) ") != std::string::npos);
    return {};
  }));
}

}  // namespace
}  // namespace loup::test
