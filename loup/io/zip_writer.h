#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loup/io/atomic_file.h"

namespace loup::io::zip {

/// Writes a ZIP archive: stored or deflated members, zip64 where sizes ask for it. Stored ones
/// begin at multiples of 64.
class LOUP_EXPORT Writer {
 public:
  using Parts = std::vector<std::span<const std::byte>>;

  explicit Writer(AtomicFile& file) : file_(&file) {}
  /// A member that is the concatenation of `parts`. ValueError for a name that is too long or not
  /// UTF-8.
  void add(const std::string& name, const Parts& parts, bool deflate);
  /// Writes the directory. The file is not committed.
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint16_t method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
    bool is_zip64 = false;
    std::size_t padding = 0;  // bytes of a field that does nothing but align
  };
  static std::string local_header(const Entry& entry);
  static std::string central_header(const Entry& entry);
  void write(const std::string& bytes);
  void write_deflated(const Parts& parts, Entry& entry);

  AtomicFile* file_;
  std::vector<Entry> entries_;
};

}  // namespace loup::io::zip
