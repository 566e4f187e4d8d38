#include "loup/memory/segment_info.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "loup/memory/segment_header.h"
#include "loup/memory/segment_lock.h"

namespace loup::memory {

SegmentInfo segment_info(const char* operation, const std::string& path, int fd) {
  const MapError::Context context{operation, path};
  struct stat info{};
  if (sys::fstat(fd, info) != 0) throw_map_error(context, "fstat", errno);
  // Read, not mapped: the file may be cut short meanwhile.
  SegmentHeader header{};
  const ssize_t got = S_ISREG(info.st_mode) ? sys::read_at(fd, &header, sizeof header, 0) : 0;
  if (got < 0) throw_map_error(context, "read", errno);
  SegmentFields fields;
  const auto bytes = std::as_bytes(std::span(&header, 1)).first(static_cast<std::size_t>(got));
  const std::string fault = read_header(bytes, static_cast<std::size_t>(info.st_size), fields);
  if (!fault.empty()) {
    throw MapError(MapError::Kind::bad_header, EBADMSG, context, "{}: {} in \"{}\"", operation,
                   fault, path);
  }
  SegmentInfo result{.name = std::filesystem::path(path).filename().string(),
                     .path = path,
                     .label = fields.label,
                     .bytes = fields.bytes,
                     .capacity = fields.capacity,
                     .allocated = static_cast<std::size_t>(info.st_blocks) * 512,
                     .lifetime = fields.lifetime,
                     .generation = fields.generation,
                     .major = fields.major,
                     .minor = fields.minor,
                     .uid = info.st_uid,
                     .creator_pid = fields.pid,
                     .created = fields.created,
                     .attachments = count_announced(fd),
                     .holders = {},
                     .inode = info.st_ino};
  for (int i = 0; i < segment_slots; ++i) {
    const SegmentSlot& slot = header.slots[i];
    if (slot.pid == 0 || !is_slot_alive(fd, i)) continue;
    result.holders.push_back(
        {slot.pid, slot.start_time, slot.pid_namespace, slot.time, slot.references});
  }
  return result;
}

SegmentInfo segment_info(const char* operation, const std::string& path) {
  const Fd fd(sys::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) throw_map_error({operation, path}, "open it for reading", errno);
  return segment_info(operation, path, fd.get());
}

bool replace_stale(const std::string& path) noexcept {
  try {
    if (segment_info("create", path).lifetime != Lifetime::last_detach) return false;
  } catch (const MapError& error) {
    return error.kind() == MapError::Kind::not_found;
  } catch (...) {
    return false;
  }
  const Removal removal = remove_name(path, nullptr);
  return removal == Removal::removed || removal == Removal::gone;
}

}  // namespace loup::memory
