#include "loup/kernels/triangle.h"

#include <algorithm>
#include <cstring>

#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"

namespace loup::kernels {

namespace {

constexpr std::int64_t task_elements = 32 * 1024;

}  // namespace

void triangle(const Shape& shape, const Array& to, const Array& from, Triangle kind,
              std::int64_t diagonal) {
  const std::int64_t count = element_count(shape);
  if (count == 0) return;
  const int ndim = shape.size();
  const std::int64_t cols = shape[ndim - 1];
  const std::int64_t bytes = item_bytes(to.dtype);
  Axes<1> rows;
  for (int i = 0; i + 1 < ndim; ++i) rows.push({shape[i], {from.strides[i]}});
  const std::int64_t all_rows = count / cols;
  const std::int64_t part = std::clamp<std::int64_t>(task_elements / cols, 1, all_rows);
  const std::int64_t shift = std::clamp(diagonal, -shape[ndim - 2], cols);
  parallel_for((all_rows + part - 1) / part, 2 * count * bytes, [&](std::int64_t task) {
    const std::int64_t end = std::min(all_rows, (task + 1) * part);
    for (std::int64_t row = task * part; row < end; ++row) {
      Offsets<1> at{};
      rows.advance(row, at);
      // The lower triangle keeps columns [0, edge), the upper one [edge, cols).
      const std::int64_t above = kind == Triangle::lower ? 1 : 0;
      const std::int64_t edge =
          std::clamp<std::int64_t>(row % shape[ndim - 2] + shift + above, 0, cols);
      const std::int64_t first = kind == Triangle::lower ? 0 : edge;
      const std::int64_t kept = kind == Triangle::lower ? edge : cols - edge;
      std::byte* const line = to.data + row * cols * bytes;
      const std::byte* const source = from.data + (at[0] + first * from.strides[ndim - 1]) * bytes;
      std::memset(line, 0, static_cast<std::size_t>(first * bytes));
      copy_plane({line + first * bytes, to.dtype, kept, 1},
                 {source, from.dtype, kept, from.strides[ndim - 1]}, 1, kept);
      std::memset(line + (first + kept) * bytes, 0,
                  static_cast<std::size_t>((cols - first - kept) * bytes));
    }
  });
}

}  // namespace loup::kernels
