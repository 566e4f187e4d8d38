#pragma once

#include <array>
#include <cstddef>

#include "loup/memory/pool.h"

namespace loup::memory {

/// Temporary bytes: on the stack when few, from the pool otherwise.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : bytes_(bytes), data_(bytes <= inline_.size() ? inline_.data() : allocate(bytes)) {}
  ~Scratch() {
    if (bytes_ > inline_.size()) release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  alignas(64) std::array<std::byte, 1024> inline_;
  std::size_t bytes_;
  void* data_;
};

}  // namespace loup::memory
