#pragma once

#include <cstddef>

#include "loup/memory/pool.h"

namespace loup::memory {

/// Temporary bytes from the pool, aligned to 64.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : bytes_(bytes), data_(bytes > 0 ? allocate(bytes) : nullptr) {}
  ~Scratch() {
    if (bytes_ > 0) release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

}  // namespace loup::memory
