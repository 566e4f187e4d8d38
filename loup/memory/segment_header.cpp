#include "loup/memory/segment_header.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <zlib.h>

#include <fmt/core.h>

#include "loup/memory/process_identity.h"

namespace loup::memory {

namespace {

constexpr std::uint8_t complete = 1;

/// Sizes and the generation change when a segment grows; everything else up to the checksum stays.
std::uint32_t checksum(const SegmentHeader& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  const std::uint32_t first = crc32(bytes.first(offsetof(SegmentHeader, data_bytes)));
  constexpr std::size_t begin = offsetof(SegmentHeader, state);
  return crc32(bytes.subspan(begin, offsetof(SegmentHeader, checksum) - begin), first);
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // zlib would start anew
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32_z(before, data, bytes.size()));
}

std::string label_of(std::span<const char> field) {
  return {field.begin(), std::ranges::find(field, '\0')};
}

void write_header(SegmentHeader& header, std::size_t bytes, std::size_t capacity, Lifetime lifetime,
                  std::string_view label) {
  const ProcessIdentity self = process_identity();
  std::memcpy(header.magic, segment_magic.data(), segment_magic.size());
  header.major = segment_major;
  header.minor = segment_minor;
  header.byte_order = segment_byte_order;
  header.data_offset = segment_header_bytes;
  header.data_bytes = bytes;
  header.capacity = capacity;
  header.generation = 0;
  header.state = complete;
  header.lifetime = static_cast<std::uint8_t>(lifetime);
  header.uid = geteuid();
  header.pid = self.pid;
  header.start_time = self.start_time;
  std::ranges::copy(boot_id(), header.boot_id);
  header.pid_namespace = self.pid_namespace;
  header.created = nanoseconds_now();
  label.copy(header.label, sizeof header.label - 1);
  header.checksum = checksum(header);
}

std::string read_header(std::span<const std::byte> bytes, std::size_t file_bytes,
                        SegmentFields& fields) {
  constexpr std::size_t needed = offsetof(SegmentHeader, slots);
  if (file_bytes < segment_header_bytes || bytes.size() < needed) {
    return fmt::format("expected a header of {} bytes, got a file of {} bytes",
                       segment_header_bytes, file_bytes);
  }
  SegmentHeader header{};
  std::memcpy(&header, bytes.data(), needed);
  if (std::string_view(header.magic, sizeof header.magic) != segment_magic) {
    return "expected the magic bytes of a segment, got others";
  }
  if (header.byte_order != segment_byte_order) {
    return fmt::format("expected the byte order {:08x}, got {:08x}", segment_byte_order,
                       header.byte_order);
  }
  if (header.major != segment_major) {
    return fmt::format("expected version {}, got {}.{}", segment_major, header.major, header.minor);
  }
  if (header.checksum != checksum(header)) {
    return fmt::format("expected the checksum {:08x}, got {:08x}", checksum(header),
                       header.checksum);
  }
  if (header.data_offset != segment_header_bytes || header.state != complete ||
      header.lifetime > static_cast<std::uint8_t>(Lifetime::anonymous)) {
    return fmt::format("expected a complete segment, got data at {}, state {}, lifetime {}",
                       header.data_offset, header.state, header.lifetime);
  }
  if (header.data_bytes > header.capacity || header.capacity > file_bytes - segment_header_bytes) {
    return fmt::format("expected at most {} bytes of data, got {} in a capacity of {}",
                       file_bytes - segment_header_bytes, header.data_bytes, header.capacity);
  }
  fields = {.bytes = header.data_bytes,
            .capacity = header.capacity,
            .generation = header.generation,
            .lifetime = static_cast<Lifetime>(header.lifetime),
            .major = header.major,
            .minor = header.minor,
            .uid = header.uid,
            .pid = header.pid,
            .created = header.created,
            .label = label_of(header.label)};
  return {};
}

}  // namespace loup::memory
