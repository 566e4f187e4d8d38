#include "loup/memory/storage.h"

#include <new>

#include "loup/memory/map_allocator.h"
#include "loup/memory/pool.h"

namespace loup {

namespace {

constexpr std::size_t header_bytes = 64;
/// Larger data get an allocation of their own, so that they are aligned as the pool aligns them.
constexpr std::size_t largest_inline = 32 * 1024;

}  // namespace

Storage Storage::allocate(std::size_t bytes) {
  static_assert(sizeof(Block) <= header_bytes);
  if (bytes <= largest_inline) {
    auto* memory = static_cast<std::byte*>(memory::allocate(header_bytes + bytes));
    auto* block = new (memory) Block;
    block->data = memory + header_bytes;
    block->bytes = bytes;
    return Storage(block);
  }
  void* data = memory::allocate(bytes);
  try {
    auto* block = new (memory::allocate(header_bytes)) Block;
    block->data = static_cast<std::byte*>(data);
    block->bytes = bytes;
    return Storage(block);
  } catch (...) {
    memory::release(data, bytes);
    throw;
  }
}

Storage Storage::adopt(DataPtr data) {
  auto* block = new (memory::allocate(header_bytes)) Block;
  block->data = static_cast<std::byte*>(data.data);
  block->bytes = data.bytes;
  block->is_writable = data.is_writable;
  block->owns_data = false;
  block->owner = std::move(data.owner);
  return Storage(block);
}

Storage Storage::map(const std::string& path, MapFlags flags, Size bytes) {
  return adopt(MapAllocator::makeDataPtr(path, flags, bytes));
}

void Storage::destroy(Block* block) noexcept {
  std::byte* const data = block->data;
  const std::size_t bytes = block->bytes;
  const bool is_inline = data == reinterpret_cast<std::byte*>(block) + header_bytes;
  const bool owns_data = block->owns_data;
  block->~Block();
  if (!is_inline && owns_data) memory::release(data, bytes);
  memory::release(block, is_inline ? header_bytes + bytes : header_bytes);
}

}  // namespace loup
