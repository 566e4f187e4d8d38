#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "loup/base/array.h"
#include "loup/base/axes.h"
#include "loup/base/parallel.h"

// Loops over n-dimensional arrays, cut into planes for several threads.

namespace loup::kernels {

/// What one task of a loop does: so many elements, some 100 KB.
inline constexpr std::int64_t task_elements = 32 * 1024;
/// Columns of a task in which some operand's rows lie closer together than its columns.
inline constexpr std::int64_t turned_columns = 256;

/// The loops over K arrays of one shape, in the order of its dims.
template <std::size_t K>
Axes<K> axes_of(const Shape& shape, const std::array<const Array*, K>& arrays) {
  Axes<K> axes;
  for (int i = 0; i < shape.size(); ++i) {
    Axis<K> axis{shape[i], {}};
    for (std::size_t k = 0; k < K; ++k) axis.step[k] = arrays[k]->strides[i];
    axes.push(axis);
  }
  return axes;
}

/// Whether operand k has its rows closer together than its columns.
template <std::size_t K>
bool is_turned(const Axis<K>& rows, const Axis<K>& cols, std::size_t k) {
  return rows.step[k] != 0 && std::abs(rows.step[k]) < std::abs(cols.step[k]);
}

/// Removes the loop that is best made the rows of planes with columns `cols`: that in which the
/// elements of an operand are closest together if its columns are not, else the innermost.
template <std::size_t K>
Axis<K> take_rows(Axes<K>& axes, const Axis<K>& cols) {
  for (std::size_t k = 1; k < K; ++k) {
    int closest = -1;
    for (int i = 0; i < axes.size(); ++i) {
      if (is_turned(axes[i], closest < 0 ? cols : axes[closest], k)) closest = i;
    }
    if (closest >= 0) return axes.take(closest);
  }
  return axes.pop();
}

/// Cuts an n-dimensional loop over K arrays into planes of at most `task_elements` and calls
/// `body(pointers, row axis, column axis)` for each, on several threads.
template <std::size_t K, class Body>
void for_each_plane(const Shape& shape, const std::array<const Array*, K>& arrays, Body&& body) {
  const std::int64_t count = element_count(shape);
  if (count == 0) return;
  Axes<K> outer = axes_of(shape, arrays);
  outer.sort_by_step(0);  // the innermost of the first array last
  outer.merge();
  const Axis<K> cols = outer.pop();
  const Axis<K> rows = take_rows(outer, cols);
  bool is_any_turned = false;
  for (std::size_t k = 1; k < K; ++k) is_any_turned |= is_turned(rows, cols, k);
  // Parts of planes that are turned begin where lines of the cache do, in both directions.
  const auto whole_lines = [&](std::int64_t n) {
    return is_any_turned && n > 64 ? n / 64 * 64 : n;
  };
  const std::int64_t wanted =
      is_any_turned ? std::max(turned_columns, task_elements / rows.size) : task_elements;
  const std::int64_t col_part = std::min(cols.size, whole_lines(wanted));
  const std::int64_t row_part = std::min(rows.size, whole_lines(task_elements / col_part));
  const std::int64_t col_parts = (cols.size + col_part - 1) / col_part;
  const std::int64_t row_parts = (rows.size + row_part - 1) / row_part;
  const std::int64_t plane_parts = row_parts * col_parts;
  // Small planes are done several at a time.
  const std::int64_t planes = outer.iterations();
  const std::int64_t group =
      plane_parts > 1 ? 1 : std::min(planes, task_elements / (col_part * row_part));
  const std::int64_t bytes = count * item_bytes(arrays[0]->dtype) * static_cast<std::int64_t>(K);
  parallel_for((planes + group - 1) / group * plane_parts, bytes, [&](std::int64_t task) {
    const std::int64_t c = task % col_parts * col_part;
    const std::int64_t r = task / col_parts % row_parts * row_part;
    const std::int64_t first = task / plane_parts * group;
    for (std::int64_t plane = first; plane < std::min(planes, first + group); ++plane) {
      Offsets<K> offsets{};
      outer.advance(plane, offsets);
      std::array<std::byte*, K> pointers{};
      for (std::size_t k = 0; k < K; ++k) {
        const std::int64_t at = offsets[k] + r * rows.step[k] + c * cols.step[k];
        pointers[k] = arrays[k]->data + at * item_bytes(arrays[k]->dtype);
      }
      body(pointers, Axis<K>{std::min(row_part, rows.size - r), rows.step},
           Axis<K>{std::min(col_part, cols.size - c), cols.step});
    }
  });
}

/// Calls `body(pointers, column axis)` for each row of each plane.
template <std::size_t K, class Body>
void for_each_row(const Shape& shape, const std::array<const Array*, K>& arrays, Body&& body) {
  for_each_plane<K>(shape, arrays,
                    [&](std::array<std::byte*, K> at, const Axis<K>& rows, const Axis<K>& cols) {
                      for (std::int64_t r = 0; r < rows.size; ++r) {
                        body(at, cols);
                        for (std::size_t k = 0; k < K; ++k) {
                          at[k] += rows.step[k] * item_bytes(arrays[k]->dtype);
                        }
                      }
                    });
}

}  // namespace loup::kernels
