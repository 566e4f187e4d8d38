#include <algorithm>
#include <atomic>

#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/index.h"
#include "loup/kernels/index_moves.h"

namespace loup::kernels {

namespace {

/// A task: this many indices.
constexpr std::int64_t task_elements = 32 * 1024;

/// Where the first index outside of [-size, size) stands; `count` when there is none.
template <class I>
std::int64_t first_outside(const I* indices, std::int64_t step, std::int64_t count,
                           std::int64_t size) {
  const auto is_outside = [size](I value) {
    const auto index = static_cast<std::int64_t>(value);
    return index < -size || index >= size;
  };
  bool any = false;
  for (std::int64_t i = 0; i < count; ++i) any |= is_outside(indices[i * step]);
  std::int64_t at = any ? 0 : count;
  while (at < count && !is_outside(indices[at * step])) ++at;
  return at;
}

/// The loop over the indices of one dim, without the axes along which they repeat.
Axes<1> axes_of_indices(const Shape& shape, const Array& indices) {
  Axes<1> axes;
  for (int i = 0; i < shape.size(); ++i) {
    if (indices.strides[i] != 0) axes.push({shape[i], {indices.strides[i]}});
  }
  axes.merge();
  return axes;
}

std::optional<std::int64_t> find_outside(const Shape& shape, const IndexedDim& dim) {
  return visit_index_type(
      dim.indices.dtype, [&]<class I>(std::type_identity<I>) -> std::optional<std::int64_t> {
        Axes<1> outer = axes_of_indices(shape, dim.indices);
        const std::int64_t bytes = outer.iterations() * item_bytes(dim.indices.dtype);
        const Axis<1> row = outer.pop();
        const std::int64_t part = std::min(row.size, task_elements);
        const std::int64_t parts = (row.size + part - 1) / part;
        const auto look = [&](std::int64_t task) -> const I* {
          Offsets<1> at{task % parts * part * row.step[0]};
          outer.advance(task / parts, at);
          const I* const start = reinterpret_cast<const I*>(dim.indices.data) + at[0];
          const std::int64_t count = std::min(part, row.size - task % parts * part);
          const std::int64_t found = first_outside(start, row.step[0], count, dim.size);
          return found < count ? start + found * row.step[0] : nullptr;
        };
        const std::int64_t tasks = outer.iterations() * parts;
        std::atomic<bool> is_outside = false;
        parallel_for(tasks, bytes, [&](std::int64_t task) {
          if (look(task) != nullptr) is_outside.store(true, std::memory_order_relaxed);
        });
        for (std::int64_t task = 0; is_outside && task < tasks; ++task) {
          if (const I* const found = look(task)) return static_cast<std::int64_t>(*found);
        }
        return std::nullopt;
      });
}

}  // namespace

std::optional<OutOfRange> find_out_of_range(const Shape& shape, std::span<const IndexedDim> dims) {
  if (element_count(shape) == 0) return std::nullopt;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (const auto index = find_outside(shape, dims[k]))
      return OutOfRange{static_cast<int>(k), *index};
  }
  return std::nullopt;
}

}  // namespace loup::kernels
