#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "loup/export.h"
#include "loup/memory/map_error.h"

namespace loup {

/// What is going to be done with mapped memory.
enum class Advice : std::uint8_t { sequential, random, willneed, dontneed, hugepage, populate };

/// What came of it.
enum class AdviceResult : std::uint8_t {
  effective,    ///< done, or known to be followed
  accepted,     ///< the system said yes, but is configured to ignore it
  unsupported,  ///< the system does not know it, or not for this memory
  no_space      ///< populate: there is no room for the pages
};

namespace memory {

struct ShieldedRange;

/// Pages of a file in memory, unmapped with the object.
class MappedRegion {
 public:
  MappedRegion() = default;
  /// Maps the first `bytes` of a file; nothing when they are 0. `context` is for the error.
  MappedRegion(const MapError::Context& context, int fd, std::size_t bytes, bool is_writable,
               bool is_shared);
  MappedRegion(MappedRegion&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        range_(std::exchange(other.range_, nullptr)) {}
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;
  ~MappedRegion() { unmap(); }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Maps more of the file behind what is mapped; false when something else is there.
  bool extend(std::size_t bytes) noexcept;
  /// 0 or an errno. The object is empty afterwards.
  int unmap() noexcept;

  /// False when the last page is gone: the file was cut short.
  bool is_backed() const noexcept;
  /// 0 or an errno.
  int sync(std::size_t offset, std::size_t bytes, bool async) const noexcept;
  AdviceResult advise(Advice advice, std::size_t offset, std::size_t bytes) const noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  ShieldedRange* range_ = nullptr;
};

}  // namespace memory

}  // namespace loup
