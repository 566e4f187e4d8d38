#include "loup/memory/refcounted_map_allocator.h"

#include <cstring>

#include <gmock/gmock.h>

#include "loup/memory/shm.h"
#include "loup/memory/storage.h"
#include "tests/support/errors.h"
#include "tests/support/leaks.h"

namespace loup {
namespace {

using enum MapFlags;
using Kind = MapError::Kind;
using Segment = RefcountedMapAllocator;
using test::expect_error;

class SegmentTest : public test::LeakTest {};

std::optional<Kind> kind_thrown_by(const std::function<void()>& body) {
  try {
    body();
  } catch (const MapError& error) {
    return error.kind();
  }
  return std::nullopt;
}

TEST_F(SegmentTest, IsSharedByAllWhoAttach) {
  const auto segment = Segment::create("batch", 100);
  std::memcpy(segment.data(), "hello", 5);
  const auto other = Segment::attach("batch");
  EXPECT_EQ(std::memcmp(other.data(), "hello", 5), 0);
  static_cast<char*>(other.data())[0] = 'J';
  EXPECT_EQ(std::memcmp(segment.data(), "Jello", 5), 0);
  EXPECT_EQ(segment.attachments(), 2U);
}

TEST_F(SegmentTest, DisappearsWithItsLastUser) {
  auto segment = Segment::create("batch", 100);
  auto other = Segment::attach("batch");
  segment.close();
  EXPECT_TRUE(std::filesystem::exists(other.mapping()->path));
  other.close();
  EXPECT_FALSE(std::filesystem::exists(other.mapping()->path));
}

TEST_F(SegmentTest, StaysWhenItIsPersistent) {
  {
    const auto segment = Segment::create("stays", 100, {.lifetime = Lifetime::persistent});
  }
  EXPECT_EQ(Segment::attach("stays").size(), 100U);
  EXPECT_EQ(shm::sweep({.ns = memory::shm_namespace()}).kept.size(), 1U);
  EXPECT_TRUE(shm::remove("stays"));
  EXPECT_FALSE(shm::remove("stays"));
}

TEST_F(SegmentTest, HasAHeaderBeforeItsData) {
  const auto segment = Segment::create("batch", 100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment.data()) % 4096, 0U);
  EXPECT_EQ(std::filesystem::file_size(segment.mapping()->path), 4196U);
  EXPECT_EQ(segment.size(), 100U);
  EXPECT_TRUE(segment.reserved());
}

TEST_F(SegmentTest, TellsAboutItself) {
  const auto segment = Segment::create("told", 100, {.label = "for people", .capacity = 5000});
  const SegmentInfo info = segment.info();
  EXPECT_EQ(info.name, "lp." + memory::shm_namespace() + ".told");
  EXPECT_EQ(info.label, "for people");
  EXPECT_EQ(info.bytes, 100U);
  EXPECT_EQ(info.capacity, 5000U);
  EXPECT_EQ(info.creator_pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(info.uid, geteuid());
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_GT(info.holders[0].start_time, 0U);
  EXPECT_THAT(shm::mapping_processes(info), testing::ElementsAre(info.creator_pid));
  ASSERT_NE(segment.mapping(), nullptr);
  EXPECT_EQ(segment.mapping()->kind, MappingKind::segment);
  EXPECT_EQ(segment.mapping()->lifetime, Lifetime::last_detach);
  EXPECT_TRUE(segment.mapping()->is_shared);
}

TEST_F(SegmentTest, GrowsWithinItsCapacityInPlace) {
  auto segment = Segment::create("grows", 100, {.capacity = 50'000});
  const void* const before = segment.data();
  segment.grow(50'000);
  EXPECT_EQ(segment.data(), before);
  EXPECT_EQ(segment.size(), 50'000U);
  EXPECT_EQ(Segment::attach("grows").size(), 50'000U);
}

TEST_F(SegmentTest, IsAttachedToAsAWholeOrInPart) {
  const auto segment = Segment::create("batch", 100);
  EXPECT_EQ(Segment::attach("batch", {.bytes = 40}).size(), 40U);
  expect_error<MapError>([] { Segment::attach("batch", {.bytes = 200}); },
                         "attach: expected a segment of at least 200 bytes",
                         "got \"" + segment.mapping()->path + "\" of 100 bytes");
  const auto reader = Segment::attach("batch", {.read_only = true});
  EXPECT_TRUE(reader.mapping()->is_read_only);
  EXPECT_EQ(segment.attachments(), 2U);
}

TEST_F(SegmentTest, MayBeNamedInFull) {
  const auto segment = Segment::create("batch", 100);
  EXPECT_EQ(Segment::attach(segment.name()).size(), 100U);
  EXPECT_EQ(Segment::attach("/" + segment.name()).size(), 100U);
  expect_error<ValueError>([] { Segment::create("a b", 100); },
                           "shm: expected a name of 1 to 200 of [A-Za-z0-9_-]", "got \"a b\"");
  EXPECT_THROW(Segment::create("a/b", 100), ValueError);
  EXPECT_EQ(kind_thrown_by([] { Segment::create("batch", 100); }), Kind::already_exists);
  EXPECT_EQ(kind_thrown_by([] { Segment::attach("missing"); }), Kind::not_found);
}

TEST_F(SegmentTest, CountsTheReferencesOfThisProcess) {
  auto segment = Segment::create("counted", 100);
  segment.incref();
  segment.incref();
  EXPECT_EQ(segment.attachments(), 3U);
  EXPECT_EQ(segment.info().holders.at(0).references, 2U);
  EXPECT_EQ(segment.decref(), 0);
  EXPECT_EQ(segment.decref(), 1);
  EXPECT_EQ(segment.attachments(), 1U);
  expect_error<StateError>([&] { segment.decref(); }, "decref: expected an incref before",
                           "got none");
}

TEST_F(SegmentTest, MayTravelAsADescriptor) {
  auto segment = Segment::create("travels", 100);
  const int fd = segment.descriptor();
  segment.close();
  const Segment received(WITH_FD, segment.name(), fd, shared_mem);
  EXPECT_EQ(received.size(), 100U);
  EXPECT_EQ(received.attachments(), 1U);
}

TEST_F(SegmentTest, HasTheConstructorsThatUsersOfPyTorchKnow) {
  const Segment created("classic", shared_mem | exclusive, 100);
  EXPECT_EQ(Segment("classic", shared_mem, 100).size(), 100U);
  EXPECT_EQ(Segment("classic", shared_mem | no_create, 50).size(), 50U);
  EXPECT_EQ(Segment("made", shared_mem, 100).size(), 100U);
  EXPECT_EQ(kind_thrown_by([] { Segment("classic", shared_mem | exclusive, 100); }),
            Kind::already_exists);
  EXPECT_EQ(kind_thrown_by([] { Segment("missing", shared_mem | no_create, 100); }),
            Kind::not_found);
}

TEST_F(SegmentTest, ChecksItsFlagsFirst) {
  expect_error<ValueError>([] { Segment("x", none, 100); }, "segment: expected shared_mem",
                           "got none");
  for (const MapFlags flag : {from_fd, keep_fd, MapFlags::unlink, shared}) {
    expect_error<ValueError>([&] { Segment("x", shared_mem | flag, 100); },
                             "segment: expected flags without shared|from_fd|keep_fd|unlink",
                             "got " + to_string(shared_mem | flag));
  }
  EXPECT_THROW(Segment("x", shared_mem | exclusive | no_create, 100), ValueError);
}

TEST_F(SegmentTest, BecomesTheOwnerOfMemory) {
  std::size_t actual = 0;
  const DataPtr data = Segment::makeDataPtr("owner", shared_mem | exclusive, 100, &actual);
  EXPECT_EQ(actual, 100U);
  ASSERT_NE(Segment::fromDataPtr(data), nullptr);
  EXPECT_EQ(Segment::fromDataPtr(data)->data(), data.data);
  EXPECT_NE(MapAllocator::fromDataPtr(data), nullptr);
  const int fd = Segment::fromDataPtr(data)->descriptor();
  const DataPtr other = Segment::makeDataPtr(WITH_FD, "owner", fd, shared_mem);
  EXPECT_EQ(other.bytes, 100U);
  EXPECT_TRUE(Storage::adopt(data).is_shared());
}

TEST_F(SegmentTest, IsListedAndRemoved) {
  const std::string ns = memory::shm_namespace();
  const auto segment = Segment::create("listed", 100);
  const auto reader = Segment::attach("listed", {.read_only = true});
  const auto list = shm::list(ns);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].attachments, 2U);
  EXPECT_TRUE(shm::sweep({.ns = ns, .dry_run = true}).removed.empty());
  expect_error<MapError>([] { shm::remove("listed"); },
                         "remove: expected a segment that nobody uses",
                         "got \"" + segment.mapping()->path + "\" in use");
  EXPECT_TRUE(shm::remove("listed", true));
  EXPECT_EQ(segment.size(), 100U);
  EXPECT_EQ(kind_thrown_by([] { shm::info("listed"); }), Kind::not_found);
}

TEST_F(SegmentTest, WithoutANameIsSharedByItsDescriptorOnly) {
  auto segment = Segment::anonymous(100, {.label = "nameless"});
  EXPECT_EQ(segment.name(), "");
  EXPECT_EQ(segment.mapping()->lifetime, Lifetime::anonymous);
  EXPECT_EQ(segment.attachments(), 1U);
  EXPECT_EQ(segment.info().label, "nameless");
  const Segment other(WITH_FD, "", segment.descriptor(), shared_mem);
  EXPECT_EQ(segment.attachments(), 2U);
  segment.grow(10'000);
  std::memcpy(segment.data(), "x", 1);
  EXPECT_EQ(*static_cast<const char*>(other.data()), 'x');
}

}  // namespace
}  // namespace loup
