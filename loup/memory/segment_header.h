#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "loup/memory/map_flags.h"

// What a segment of shared memory starts with: one page, little-endian. The data follow.

namespace loup::memory {

inline constexpr std::size_t segment_header_bytes = 4096;
inline constexpr int segment_slots = 60;

/// One attachment, for information only: whether it is alive is told by a lock, not by this.
struct SegmentSlot {
  std::uint32_t pid;
  std::uint32_t unused;
  std::uint64_t start_time;
  std::uint64_t pid_namespace;
  std::uint64_t time;        // nanoseconds since 1970
  std::uint32_t references;  // beyond the attachment itself
  std::uint32_t unused_too;
  char label[24];
};

struct SegmentHeader {
  char magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t byte_order;
  std::uint64_t data_offset;
  std::uint64_t data_bytes;
  std::uint64_t capacity;
  std::uint64_t generation;  // one more with each growth
  std::uint8_t state;
  std::uint8_t lifetime;
  std::uint16_t flags;
  std::uint32_t uid;
  std::uint32_t pid;
  std::uint32_t unused;
  std::uint64_t start_time;
  std::uint8_t boot_id[16];
  std::uint64_t pid_namespace;
  std::uint64_t created;  // nanoseconds since 1970
  char label[64];
  std::uint32_t checksum;  // CRC-32 of the fields that never change
  std::uint8_t reserved[84];
  SegmentSlot slots[segment_slots];
};

static_assert(sizeof(SegmentSlot) == 64 && sizeof(SegmentHeader) == segment_header_bytes);
static_assert(offsetof(SegmentHeader, data_offset) == 16 &&
              offsetof(SegmentHeader, generation) == 40 && offsetof(SegmentHeader, state) == 48 &&
              offsetof(SegmentHeader, pid) == 56 && offsetof(SegmentHeader, boot_id) == 72 &&
              offsetof(SegmentHeader, label) == 104 && offsetof(SegmentHeader, checksum) == 168 &&
              offsetof(SegmentHeader, slots) == 256);

inline constexpr std::string_view segment_magic{"LOUPSEG\n", 8};
inline constexpr std::uint16_t segment_major = 1;
inline constexpr std::uint16_t segment_minor = 0;
inline constexpr std::uint32_t segment_byte_order = 0x01020304;

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The header of a new segment of this process.
void write_header(SegmentHeader& header, std::size_t bytes, std::size_t capacity, Lifetime lifetime,
                  std::string_view label);

/// The fields of a header that are needed to use it, copied once: others may be changing it.
struct SegmentFields {
  std::size_t bytes = 0;
  std::size_t capacity = 0;
  std::uint64_t generation = 0;
  Lifetime lifetime = Lifetime::last_detach;
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint32_t uid = 0;
  std::uint32_t pid = 0;
  std::uint64_t created = 0;
  std::string label;
};

/// Reads a header that may be anything, at the start of a file of `file_bytes`. Returns what is
/// wrong as "expected …, got …", empty when nothing is.
std::string read_header(std::span<const std::byte> bytes, std::size_t file_bytes,
                        SegmentFields& fields);

/// A label of a fixed-size field, up to its first zero.
std::string label_of(std::span<const char> field);

}  // namespace loup::memory
