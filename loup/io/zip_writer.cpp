#include "loup/io/zip_writer.h"

#include <algorithm>
#include <new>
#include <zlib.h>

#include "loup/base/error.h"
#include "loup/io/json.h"
#include "loup/io/zip_format.h"

namespace loup::io::zip {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t longest_name = 0xFFFF - alignment;
constexpr std::uint16_t version_plain = 20;
constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t made_by_unix = 3 << 8;
constexpr std::uint32_t regular_file = 0100644U << 16U;
/// 1 January 1980, midnight: equal tensors give equal files.
constexpr std::uint16_t no_time = 0;
constexpr std::uint16_t no_date = (1 << 5) | 1;
/// The field that zipalign uses for the same purpose.
constexpr std::uint16_t padding_extra = 0xD935;
constexpr std::size_t extra_header = 4;

/// Little-endian fields of a record.
class Record {
 public:
  Record& u16(std::uint64_t value) { return put(value, 2); }
  Record& u32(std::uint64_t value) { return put(value, 4); }
  Record& u64(std::uint64_t value) { return put(value, 8); }
  Record& text(const std::string& value) {
    bytes_ += value;
    return *this;
  }
  Record& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  std::string bytes() const { return bytes_; }

 private:
  Record& put(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
      bytes_ += static_cast<char>((value >> (8U * unsigned(i))) & 0xFFU);
    return *this;
  }
  std::string bytes_;
};

std::uint64_t narrow(std::uint64_t value, bool is_zip64) { return is_zip64 ? elsewhere32 : value; }

/// What zlib may need for `bytes` that do not become smaller.
std::uint64_t deflate_bound(std::uint64_t bytes) { return bytes + bytes / 1000 + 64; }

class Deflater {
 public:
  Deflater() {
    constexpr int raw_window = -15;
    constexpr int memory_level = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  /// Deflates some bytes and writes what comes out.
  std::uint64_t feed(std::span<const std::byte> bytes, int flush, AtomicFile& file) {
    std::uint64_t written = 0;
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      const std::size_t made = buffer_.size() - stream_.avail_out;
      file.write(std::span(buffer_).first(made));
      written += made;
    } while (stream_.avail_out == 0);
    return written;
  }

 private:
  z_stream stream_{};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 18U);
};

}  // namespace

std::string Writer::local_header(const Entry& entry) {
  const std::size_t extra = (entry.is_zip64 ? extra_header + 16 : 0) +
                            (entry.padding == 0 ? 0 : extra_header + entry.padding);
  Record record;
  record.u32(local_signature).u16(entry.is_zip64 ? version_zip64 : version_plain);
  record.u16(flag_utf8).u16(entry.method).u16(no_time).u16(no_date).u32(entry.checksum);
  record.u32(narrow(entry.packed_bytes, entry.is_zip64)).u32(narrow(entry.bytes, entry.is_zip64));
  record.u16(entry.name.size()).u16(extra).text(entry.name);
  if (entry.is_zip64) record.u16(zip64_extra).u16(16).u64(entry.bytes).u64(entry.packed_bytes);
  if (entry.padding != 0) record.u16(padding_extra).u16(entry.padding).zeros(entry.padding);
  return record.bytes();
}

std::string Writer::central_header(const Entry& entry) {
  const bool is_zip64 = entry.is_zip64 || entry.offset >= elsewhere32;
  Record record;
  record.u32(central_signature).u16(made_by_unix | version_zip64);
  record.u16(is_zip64 ? version_zip64 : version_plain);
  record.u16(flag_utf8).u16(entry.method).u16(no_time).u16(no_date).u32(entry.checksum);
  record.u32(narrow(entry.packed_bytes, is_zip64)).u32(narrow(entry.bytes, is_zip64));
  record.u16(entry.name.size()).u16(is_zip64 ? extra_header + 24 : 0).u16(0).u16(0).u16(0);
  record.u32(regular_file).u32(narrow(entry.offset, is_zip64)).text(entry.name);
  if (is_zip64) {
    record.u16(zip64_extra).u16(24).u64(entry.bytes).u64(entry.packed_bytes).u64(entry.offset);
  }
  return record.bytes();
}

void Writer::write(const std::string& bytes) { file_->write(std::as_bytes(std::span(bytes))); }

void Writer::add(const std::string& name, const Parts& parts, bool deflate) {
  if (!json::is_utf8(name)) throw ValueError("save: expected names in UTF-8, got other bytes");
  if (name.size() > longest_name) {
    throw ValueError("save: expected names of at most {} bytes, got one of {}", longest_name,
                     name.size());
  }
  Entry entry;
  entry.name = name;
  entry.method = deflate ? deflated : stored;
  entry.offset = file_->size();
  for (const auto& part : parts) {
    if (part.empty()) continue;  // zlib starts anew when there is no pointer
    entry.bytes += part.size();
    entry.checksum = static_cast<std::uint32_t>(
        crc32_z(entry.checksum, reinterpret_cast<const Bytef*>(part.data()), part.size()));
  }
  entry.packed_bytes = entry.bytes;
  entry.is_zip64 = (deflate ? deflate_bound(entry.bytes) : entry.bytes) >= elsewhere32;
  const std::size_t begin = entry.offset + local_header(entry).size();
  if (!deflate && begin % alignment != 0) {
    entry.padding = alignment - (begin + extra_header) % alignment;
  }
  write(local_header(entry));
  if (deflate) {
    write_deflated(parts, entry);
    const std::string header = local_header(entry);
    file_->write_at(entry.offset, std::as_bytes(std::span(header)));
  } else {
    for (const auto& part : parts) file_->write(part);
  }
  entries_.push_back(std::move(entry));
}

void Writer::write_deflated(const Parts& parts, Entry& entry) {
  constexpr std::size_t step = 1U << 22U;
  Deflater deflater;
  entry.packed_bytes = 0;
  for (std::span<const std::byte> part : parts) {
    while (!part.empty()) {
      const std::size_t size = std::min(part.size(), step);
      entry.packed_bytes += deflater.feed(part.first(size), Z_NO_FLUSH, *file_);
      part = part.subspan(size);
    }
  }
  entry.packed_bytes += deflater.feed({}, Z_FINISH, *file_);
}

void Writer::finish() {
  const std::uint64_t offset = file_->size();
  for (const Entry& entry : entries_) write(central_header(entry));
  const std::uint64_t end = file_->size();
  const std::uint64_t count = entries_.size();
  const bool is_zip64 = count >= elsewhere16 || end >= elsewhere32;
  Record record;
  if (is_zip64) {
    record.u32(end64_signature).u64(end64_bytes - 12).u16(made_by_unix | version_zip64);
    record.u16(version_zip64).u32(0).u32(0).u64(count).u64(count).u64(end - offset).u64(offset);
    record.u32(locator_signature).u32(0).u64(end).u32(1);
  }
  const std::uint64_t shown = is_zip64 ? elsewhere16 : count;
  record.u32(end_signature).u16(0).u16(0).u16(shown).u16(shown);
  record.u32(narrow(end - offset, is_zip64)).u32(narrow(offset, is_zip64)).u16(0);
  write(record.bytes());
}

}  // namespace loup::io::zip
