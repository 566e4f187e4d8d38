#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace loup::test {

/// A copy of elements whose last byte is followed by a page that cannot be read, and whose first
/// page is preceded by one: any access beyond the elements' page ends the test.
template <class T>
class Guarded {
 public:
  explicit Guarded(const std::vector<T>& values) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = values.size() * sizeof(T);
    const std::size_t inside = (bytes + page - 1) / page * page;
    mapped_ = inside + 2 * page;
    base_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    auto* const first = static_cast<std::byte*>(base_) + page;
    if (inside > 0 && mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = reinterpret_cast<T*>(first + inside - bytes);
    if (bytes > 0) std::memcpy(data_, values.data(), bytes);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, mapped_); }

  T* data() const { return data_; }

 private:
  void* base_;
  std::size_t mapped_;
  T* data_;
};

}  // namespace loup::test
