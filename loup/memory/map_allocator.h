#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "loup/export.h"
#include "loup/memory/data_ptr.h"
#include "loup/memory/map_error.h"
#include "loup/memory/map_flags.h"
#include "loup/memory/mapped_region.h"
#include "loup/memory/shm_name.h"
#include "loup/memory/system.h"

namespace loup {

namespace memory {
struct MappedFile;
}

/// Picks the constructors that take a descriptor.
enum WithFd : std::uint8_t { WITH_FD };  // NOLINT(readability-identifier-naming): as users know it

/// A file, or plain shared memory, mapped into this process.
///
/// Const members may be called from any thread; close, grow and refresh need to be ordered with
/// everything else from outside. The object stays where it was made.
class LOUP_EXPORT MapAllocator : public MemoryContext {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// Maps `size` bytes of a file, by default all. With `shared` or `shared_mem` a shorter file
  /// becomes longer, unless `no_create` forbids it. ValueError for flags that contradict each
  /// other, MapError for the rest; nothing is left behind then.
  MapAllocator(const std::filesystem::path& path, MapFlags flags, Size size = {});
  /// Maps an open descriptor and takes it over, also when this throws a MapError. `filename` is
  /// only for messages.
  MapAllocator(WithFd tag, std::string_view filename, int fd, MapFlags flags, Size size = {});
  MapAllocator(const MapAllocator&) = delete;
  MapAllocator& operator=(const MapAllocator&) = delete;
  ~MapAllocator() override;

  /// The bytes; StateError once closed.
  std::span<std::byte> bytes() const;
  /// First byte; null when there are none, or once closed.
  virtual void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return mapping_.bytes; }
  /// The descriptor kept open by `keep_fd`, otherwise −1.
  int fd() const noexcept { return fd_.get(); }
  /// A new descriptor of the mapped file, which the caller closes. StateError when there is neither
  /// a name nor a descriptor to have it from.
  virtual int descriptor() const;
  MapFlags flags() const noexcept { return mapping_.flags; }
  const std::string& filename() const noexcept { return filename_; }
  const Mapping* mapping() const noexcept override { return &mapping_; }

  /// Writes changed bytes to the file, and waits for it unless `async`. StateError once closed,
  /// IndexError for a range outside, MapError when writing failed.
  void sync(std::size_t offset = 0, std::size_t bytes = npos, bool async = false) const;
  AdviceResult advise(Advice advice, std::size_t offset = 0,
                      std::size_t bytes = npos) const noexcept;

  /// Makes shared memory longer. Addresses handed out before stay valid until close, data() may
  /// be another afterwards. MapError when there is no room, or when `bytes` are fewer than there
  /// are; nothing changed then.
  virtual void grow(std::size_t bytes);
  /// Maps what others have added; true when there is more than before.
  virtual bool refresh();
  /// False when the file was cut short, so that touching the end of the bytes would end the
  /// process, or when the shield already replaced bytes by zeros. No signal is raised.
  bool verify() const noexcept;
  /// True when every byte has its room in the file system.
  bool reserved() const noexcept { return is_reserved_; }

  /// Unmaps, and removes the name if this object made it in shared memory. Does nothing the second
  /// time. A name that is gone already is no error.
  virtual void close();
  void close(std::error_code& error) noexcept;

  /// A MapAllocator as the owner of memory. `actual_size_out` receives the number of bytes.
  static DataPtr makeDataPtr(const std::filesystem::path& path, MapFlags flags, Size size,
                             std::size_t* actual_size_out = nullptr);
  static DataPtr makeDataPtr(WithFd tag, std::string_view filename, int fd, MapFlags flags,
                             Size size, std::size_t* actual_size_out = nullptr);
  /// The allocator behind memory; null when it has none, or one of another copy of this library.
  static MapAllocator* fromDataPtr(const DataPtr& data) noexcept;

 protected:
  /// Nothing mapped yet: for subclasses.
  MapAllocator(std::string_view filename, MappingKind kind, MapFlags flags);
  /// 0 or the first errno of what close does. `release_name` runs when nothing is mapped any more.
  int unmap_all() noexcept;
  /// A descriptor of the mapped file: the one kept, or its name opened again.
  memory::Fd reopen(const char* operation, bool writes) const;
  /// Maps `mapped` bytes of the file, of which the last `bytes` are data.
  void remap(const char* operation, int fd, std::size_t mapped, std::size_t bytes);
  void check_open(const char* operation) const;
  DataPtr data_ptr(std::shared_ptr<MemoryContext> self, std::size_t* actual_size_out) const;

  Mapping mapping_;
  std::string filename_;
  std::byte* data_ = nullptr;
  memory::MappedRegion region_;
  std::vector<memory::MappedRegion> outgrown_;  // addresses of theirs may still be in use
  memory::Fd fd_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  bool is_reserved_ = false;
  bool is_closed_ = false;

 private:
  void map_file(memory::MappedFile file, Size size);
  int close_once() noexcept;

  int creator_ = 0;  // the process that has to remove the name
};

}  // namespace loup
