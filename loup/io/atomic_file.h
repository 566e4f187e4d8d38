#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <sys/types.h>

#include "loup/export.h"
#include "loup/memory/system.h"

namespace loup::io {

/// A file that appears, or replaces the one before, as a whole: when the process or the machine
/// dies, the path has the old content or the new one. Whoever has the old file open or mapped keeps
/// it. All errors are IoErrors and leave the old file as it was.
///
/// The bytes are written to a file without a name, which gets one for the moment of the change
/// only; where the file system cannot do that, to a hidden one beside the path. Its mode is that of
/// the file it replaces, otherwise what the umask leaves.
class LOUP_EXPORT AtomicFile {
 public:
  enum class Temporary : std::uint8_t { nameless_if_possible, named };
  explicit AtomicFile(const std::filesystem::path& path,
                      Temporary temporary = Temporary::nameless_if_possible);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Without commit() nothing remains.
  ~AtomicFile();

  /// Appends.
  void write(std::span<const std::byte> bytes);
  /// Overwrites a part of what was written.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// How much was written.
  std::uint64_t size() const { return size_; }
  /// Brings the bytes to the disk, then the name to the file.
  void commit();

 private:
  [[noreturn]] void fail(const char* call) const;
  void open_nameless(mode_t mode);
  void open_named(mode_t mode);
  std::string new_name() const;
  void give_name();
  void sync_folder() const;

  std::string path_;       // as the caller knows it
  std::string target_;     // behind symbolic links
  std::string folder_;     // of the target
  std::string temporary_;  // the name that would remain; empty when there is none
  memory::Fd fd_;
  std::uint64_t size_ = 0;
  bool is_replacing_ = false;
  mode_t mode_ = 0;  // of the file that is replaced
};

}  // namespace loup::io
