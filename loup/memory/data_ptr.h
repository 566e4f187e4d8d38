#pragma once

#include <cstddef>
#include <memory>

#include "loup/export.h"

namespace loup {

struct Mapping;

/// Whoever keeps bytes alive that the library did not allocate itself: a DLPack capsule, an object
/// of another language, a mapping. Destroyed when the last user of the bytes is gone.
class LOUP_EXPORT MemoryContext {
 public:
  MemoryContext() = default;
  MemoryContext(const MemoryContext&) = delete;
  MemoryContext& operator=(const MemoryContext&) = delete;
  virtual ~MemoryContext() = default;

  /// What the bytes are mapped from; null when they are ordinary memory.
  virtual const Mapping* mapping() const noexcept { return nullptr; }
};

/// Bytes and whoever keeps them alive.
struct DataPtr {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<MemoryContext> owner;
  bool is_writable = true;
};

}  // namespace loup
