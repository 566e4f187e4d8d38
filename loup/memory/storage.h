#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "loup/export.h"
#include "loup/memory/data_ptr.h"
#include "loup/memory/map_flags.h"

namespace loup {

/// Shared handle to bytes: copies refer to the same ones, the last frees them.
///
/// Handles may be copied and destroyed from any thread; the bytes themselves are not guarded.
class LOUP_EXPORT Storage {
 public:
  Storage() = default;
  /// Uninitialised bytes from the pool, aligned to 64. Throws std::bad_alloc.
  static Storage allocate(std::size_t bytes);
  /// Bytes that somebody else made; kept alive through `data.owner`.
  static Storage adopt(DataPtr data);
  /// Bytes of a file or of shared memory, see MapAllocator.
  static Storage map(const std::string& path, MapFlags flags = MapFlags::none, Size bytes = {});

  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() {
    // A sole owner needs no atomic write to know that it is the last.
    if (block_ != nullptr && (block_->references.load(std::memory_order_acquire) == 1 ||
                              block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
      destroy(block_);
    }
  }

  std::byte* data() const { return block_ != nullptr ? block_->data : nullptr; }
  std::size_t bytes() const { return block_ != nullptr ? block_->bytes : 0; }
  bool is_writable() const { return block_ == nullptr || block_->is_writable; }
  /// What the bytes are mapped from; null when they are ordinary memory. Lives as long as a handle.
  const Mapping* mapping() const {
    return block_ != nullptr && block_->owner ? block_->owner->mapping() : nullptr;
  }
  /// True when other processes may see changes of the bytes.
  bool is_shared() const {
    const Mapping* const source = mapping();
    return source != nullptr && source->is_shared;
  }
  /// Whoever keeps adopted bytes alive; null when they are the pool's.
  std::shared_ptr<MemoryContext> owner() const {
    return block_ != nullptr ? block_->owner : nullptr;
  }

  /// Counts the writes; recorded gradients use it to notice that their inputs changed.
  std::uint64_t version() const {
    return block_ != nullptr ? block_->version.load(std::memory_order_relaxed) : 0;
  }
  void bump_version() const {
    if (block_ != nullptr) block_->version.fetch_add(1, std::memory_order_relaxed);
  }

  /// How many handles there are: for tests of lifetimes.
  std::uint32_t use_count() const {
    return block_ != nullptr ? block_->references.load(std::memory_order_acquire) : 0;
  }
  friend bool operator==(const Storage& a, const Storage& b) { return a.block_ == b.block_; }

 private:
  // Small data follow their block in the same allocation: one trip to the pool instead of two.
  struct Block {
    std::atomic<std::uint32_t> references{1};
    bool is_writable = true;
    bool owns_data = true;
    std::atomic<std::uint64_t> version{0};
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<MemoryContext> owner;
  };
  explicit Storage(Block* block) : block_(block) {}
  static void destroy(Block* block) noexcept;

  Block* block_ = nullptr;
};

}  // namespace loup
