#include "loup/kernels/index.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/index_moves.h"

namespace loup::kernels {

namespace {

/// A task of a gather: this many elements, some 100 KB.
constexpr std::int64_t task_elements = 32 * 1024;
/// So many indices are turned into offsets before the elements are moved: they stay in the
/// first-level cache, and dtypes of indices and of elements do not multiply.
constexpr std::int64_t batch = 512;

/// How offsets come about: those of the first dim are set, those of others are added.
enum class Offset : std::uint8_t { set, add };

/// Writes what `count` indices reach; false when one is out of range.
template <Offset how, class I, class IndexStep, class DimStep>
bool write_offsets(std::int64_t size, const I* indices, IndexStep index_step, DimStep dim_step,
                   std::int64_t count, std::int64_t* offsets) {
  // Unsigned, because an index that is out of range may be anything. The highest bit tells that a
  // place was below 0 or not below the size: no branch, and no comparison.
  const auto limit = static_cast<std::uint64_t>(size);
  std::uint64_t outside = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::int64_t>(indices[i * index_step]);
    const std::uint64_t place = static_cast<std::uint64_t>(index) + (index < 0 ? limit : 0);
    outside |= place | (limit - 1 - place);
    const std::uint64_t offset = place * static_cast<std::uint64_t>(std::int64_t{dim_step});
    const auto before = how == Offset::set ? 0 : static_cast<std::uint64_t>(offsets[i]);
    offsets[i] = static_cast<std::int64_t>(before + offset);
  }
  return outside >> 63U == 0;
}

template <Offset how>
bool write_offsets(const IndexedDim& dim, const std::byte* at, std::int64_t step,
                   std::int64_t count, std::int64_t* offsets) {
  using One = std::integral_constant<std::int64_t, 1>;
  return visit_index_type(dim.indices.dtype, [&]<class I>(std::type_identity<I>) {
    const I* const indices = reinterpret_cast<const I*>(at);
    if (step == 1 && dim.step == 1) {
      return write_offsets<how>(dim.size, indices, One(), One(), count, offsets);
    }
    if (step == 1) {
      return write_offsets<how>(dim.size, indices, One(), dim.step, count, offsets);
    }
    return write_offsets<how>(dim.size, indices, step, dim.step, count, offsets);
  });
}

/// The operands of a loop with up to N arrays of indices: dense, indexed, then the indices.
template <std::size_t N>
struct Nest {
  static constexpr std::size_t operand_count = N + 2;
  Axes<operand_count> axes;
  std::array<std::byte*, operand_count> data{};
  std::array<std::int64_t, operand_count> bytes{};  // of an element
  std::span<const IndexedDim> dims;

  Nest(const Shape& shape, const Array& dense, const Indexed& indexed) : dims(indexed.dims) {
    std::array<const Array*, operand_count> arrays;
    arrays.fill(nullptr);
    arrays[0] = &dense;
    arrays[1] = &indexed.array;
    for (std::size_t k = 0; k < dims.size(); ++k) arrays[k + 2] = &dims[k].indices;
    for (std::size_t k = 0; k < operand_count; ++k) {
      if (arrays[k] == nullptr) continue;
      data[k] = arrays[k]->data;
      bytes[k] = item_bytes(arrays[k]->dtype);
    }
    for (int i = 0; i < shape.size(); ++i) {
      Axis<operand_count> axis{shape[i], {}};
      for (std::size_t k = 0; k < operand_count; ++k) {
        if (arrays[k] != nullptr) axis.step[k] = arrays[k]->strides[i];
      }
      axes.push(axis);
    }
  }

  std::array<std::byte*, operand_count> pointers(const Offsets<operand_count>& offsets) const {
    std::array<std::byte*, operand_count> result{};
    for (std::size_t k = 0; k < operand_count; ++k) result[k] = data[k] + offsets[k] * bytes[k];
    return result;
  }
};

/// Which of the indexed elements are meant, by the offsets that the indices give.
struct Range {
  std::int64_t begin, end;
};

/// Moves `count` rows, whose indices stand along `axis`, of the elements along `cols`.
template <std::size_t N>
bool move_batches(const Nest<N>& nest, const std::array<std::byte*, N + 2>& at,
                  const Axis<N + 2>& axis, const Axis<N + 2>& cols, Move move, const Range* range) {
  std::array<std::int64_t, batch> offsets;
  std::array<std::int64_t, batch> positions;
  for (std::int64_t start = 0; start < axis.size; start += batch) {
    std::int64_t count = std::min(batch, axis.size - start);
    if (nest.dims.empty()) std::fill_n(offsets.begin(), count, 0);
    bool is_inside = true;
    for (std::size_t k = 0; k < nest.dims.size(); ++k) {
      const std::int64_t step = axis.step[k + 2];
      const std::byte* const indices = at[k + 2] + start * step * nest.bytes[k + 2];
      const auto write = k == 0 ? write_offsets<Offset::set> : write_offsets<Offset::add>;
      is_inside &= write(nest.dims[k], indices, step, count, offsets.data());
    }
    if (!is_inside) return false;
    const std::int64_t indexed_step = axis.step[1];
    if (range != nullptr) {
      std::int64_t kept = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t offset = offsets[static_cast<std::size_t>(i)];
        offsets[static_cast<std::size_t>(kept)] = offset + i * indexed_step;
        positions[static_cast<std::size_t>(kept)] = i;
        kept += offset >= range->begin && offset < range->end ? 1 : 0;
      }
      count = kept;
    } else if (indexed_step != 0) {
      for (std::int64_t i = 0; i < count; ++i) {
        offsets[static_cast<std::size_t>(i)] += i * indexed_step;
      }
    }
    move({.dense = at[0] + start * axis.step[0] * nest.bytes[0],
          .indexed = at[1] + start * indexed_step * nest.bytes[1],
          .dense_row = axis.step[0],
          .offsets = offsets.data(),
          .positions = range != nullptr ? positions.data() : nullptr,
          .count = count,
          .cols = cols.size,
          .dense_col = cols.step[0],
          .indexed_col = cols.step[1]});
  }
  return true;
}

template <std::size_t operand_count>
bool is_indexed(const Axis<operand_count>& axis) {
  for (std::size_t k = 2; k < operand_count; ++k) {
    if (axis.step[k] != 0) return true;
  }
  return false;
}

/// Moves a matrix. The indices stand along the columns, or once for each row.
template <std::size_t N>
bool move_plane(const Nest<N>& nest, std::array<std::byte*, N + 2> at, const Axis<N + 2>& rows,
                const Axis<N + 2>& cols, Move move, const Range* range) {
  if (!is_indexed(cols)) return move_batches(nest, at, rows, cols, move, range);
  const Axis<N + 2> single{1, {}};
  for (std::int64_t r = 0; r < rows.size; ++r) {
    if (!move_batches(nest, at, cols, single, move, range)) return false;
    for (std::size_t k = 0; k < N + 2; ++k) at[k] += rows.step[k] * nest.bytes[k];
  }
  return true;
}

template <std::size_t N>
bool gather_all(const Shape& shape, const Array& to, const Indexed& from) {
  constexpr std::size_t operand_count = N + 2;
  Nest<N> nest(shape, to, from);
  nest.axes.sort_by_step(0);
  nest.axes.merge();
  const std::int64_t count = nest.axes.iterations();
  Axes<operand_count> outer = nest.axes;
  const Axis<operand_count> cols = outer.pop();
  const Axis<operand_count> rows = outer.pop();
  const std::int64_t col_part = std::min(cols.size, task_elements);
  const std::int64_t row_part = std::min(rows.size, task_elements / col_part);
  const std::int64_t col_parts = (cols.size + col_part - 1) / col_part;
  const std::int64_t row_parts = (rows.size + row_part - 1) / row_part;
  const Move move = find_read(to.dtype);
  std::atomic<bool> is_inside = true;
  const std::int64_t bytes = count * (2 * item_bytes(to.dtype) + 8);
  parallel_for(outer.iterations() * row_parts * col_parts, bytes, [&](std::int64_t task) {
    const std::int64_t c = task % col_parts * col_part;
    const std::int64_t r = task / col_parts % row_parts * row_part;
    Offsets<operand_count> offsets{};
    outer.advance(task / (col_parts * row_parts), offsets);
    for (std::size_t k = 0; k < operand_count; ++k)
      offsets[k] += r * rows.step[k] + c * cols.step[k];
    const Axis<operand_count> part_rows{std::min(row_part, rows.size - r), rows.step};
    const Axis<operand_count> part_cols{std::min(col_part, cols.size - c), cols.step};
    if (!move_plane(nest, nest.pointers(offsets), part_rows, part_cols, move, nullptr)) {
      is_inside.store(false, std::memory_order_relaxed);
    }
  });
  return is_inside;
}

/// How a scatter is shared among threads, so that no two write to one place and what goes to one
/// place is written in order: by a dim along which the indexed array moves by itself (all of what
/// meets at one place has one position there), or by ranges of what the indices reach, where each
/// task reads all indices and skips those of the others. Results do not depend on the choice.
template <std::size_t N>
struct Split {
  int axis = -1;  // the one that is cut; -1: by ranges
  std::int64_t parts = 1;

  Split(const Nest<N>& nest, std::int64_t bytes) {
    const std::int64_t threads = bytes > waking_bytes ? num_threads() : 1;
    if (threads == 1) return;
    parts = threads;
    for (int i = 0; i < nest.axes.size(); ++i) {
      const auto& candidate = nest.axes[i];
      // A row that is contiguous is worth keeping whole.
      const std::int64_t least = i + 1 < nest.axes.size() ? 1 : batch;
      if (candidate.step[1] != 0 && candidate.size >= threads * least) {
        axis = i;
        return;
      }
    }
  }
};

/// The offsets that the indices may give.
Range reach(std::span<const IndexedDim> dims) {
  Range result{0, 1};
  for (const IndexedDim& dim : dims) {
    const std::int64_t last = (dim.size - 1) * dim.step;
    (last < 0 ? result.begin : result.end) += last;
  }
  return result;
}

template <std::size_t N>
bool scatter_all(const Shape& shape, const Indexed& to, const Array& from, Move move) {
  constexpr std::size_t operand_count = N + 2;
  Nest<N> nest(shape, from, to);
  nest.axes.merge();
  const std::int64_t bytes = nest.axes.iterations() * (2 * item_bytes(from.dtype) + 8);
  const Split<N> split(nest, bytes);
  const Range all = reach(to.dims);
  std::atomic<bool> is_inside = true;
  parallel_for(split.parts, [&](std::int64_t part) {
    const auto edge = [&](std::int64_t size, std::int64_t i) {
      return size / split.parts * i + std::min(i, size % split.parts);
    };
    Axes<operand_count> outer;
    Offsets<operand_count> first{};
    for (int i = 0; i < nest.axes.size(); ++i) {
      Axis<operand_count> axis = nest.axes[i];
      if (i == split.axis) {
        const std::int64_t begin = edge(axis.size, part);
        axis.size = edge(axis.size, part + 1) - begin;
        for (std::size_t k = 0; k < operand_count; ++k) first[k] += begin * axis.step[k];
      }
      outer.push(axis);
    }
    const Range own{all.begin + edge(all.end - all.begin, part),
                    all.begin + edge(all.end - all.begin, part + 1)};
    const Range* const range = split.axis < 0 && split.parts > 1 ? &own : nullptr;
    const Axis<operand_count> cols = outer.pop();
    const Axis<operand_count> rows = outer.pop();
    for (std::int64_t i = 0; i < outer.iterations(); ++i) {
      Offsets<operand_count> offsets = first;
      outer.advance(i, offsets);
      if (!move_plane(nest, nest.pointers(offsets), rows, cols, move, range)) {
        is_inside.store(false, std::memory_order_relaxed);
        return;
      }
      check_interrupt();
    }
  });
  return is_inside;
}

bool scatter_with(const Shape& shape, const Indexed& to, const Array& from, Move move) {
  if (element_count(shape) == 0) return true;
  switch (to.dims.size()) {
    case 1: return scatter_all<1>(shape, to, from, move);
    case 2: return scatter_all<2>(shape, to, from, move);
    default: return scatter_all<max_ndim>(shape, to, from, move);
  }
}

}  // namespace

bool gather(const Shape& shape, const Array& to, const Indexed& from) {
  if (element_count(shape) == 0) return true;
  switch (from.dims.size()) {
    case 1: return gather_all<1>(shape, to, from);
    case 2: return gather_all<2>(shape, to, from);
    default: return gather_all<max_ndim>(shape, to, from);
  }
}

bool scatter(const Shape& shape, const Indexed& to, const Array& from) {
  return scatter_with(shape, to, from, find_write(from.dtype));
}

bool scatter_add(const Shape& shape, const Indexed& to, const Array& from) {
  return scatter_with(shape, to, from, find_add(from.dtype));
}

}  // namespace loup::kernels
