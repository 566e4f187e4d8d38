#include "loup/memory/map_allocator.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "loup/memory/storage.h"
#include "tests/support/errors.h"
#include "tests/support/leaks.h"

namespace loup {
namespace {

using test::content_of;
using test::TemporaryFolder;
using enum MapFlags;

static_assert(!std::is_copy_constructible_v<MapAllocator>);
static_assert(!std::is_move_constructible_v<MapAllocator>);
static_assert(!std::is_copy_assignable_v<MapAllocator>);
static_assert(!std::is_move_assignable_v<MapAllocator>);

std::string text(const MapAllocator& map) {
  const auto bytes = map.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class MapAllocatorTest : public test::LeakTest {
 protected:
  TemporaryFolder folder_;
};

TEST_F(MapAllocatorTest, HasTheNumbersOfPyTorchsFlags) {
  EXPECT_EQ(static_cast<int>(shared), 1);
  EXPECT_EQ(static_cast<int>(shared_mem), 2);
  EXPECT_EQ(static_cast<int>(exclusive), 4);
  EXPECT_EQ(static_cast<int>(no_create), 8);
  EXPECT_EQ(static_cast<int>(keep_fd), 16);
  EXPECT_EQ(static_cast<int>(from_fd), 32);
  EXPECT_EQ(static_cast<int>(MapFlags::unlink), 64);
  EXPECT_EQ(to_string(shared | exclusive | read_only), "shared|exclusive|read_only");
  EXPECT_EQ(to_string(none), "none");
}

TEST_F(MapAllocatorTest, ShowsAFileAndKeepsPrivateChangesToItself) {
  const std::string path = folder_.file("a", "hello");
  MapAllocator map(path, none);
  EXPECT_EQ(text(map), "hello");
  map.bytes()[0] = std::byte{'J'};
  EXPECT_EQ(text(map), "Jello");
  EXPECT_EQ(content_of(path), "hello");
  EXPECT_EQ(map.fd(), -1);
  EXPECT_EQ(map.filename(), path);
  EXPECT_FALSE(map.mapping()->is_shared);
  EXPECT_EQ(map.mapping()->kind, MappingKind::file);
}

TEST_F(MapAllocatorTest, WritesSharedChangesToTheFile) {
  const std::string path = folder_.file("a", "hello");
  {
    MapAllocator map(path, shared);
    map.bytes()[0] = std::byte{'J'};
    map.sync();
    EXPECT_TRUE(map.mapping()->is_shared);
  }
  EXPECT_EQ(content_of(path), "Jello");
}

TEST_F(MapAllocatorTest, MapsTheFirstBytesWhenFewerAreWanted) {
  const std::string path = folder_.file("a", "hello");
  const MapAllocator map(path, none, 2);
  EXPECT_EQ(text(map), "he");
  EXPECT_EQ(map.size(), 2U);
}

TEST_F(MapAllocatorTest, NeedsAPrivateFileToBeLongEnough) {
  const std::string path = folder_.file("a", "hello");
  test::expect_error<MapError>([&] { MapAllocator(path, none, 10); },
                               "map: expected a file of at least 10 bytes",
                               "got \"" + path + "\" of 5 bytes");
}

TEST_F(MapAllocatorTest, RefusesToGrowAFileWithNoCreate) {
  const std::string path = folder_.file("a", "hello");
  EXPECT_THROW(MapAllocator(path, shared | no_create, 10), MapError);
  EXPECT_EQ(content_of(path), "hello");
}

TEST_F(MapAllocatorTest, MakesASharedFileForItsOwnerOnly) {
  const std::string path = folder_ / "new";
  {
    const MapAllocator map(path, shared, 10);
  }
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(info.st_size, 10);
}

struct Combination {
  MapFlags flags;
  const char* rule;
  const char* value;
};
class IllegalFlags : public testing::TestWithParam<Combination> {};
TEST_P(IllegalFlags, AreRefused) {
  test::expect_error<ValueError>([] { MapAllocator("/nowhere/at-all", GetParam().flags, 10); },
                                 GetParam().rule, GetParam().value);
}
INSTANTIATE_TEST_SUITE_P(
    MapAllocator, IllegalFlags,
    testing::Values(
        Combination{shared | shared_mem, "map: expected shared without shared_mem",
                    "got shared|shared_mem"},
        Combination{exclusive, "map: expected exclusive together with shared|shared_mem",
                    "got exclusive"},
        Combination{exclusive | keep_fd, "map: expected exclusive together with shared|shared_mem",
                    "got exclusive|keep_fd"},
        Combination{shared | exclusive | no_create,
                    "map: expected exclusive without no_create|from_fd|read_only",
                    "got shared|exclusive|no_create"},
        Combination{shared | MapFlags::unlink, "map: expected unlink together with exclusive",
                    "got shared|unlink"},
        Combination{from_fd, "map: expected from_fd together with a descriptor",
                    "got \"/nowhere/at-all\""},
        Combination{shared | read_only | sparse, "map: expected read_only without sparse",
                    "got shared|read_only|sparse"}));

TEST_F(MapAllocatorTest, KeepsTheDescriptorWhenAsked) {
  const std::string path = folder_.file("a", "hello");
  MapAllocator map(path, keep_fd);
  EXPECT_GE(fcntl(map.fd(), F_GETFD), FD_CLOEXEC);
  map.close();
  EXPECT_EQ(map.fd(), -1);
}

TEST_F(MapAllocatorTest, TakesOverADescriptor) {
  const std::string path = folder_.file("a", "hello");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const MapAllocator map(WITH_FD, "somewhere", fd, none);
  EXPECT_EQ(text(map), "hello");
  EXPECT_TRUE(has(map.flags(), from_fd));
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_F(MapAllocatorTest, TakesOverADescriptorAlsoWhenItFails) {
  const int fd = memfd_create("m", MFD_CLOEXEC);
  EXPECT_THROW(MapAllocator(WITH_FD, "m", fd, none, 10), MapError);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
  test::expect_error<ValueError>([] { MapAllocator(WITH_FD, "m", -1, none, 10); },
                                 "map: expected an open descriptor", "got -1");
}

TEST_F(MapAllocatorTest, MapsMemoryThatOthersMade) {
  const int fd = memfd_create("m", MFD_CLOEXEC);
  ASSERT_EQ(write(fd, "hello", 5), 5);
  const int theirs = dup(fd);
  {
    MapAllocator map(WITH_FD, "m", fd, shared_mem, 5);
    map.bytes()[0] = std::byte{'J'};
  }
  char first = 0;
  EXPECT_EQ(pread(theirs, &first, 1, 0), 1);
  EXPECT_EQ(first, 'J');
  ::close(theirs);
}

TEST_F(MapAllocatorTest, RemovesTheSharedMemoryThatItMade) {
  const std::string name = new_shm_handle();
  MapAllocator creator(name, shared_mem | exclusive, 100);
  std::memcpy(creator.data(), "abc", 3);
  {
    const MapAllocator other(name, shared_mem | no_create, 100);
    EXPECT_EQ(text(other).substr(0, 3), "abc");
  }
  // An attacher's end leaves the name.
  const MapAllocator another(name, shared_mem | no_create);
  EXPECT_EQ(another.size(), 100U);
  creator.close();
  EXPECT_FALSE(std::filesystem::exists(another.mapping()->path));
  EXPECT_EQ(text(another).substr(0, 3), "abc");
}

TEST_F(MapAllocatorTest, UnlinksAtOnceWhenAsked) {
  const std::string name = new_shm_handle();
  const MapAllocator map(name, shared_mem | exclusive | MapFlags::unlink, 100);
  EXPECT_THROW(MapAllocator(name, shared_mem | no_create), MapError);
  EXPECT_EQ(map.size(), 100U);
}

TEST_F(MapAllocatorTest, GrowsAndKeepsOldAddressesValid) {
  const std::string path = folder_.file("a", "hello");
  MapAllocator map(path, shared);
  const auto old = map.bytes();
  MapAllocator other(path, shared);
  map.grow(10'000'000);
  EXPECT_EQ(map.size(), 10'000'000U);
  map.bytes()[0] = std::byte{'J'};
  EXPECT_EQ(static_cast<char>(old[0]), 'J');
  EXPECT_EQ(other.size(), 5U);
  EXPECT_TRUE(other.refresh());
  EXPECT_FALSE(other.refresh());
  EXPECT_EQ(other.size(), 10'000'000U);
}

TEST_F(MapAllocatorTest, BecomesTheOwnerOfMemory) {
  const std::string path = folder_.file("a", "hello");
  std::size_t actual = 0;
  const DataPtr data = MapAllocator::makeDataPtr(path, none, {}, &actual);
  EXPECT_EQ(actual, 5U);
  EXPECT_EQ(data.bytes, 5U);
  ASSERT_NE(MapAllocator::fromDataPtr(data), nullptr);
  EXPECT_EQ(MapAllocator::fromDataPtr(data)->filename(), path);
  EXPECT_EQ(MapAllocator::fromDataPtr(DataPtr{}), nullptr);
}

TEST_F(MapAllocatorTest, IsTheMappingOfAStorage) {
  const std::string path = folder_.file("a", "hello");
  const Storage storage = Storage::map(path, read_only);
  EXPECT_EQ(storage.bytes(), 5U);
  EXPECT_FALSE(storage.is_writable());
  EXPECT_FALSE(storage.is_shared());
  ASSERT_NE(storage.mapping(), nullptr);
  EXPECT_EQ(storage.mapping()->path, path);
  EXPECT_TRUE(storage.mapping()->is_read_only);
  EXPECT_EQ(Storage::allocate(8).mapping(), nullptr);
  EXPECT_TRUE(Storage::map(path, shared).is_shared());
}

TEST_F(MapAllocatorTest, MakesShortRandomNames) {
  const std::string name = new_shm_handle("abcdefgh");
  EXPECT_EQ(name.size(), 26U);
  EXPECT_TRUE(name.starts_with("/lp.abcdefgh."));
  EXPECT_NE(name, new_shm_handle("abcdefgh"));
  EXPECT_TRUE(NewProcessWideShmHandle().starts_with("/lp."));
  EXPECT_THROW(new_shm_handle("a b"), ValueError);
  EXPECT_THROW(new_shm_handle("abcdefghi"), ValueError);
}

}  // namespace
}  // namespace loup
