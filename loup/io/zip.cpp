#include "loup/io/zip.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "loup/base/error.h"
#include "loup/io/json.h"
#include "loup/io/zip_format.h"

namespace loup::io::zip {

namespace {

/// No input makes deflate grow more than this.
constexpr std::size_t largest_ratio = 1032;
/// Utf-8 names, descriptors, and the two bits that tell how hard deflate tried.
constexpr unsigned known_flags = flag_utf8 | flag_descriptor | 0x0006U;

/// Fields of a record; whoever makes one knows that it lies inside of the archive.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T get(std::size_t offset) const {
    T value{};
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::uint16_t u16(std::size_t offset) const { return get<std::uint16_t>(offset); }
  std::uint32_t u32(std::size_t offset) const { return get<std::uint32_t>(offset); }
  std::uint64_t u64(std::size_t offset) const { return get<std::uint64_t>(offset); }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t count = 0;
};

class Archive {
 public:
  explicit Archive(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::vector<Member> members() {
    const Directory directory = find_directory();
    std::vector<Member> result;
    std::vector<Place> places;
    std::set<std::string_view> names;
    std::size_t at = directory.offset;
    const std::size_t end = directory.offset + directory.bytes;
    result.reserve(directory.count);
    for (std::size_t i = 0; i < directory.count; ++i) {
      Place place;
      result.push_back(read_member(at, end, directory.offset, place));
      places.push_back(place);
      if (!names.insert(result.back().name).second) {
        throw FormatError("load: expected members with different names, got {} twice",
                          json::quote(result.back().name));
      }
    }
    if (at != end) {
      throw FormatError("load: expected a ZIP directory of {} bytes, got {}", at - directory.offset,
                        directory.bytes);
    }
    check_apart(places);
    return result;
  }

 private:
  /// A member's local header and data.
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// `bytes` at `offset`, which begin with `signature`; nothing when that is not so.
  std::optional<Fields> record(std::size_t offset, std::size_t bytes,
                               std::uint32_t signature) const {
    if (offset > bytes_.size() || bytes_.size() - offset < bytes) return std::nullopt;
    const Fields fields(bytes_.subspan(offset, bytes));
    if (fields.u32(0) != signature) return std::nullopt;
    return fields;
  }

  std::size_t find_end() const {
    constexpr std::size_t longest_comment = 0xFFFF;
    for (std::size_t comment = 0; comment <= longest_comment; ++comment) {
      if (bytes_.size() < end_bytes + comment) break;
      const std::size_t offset = bytes_.size() - end_bytes - comment;
      const std::optional<Fields> end = record(offset, end_bytes, end_signature);
      if (end && end->u16(20) == comment) return offset;
    }
    throw FormatError("load: expected the end record of a ZIP archive, got none in {} bytes",
                      bytes_.size());
  }

  Directory find_directory() const {
    std::size_t end = find_end();
    const Fields fields = *record(end, end_bytes, end_signature);
    Directory directory{fields.u32(16), fields.u32(12), fields.u16(10)};
    bool is_split = fields.u16(4) != 0 || fields.u16(6) != 0 || fields.u16(8) != fields.u16(10);
    if (directory.offset == elsewhere32 || directory.bytes == elsewhere32 ||
        directory.count == elsewhere16) {
      const std::optional<Fields> locator =
          end < locator_bytes ? std::nullopt
                              : record(end - locator_bytes, locator_bytes, locator_signature);
      const std::optional<Fields> end64 =
          locator ? record(locator->u64(8), end64_bytes, end64_signature) : std::nullopt;
      if (!end64) throw FormatError("load: expected a zip64 end record, got none");
      is_split = locator->u32(4) != 0 || end64->u32(16) != 0 || end64->u32(20) != 0 ||
                 end64->u64(24) != end64->u64(32);
      directory = {end64->u64(48), end64->u64(40), end64->u64(32)};
      end = locator->u64(8);
    }
    if (is_split) throw FormatError("load: expected one ZIP archive, got a part of a split one");
    if (directory.offset > end || directory.bytes != end - directory.offset ||
        directory.count > directory.bytes / central_bytes) {
      throw FormatError(
          "load: expected a ZIP directory up to its end record at byte {}, got {} members in {} "
          "bytes "
          "at byte {}",
          end, directory.count, directory.bytes, directory.offset);
    }
    return directory;
  }

  /// Takes the values that did not fit into their fields from the zip64 field, in this order.
  static void read_zip64(std::span<const std::byte> extra, const std::string& name,
                         std::initializer_list<std::uint64_t*> values) {
    std::span<const std::byte> found;
    for (std::size_t at = 0; at + 4 <= extra.size();) {
      const Fields field(extra.subspan(at));
      const std::size_t bytes = field.u16(2);
      if (bytes > extra.size() - at - 4) break;
      if (field.u16(0) == zip64_extra) found = extra.subspan(at + 4, bytes);
      at += 4 + bytes;
    }
    for (std::uint64_t* const value : values) {
      if (*value != elsewhere32) continue;
      if (found.size() < sizeof *value) {
        throw FormatError("load: expected the zip64 sizes of member {}, got none",
                          json::quote(name));
      }
      *value = Fields(found).u64(0);
      found = found.subspan(sizeof *value);
    }
  }

  std::string text(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, bytes};
  }

  /// The entry at `at`, which is moved to the next one.
  Member read_member(std::size_t& at, std::size_t end, std::size_t data_end, Place& place) const {
    const std::optional<Fields> entry = record(at, central_bytes, central_signature);
    if (!entry || end - at < central_bytes) {
      throw FormatError("load: expected an entry of the ZIP directory at byte {}, got none", at);
    }
    const std::size_t name_bytes = entry->u16(28);
    const std::size_t extra_bytes = entry->u16(30);
    const std::size_t all = central_bytes + name_bytes + extra_bytes + entry->u16(32);
    if (all > end - at) {
      throw FormatError("load: expected an entry of at most {} bytes at byte {}, got {}", end - at,
                        at, all);
    }
    Member member;
    member.name = text(at + central_bytes, name_bytes);
    if (!json::is_utf8(member.name)) {
      throw FormatError("load: expected names of members in UTF-8, got other bytes");
    }
    member.checksum = entry->u32(16);
    std::uint64_t packed = entry->u32(20);
    std::uint64_t unpacked = entry->u32(24);
    std::uint64_t header = entry->u32(42);
    read_zip64(bytes_.subspan(at + central_bytes + name_bytes, extra_bytes), member.name,
               {&unpacked, &packed, &header});
    const unsigned flags = entry->u16(8);
    if ((flags & ~known_flags) != 0) {
      throw FormatError("load: expected member {} without encryption, got flags {:#x}",
                        json::quote(member.name), flags);
    }
    const std::uint16_t method = entry->u16(10);
    if (method != stored && method != deflated) {
      throw FormatError("load: expected member {} stored or deflated, got compression method {}",
                        json::quote(member.name), method);
    }
    member.is_deflated = method == deflated;
    member.packed_bytes = packed;
    member.bytes = unpacked;
    place = check_local(*entry, member, header, data_end);
    member.offset = place.end - packed;
    check_sizes(member);
    at += all;
    return member;
  }

  /// Throws unless the local header says the same and the data end before `data_end`.
  Place check_local(const Fields& entry, const Member& member, std::size_t header,
                    std::size_t data_end) const {
    const std::optional<Fields> local = record(header, local_bytes, local_signature);
    const bool fits = local && header < data_end && data_end - header >= local_bytes;
    const std::size_t names = fits ? local->u16(26) + std::size_t{local->u16(28)} : 0;
    const std::size_t room = fits ? data_end - header - local_bytes : 0;
    if (!fits || names > room || member.packed_bytes > room - names) {
      throw FormatError(
          "load: expected member {} of {} bytes before the ZIP directory, got byte {}",
          json::quote(member.name), member.packed_bytes, header);
    }
    // Sizes and checksum are 0 here when they follow the data.
    const bool is_known = (local->u16(6) & flag_descriptor) == 0;
    const bool agrees = local->u16(6) == entry.u16(8) && local->u16(8) == entry.u16(10) &&
                        local->u16(26) == member.name.size() &&
                        text(header + local_bytes, member.name.size()) == member.name &&
                        (!is_known || (local->u32(14) == member.checksum &&
                                       agree(local->u32(18), member.packed_bytes) &&
                                       agree(local->u32(22), member.bytes)));
    if (!agrees) {
      throw FormatError("load: expected a header of member {} like its entry, got another",
                        json::quote(member.name));
    }
    return {header, header + local_bytes + names + member.packed_bytes};
  }

  static bool agree(std::uint32_t field, std::size_t value) {
    return field == elsewhere32 || field == value;
  }

  static void check_sizes(const Member& member) {
    const bool is_reachable = member.is_deflated
                                  ? member.bytes / largest_ratio <= member.packed_bytes
                                  : member.bytes == member.packed_bytes;
    if (!is_reachable) {
      throw FormatError(
          "load: expected {} {} of member {}, got {}",
          member.is_deflated ? "at most 1032 times the packed bytes," : "the stored bytes,",
          member.packed_bytes, json::quote(member.name), member.bytes);
    }
  }

  static void check_apart(std::vector<Place> places) {
    std::ranges::sort(places, {}, &Place::begin);
    for (std::size_t i = 1; i < places.size(); ++i) {
      if (places[i].begin < places[i - 1].end) {
        throw FormatError("load: expected members apart from each other, got two at byte {}",
                          places[i].begin);
      }
    }
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<Member> members(std::span<const std::byte> archive) {
  return Archive(archive).members();
}

}  // namespace loup::io::zip
