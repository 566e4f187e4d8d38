#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "loup/memory/segment_header.h"

// Any bytes are a header or refused. The data of one that is accepted lie inside of the file, and
// bytes with the right checksum are reached by repairing it.

namespace {

using loup::memory::SegmentFields;
using loup::memory::SegmentHeader;

void read(std::span<const std::byte> bytes, std::size_t file_bytes) {
  SegmentFields fields;
  const std::string fault = loup::memory::read_header(bytes, file_bytes, fields);
  if (!fault.empty()) {
    if (!fault.starts_with("expected ") || fault.find(", got ") == std::string::npos) std::abort();
    return;
  }
  if (file_bytes < loup::memory::segment_header_bytes) std::abort();
  const std::size_t room = file_bytes - loup::memory::segment_header_bytes;
  if (fields.bytes > fields.capacity || fields.capacity > room) std::abort();
  if (fields.label.size() > sizeof SegmentHeader::label) std::abort();
}

}  // namespace

// libFuzzer finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read(bytes, size);
  if (size < offsetof(SegmentHeader, slots)) return 0;
  // The sizes of the file vary, too; the checksum would stop almost everything else.
  SegmentHeader header{};
  std::memcpy(&header, data, offsetof(SegmentHeader, slots));
  const auto whole = std::as_bytes(std::span(&header, 1));
  const std::uint32_t first = loup::memory::crc32(whole.first(24));
  header.checksum = loup::memory::crc32(whole.subspan(48, 120), first);
  for (const std::size_t file_bytes :
       {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, std::size_t{4196}, SIZE_MAX}) {
    read(whole, file_bytes);
  }
  return 0;
}
