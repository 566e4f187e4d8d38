#include "loup/memory/segment_header.h"

#include <cstring>

#include <gtest/gtest.h>

namespace loup::memory {
namespace {

std::span<const std::byte> bytes_of(const SegmentHeader& header) {
  return std::as_bytes(std::span(&header, 1));
}

TEST(SegmentHeader, HasTheChecksumThatEverybodyCallsCrc32) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(text))), 0xCBF43926U);
  const std::uint32_t first = crc32(std::as_bytes(std::span(text).first(4)));
  EXPECT_EQ(crc32(std::as_bytes(std::span(text).subspan(4)), first), 0xCBF43926U);
  EXPECT_EQ(crc32({}), 0U);
}

TEST(SegmentHeader, IsReadAsItWasWritten) {
  SegmentHeader header{};
  write_header(header, 100, 200, Lifetime::persistent, "a label");
  SegmentFields fields;
  ASSERT_EQ(read_header(bytes_of(header), 4096 + 200, fields), "");
  EXPECT_EQ(fields.bytes, 100U);
  EXPECT_EQ(fields.capacity, 200U);
  EXPECT_EQ(fields.lifetime, Lifetime::persistent);
  EXPECT_EQ(fields.label, "a label");
  EXPECT_EQ(fields.major, 1U);
}

TEST(SegmentHeader, CutsALabelThatIsTooLong) {
  SegmentHeader header{};
  write_header(header, 0, 0, Lifetime::last_detach, std::string(100, 'x'));
  SegmentFields fields;
  ASSERT_EQ(read_header(bytes_of(header), 4096, fields), "");
  EXPECT_EQ(fields.label, std::string(63, 'x'));
}

TEST(SegmentHeader, MayGrowWithoutANewChecksum) {
  SegmentHeader header{};
  write_header(header, 100, 200, Lifetime::last_detach, "");
  header.data_bytes = 300;
  header.capacity = 300;
  header.generation = 1;
  SegmentFields fields;
  EXPECT_EQ(read_header(bytes_of(header), 4096 + 300, fields), "");
  EXPECT_EQ(read_header(bytes_of(header), 4096 + 299, fields),
            "expected at most 299 bytes of data, got 300 in a capacity of 300");
}

TEST(SegmentHeader, NeedsAWholePage) {
  SegmentFields fields;
  EXPECT_EQ(read_header({}, 10, fields), "expected a header of 4096 bytes, got a file of 10 bytes");
}

}  // namespace
}  // namespace loup::memory
