#include <algorithm>
#include <new>
#include <span>
#include <zlib.h>

#include "loup/base/error.h"
#include "loup/io/elements.h"
#include "loup/io/json.h"
#include "loup/io/zip.h"

namespace loup::io::zip {

namespace {

/// zlib counts in 32 bits.
constexpr std::size_t largest_step = 1U << 30U;

/// Whether `from` unpacks to exactly as many bytes as there are in `to`.
bool inflate_all(std::span<const std::byte> from, std::span<std::byte> to) {
  z_stream stream{};
  constexpr int raw_window = -15;
  if (inflateInit2(&stream, raw_window) != Z_OK) throw std::bad_alloc();
  int status = Z_OK;
  Bytef nothing = 0;
  stream.next_out = to.empty() ? &nothing : reinterpret_cast<Bytef*>(to.data());
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));
  std::size_t in_left = from.size();
  std::size_t out_left = to.size();
  while (status == Z_OK) {
    const std::size_t in = std::min(in_left, largest_step);
    const std::size_t out = std::min(out_left, largest_step);
    stream.avail_in = static_cast<uInt>(in);
    stream.avail_out = static_cast<uInt>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    in_left -= in - stream.avail_in;
    out_left -= out - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && in_left == 0 && out_left == 0;
}

}  // namespace

DataPtr content(const DataPtr& archive, const Member& member, bool verify) {
  DataPtr bytes = part_of(archive, member.offset, member.packed_bytes);
  if (member.is_deflated) {
    const DataPtr unpacked = new_bytes(member.bytes);
    if (!inflate_all(bytes_of(bytes), {static_cast<std::byte*>(unpacked.data), unpacked.bytes})) {
      throw FormatError("load: expected {} deflated bytes of member {}, got others", member.bytes,
                        json::quote(member.name));
    }
    bytes = unpacked;
  }
  if (verify || member.is_deflated) {
    const auto* const data = static_cast<const Bytef*>(bytes.data);
    const uLong checksum = bytes.bytes == 0 ? 0 : crc32_z(0, data, bytes.bytes);
    if (checksum != member.checksum) {
      throw FormatError("load: expected checksum {:#010x} of member {}, got {:#010x}",
                        member.checksum, json::quote(member.name), checksum);
    }
  }
  return bytes;
}

}  // namespace loup::io::zip
