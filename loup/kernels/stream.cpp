#include "loup/kernels/stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

namespace loup::kernels {

// The least vectors will do: processors gather them to whole lines of the cache.
void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<std::uint8_t, 16> d;
  constexpr std::size_t vector = 16;
  constexpr std::size_t line = 64;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % line;
  const std::size_t head = std::min((line - past) % line, bytes);
  std::memcpy(to, from, head);
  std::size_t i = head;
  for (; i + line <= bytes; i += line) {
    for (std::size_t k = 0; k < line; k += vector) {
      hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i + k)), d,
                 reinterpret_cast<std::uint8_t*>(to + i + k));
    }
  }
  std::memcpy(to + i, from + i, bytes - i);
}

void end_stream() { hwy::FlushStream(); }

}  // namespace loup::kernels
