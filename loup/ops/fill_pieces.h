#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// What one thread does in one go, and what is converted at once: it stays in the first-level
/// cache.
inline constexpr std::int64_t fill_task_elements = 32 * 1024;
inline constexpr std::int64_t fill_piece_elements = 1024;

/// Writes the elements of a contiguous tensor: `make(first, to, count)` writes those from `first`
/// on as numbers of type T; other dtypes are converted from them piece by piece. Uses threads.
/// `cost` is the time an element takes in units of the time it takes to store it.
template <class T, class Make>
void fill_pieces(const Tensor& x, std::int64_t cost, Make make) {
  const std::int64_t count = x.size();
  const std::int64_t bytes = item_bytes(x.dtype());
  const bool is_direct =
      x.dtype() == dtype_of<T>() || (x.dtype() == DType::boolean && dtype_of<T>() == DType::u8);
  parallel_for(ceil_div(count, fill_task_elements), cost * x.bytes(), [&](std::int64_t task) {
    const std::int64_t begin = task * fill_task_elements;
    const std::int64_t end = std::min(count, begin + fill_task_elements);
    if (is_direct) {
      make(begin, reinterpret_cast<T*>(x.raw_data()) + begin, end - begin);
      return;
    }
    T buffer[fill_piece_elements];
    for (std::int64_t i = begin; i < end; i += fill_piece_elements) {
      const std::int64_t n = std::min(fill_piece_elements, end - i);
      make(i, static_cast<T*>(buffer), n);
      kernels::copy_plane({x.raw_data() + i * bytes, x.dtype(), n, 1},
                          {reinterpret_cast<const std::byte*>(buffer), dtype_of<T>(), n, 1}, 1, n);
    }
  });
}

}  // namespace loup::ops
