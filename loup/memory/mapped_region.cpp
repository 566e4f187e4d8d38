#include "loup/memory/mapped_region.h"

#include <cerrno>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loup/memory/sigbus_shield.h"
#include "loup/memory/system.h"

// Older headers do not have them.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace loup::memory {

namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Huge pages for shared memory are a setting of the system, which madvise does not look at.
bool has_shared_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string text;
  std::getline(file, text);
  return text.find("[always]") != std::string::npos ||
         text.find("[within_size]") != std::string::npos ||
         text.find("[advise]") != std::string::npos || text.find("[force]") != std::string::npos;
}

/// Whether a byte can be read, asked of the system: touching it could end the process.
bool is_readable(const std::byte* byte) {
  char to = 0;
  const iovec local{&to, 1};
  const iovec remote{const_cast<std::byte*>(byte), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 || errno != EFAULT;
}

}  // namespace

MappedRegion::MappedRegion(const MapError::Context& context, int fd, std::size_t bytes,
                           bool is_writable, bool is_shared) {
  if (bytes == 0) return;
  const int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const data =
      sys::map(fd, bytes, protection, is_shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE);
  if (data == nullptr) throw_map_error(context, "mmap", errno);
  data_ = static_cast<std::byte*>(data);
  bytes_ = bytes;
  try {
    range_ = shield(data_, bytes, is_writable);
  } catch (...) {
    unmap();
    throw;
  }
}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  if (this != &other) {
    unmap();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    range_ = std::exchange(other.range_, nullptr);
  }
  return *this;
}

bool MappedRegion::extend(std::size_t bytes) noexcept {
  if (data_ == nullptr || sys::remap_in_place(data_, bytes_, bytes) != 0) return false;
  bytes_ = bytes;
  range_->bytes = bytes;
  return true;
}

int MappedRegion::unmap() noexcept {
  if (data_ == nullptr) return 0;
  if (range_ != nullptr) unshield(std::exchange(range_, nullptr));
  const int result = sys::unmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
  return result == 0 ? 0 : errno;
}

bool MappedRegion::is_backed() const noexcept {
  if (data_ == nullptr) return true;
  if (range_->is_poisoned) return false;
  std::byte* const last = data_ + (bytes_ - 1) / page_bytes() * page_bytes();
  if (sys::advise(last, page_bytes(), MADV_POPULATE_READ) == 0) return true;
  if (errno == EINVAL) return is_readable(last);
  return errno != EFAULT;
}

int MappedRegion::sync(std::size_t offset, std::size_t bytes, bool async) const noexcept {
  if (data_ == nullptr || bytes == 0) return 0;
  const std::size_t first = offset / page_bytes() * page_bytes();
  const int flags = async ? MS_ASYNC : MS_SYNC;
  return sys::sync(data_ + first, offset + bytes - first, flags) == 0 ? 0 : errno;
}

AdviceResult MappedRegion::advise(Advice advice, std::size_t offset,
                                  std::size_t bytes) const noexcept {
  if (data_ == nullptr || bytes == 0) return AdviceResult::effective;
  const bool is_writable = range_->is_writable;
  int number = 0;
  switch (advice) {
    case Advice::sequential: number = MADV_SEQUENTIAL; break;
    case Advice::random: number = MADV_RANDOM; break;
    case Advice::willneed: number = MADV_WILLNEED; break;
    case Advice::dontneed: number = MADV_DONTNEED; break;
    case Advice::hugepage: number = MADV_HUGEPAGE; break;
    case Advice::populate: number = is_writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ; break;
  }
  const std::size_t first = offset / page_bytes() * page_bytes();
  if (sys::advise(data_ + first, offset + bytes - first, number) != 0) {
    // A page that cannot be had is a bus error, which populate reports as a bad address.
    const bool is_full = advice == Advice::populate && (errno == EFAULT || errno == ENOMEM);
    return is_full ? AdviceResult::no_space : AdviceResult::unsupported;
  }
  if (advice != Advice::hugepage) return AdviceResult::effective;
  try {
    return has_shared_huge_pages() ? AdviceResult::effective : AdviceResult::accepted;
  } catch (...) {
    return AdviceResult::accepted;
  }
}

}  // namespace loup::memory
