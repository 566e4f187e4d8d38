#include <algorithm>
#include <atomic>
#include <cerrno>

#include "loup/memory/mapped_file.h"
#include "loup/memory/refcounted_map_allocator.h"
#include "loup/memory/segment_header.h"
#include "loup/memory/segment_lock.h"

// Segments become longer while others use them: sizes are published, addresses stay valid.

namespace loup {

using memory::Fd;
using memory::segment_header_bytes;
using memory::SegmentHeader;
namespace sys = memory::sys;

void RefcountedMapAllocator::grow(std::size_t bytes) {
  check_open("grow");
  memory::check_size("grow", mapping_.path, bytes, segment_header_bytes);
  MapError::Context context{"grow", mapping_.path, bytes, size()};
  if (mapping_.is_read_only) {
    throw StateError("grow: expected a segment attached for writing, got a read-only one");
  }
  const Fd fd = reopen("grow", true);
  const memory::SegmentGuard guard(fd.get(), memory::SegmentGuard::Purpose::grow,
                                   std::chrono::seconds(10));
  if (!guard.is_held()) memory::throw_map_error(context, "fcntl", EBUSY);
  SegmentHeader& before = header();
  struct stat info{};
  if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  const std::uint64_t present = std::atomic_ref(before.data_bytes).load();
  if (bytes < size() || bytes < present) {
    context.actual = present;
    throw MapError(MapError::Kind::size_mismatch, EINVAL, context,
                   "grow: expected at least the present {} bytes, got {} for \"{}\"", present,
                   bytes, mapping_.path);
  }
  const std::size_t whole = segment_header_bytes + bytes;
  const auto file_bytes = static_cast<std::size_t>(info.st_size);
  if (whole > file_bytes) memory::grow_file(context, fd.get(), file_bytes, whole, false);
  const std::size_t mapped = std::max(whole, file_bytes);
  if (mapped > region_.bytes()) {
    remap("grow", fd.get(), mapped, mapped - segment_header_bytes);
  }
  mapping_.bytes = bytes;
  // Readers look at the generation first, at the sizes then.
  SegmentHeader& larger = header();
  std::atomic_ref(larger.capacity).store(mapped - segment_header_bytes);
  std::atomic_ref(larger.data_bytes).store(bytes);
  if (bytes > present) generation_ = std::atomic_ref(larger.generation).fetch_add(1) + 1;
}

bool RefcountedMapAllocator::refresh() {
  check_open("refresh");
  if (std::atomic_ref(header().generation).load() == generation_) return false;
  const Fd fd = reopen("refresh", !mapping_.is_read_only);
  struct stat info{};
  const MapError::Context context{"refresh", mapping_.path};
  if (sys::fstat(fd.get(), info) != 0) memory::throw_map_error(context, "fstat", errno);
  const auto whole = static_cast<std::size_t>(info.st_size);
  memory::SegmentFields fields;
  const std::string fault =
      memory::read_header({region_.data(), segment_header_bytes}, whole, fields);
  if (!fault.empty()) {
    throw MapError(MapError::Kind::bad_header, EBADMSG, context, "refresh: {} in \"{}\"", fault,
                   mapping_.path);
  }
  const std::size_t before = size();
  const bool is_larger = fields.bytes > before;
  if (whole > region_.bytes()) remap("refresh", fd.get(), whole, whole - segment_header_bytes);
  mapping_.bytes = std::max(before, fields.bytes);
  generation_ = fields.generation;
  return is_larger;
}

}  // namespace loup
