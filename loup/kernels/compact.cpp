#include "loup/kernels/compact.h"

#include <algorithm>
#include <array>

#include "loup/kernels/compact_rows.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/planes.h"

namespace loup::kernels {

namespace {

/// A task: this many elements of the loop.
constexpr std::int64_t part_elements = 16 * 1024;
/// Strided rows are copied so many elements at a time, in the first-level cache.
constexpr std::int64_t piece = 1024;

std::int64_t part_count(const Shape& shape) {
  return (element_count(shape) + part_elements - 1) / part_elements;
}

/// Calls `visit(position, pointers, count)` for pieces of a part in order: `count` elements of each
/// array, `step[k]` apart, from `position` of the loop on.
template <std::size_t K, class Visit>
void for_each_piece(const Axes<K>& axes, const std::array<const Array*, K>& arrays,
                    std::int64_t part, Visit&& visit) {
  Axes<K> outer = axes;
  const Axis<K> row = outer.pop();
  const std::int64_t end = std::min(axes.iterations(), (part + 1) * part_elements);
  for (std::int64_t at = part * part_elements; at < end;) {
    const std::int64_t col = at % row.size;
    const std::int64_t count = std::min({piece, row.size - col, end - at});
    Offsets<K> offsets{};
    outer.advance(at / row.size, offsets);
    std::array<std::byte*, K> pointers{};
    for (std::size_t k = 0; k < K; ++k) {
      pointers[k] =
          arrays[k]->data + (offsets[k] + col * row.step[k]) * item_bytes(arrays[k]->dtype);
    }
    visit(at, pointers, row.step, count);
    at += count;
  }
}

/// Elements side by side, copied if need be.
class Packed {
 public:
  const std::byte* operator()(DType dtype, const std::byte* from, std::int64_t step,
                              std::int64_t count) {
    if (step == 1) return from;
    copy_plane({buffer_.data(), dtype, count, 1}, {from, dtype, count, step}, 1, count);
    return buffer_.data();
  }

 private:
  alignas(64) std::array<std::byte, piece * 8> buffer_;
};

const std::uint8_t* bytes_of(const std::byte* mask) {
  return reinterpret_cast<const std::uint8_t*>(mask);
}

template <class T>
std::int64_t place_row(T* to, std::int64_t step, const std::uint8_t* mask, std::int64_t count,
                       const T* from, std::int64_t room) {
  std::int64_t read = 0;
  for (std::int64_t i = 0; i < count && read < room; ++i) {
    const T next = from[read];
    T& target = to[i * step];
    target = mask[i] != 0 ? next : target;
    read += mask[i] != 0 ? 1 : 0;
  }
  return read;
}

template <class F>
auto with_size(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    default: return f(std::uint64_t{});
  }
}

}  // namespace

std::vector<std::int64_t> count_true(const Shape& shape, const Array& mask) {
  const std::int64_t parts = part_count(shape);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(parts) + 1, 0);
  Axes<1> axes = axes_of<1>(shape, {&mask});
  axes.merge();
  parallel_for(parts, element_count(shape), [&](std::int64_t part) {
    Packed packed;
    std::int64_t total = 0;
    for_each_piece<1>(axes, {&mask}, part,
                      [&](std::int64_t, const auto& at, const auto& step, std::int64_t count) {
                        total +=
                            count_true(bytes_of(packed(mask.dtype, at[0], step[0], count)), count);
                      });
    starts[static_cast<std::size_t>(part) + 1] = total;
  });
  for (std::size_t part = 1; part < starts.size(); ++part) starts[part] += starts[part - 1];
  return starts;
}

void compact(const Shape& shape, const Array& mask, const Array& from, std::byte* to,
             const std::vector<std::int64_t>& starts) {
  Axes<2> axes = axes_of<2>(shape, {&mask, &from});
  axes.merge();
  const std::int64_t bytes = item_bytes(from.dtype);
  parallel_for(part_count(shape), 2 * bytes * element_count(shape), [&](std::int64_t part) {
    Packed masks;
    Packed elements;
    std::int64_t next = starts[static_cast<std::size_t>(part)];
    const std::int64_t end = starts[static_cast<std::size_t>(part) + 1];
    for_each_piece<2>(
        axes, {&mask, &from}, part,
        [&](std::int64_t, const auto& at, const auto& step, std::int64_t count) {
          const auto* const chooses = bytes_of(masks(mask.dtype, at[0], step[0], count));
          const std::byte* const row = elements(from.dtype, at[1], step[1], count);
          next += compact_row(row, bytes, chooses, count, to + next * bytes, end - next);
        });
  });
}

void place(const Shape& shape, const Array& mask, const Array& to, const std::byte* from,
           const std::vector<std::int64_t>& starts) {
  Axes<2> axes = axes_of<2>(shape, {&mask, &to});
  axes.merge();
  with_size(item_bytes(to.dtype), [&]<class T>(T /*element*/) {
    const T* const elements = reinterpret_cast<const T*>(from);
    const auto bytes = static_cast<std::int64_t>(sizeof(T));
    parallel_for(part_count(shape), 2 * bytes * element_count(shape), [&](std::int64_t part) {
      Packed masks;
      std::int64_t next = starts[static_cast<std::size_t>(part)];
      const std::int64_t end = starts[static_cast<std::size_t>(part) + 1];
      for_each_piece<2>(axes, {&mask, &to}, part,
                        [&](std::int64_t, const auto& at, const auto& step, std::int64_t count) {
                          const auto* const chooses =
                              bytes_of(masks(mask.dtype, at[0], step[0], count));
                          next += place_row(reinterpret_cast<T*>(at[1]), step[1], chooses, count,
                                            elements + next, end - next);
                        });
    });
  });
}

void coordinates(const Shape& shape, const Array& mask, std::int64_t* to,
                 const std::vector<std::int64_t>& starts) {
  const std::int64_t total = starts.back();
  const Axes<1> axes = axes_of<1>(shape, {&mask});
  // A piece runs along the innermost dim that has more than one element.
  int along = shape.size() - 1;
  while (along >= 0 && shape[along] == 1) --along;
  parallel_for(part_count(shape), 8 * element_count(shape), [&](std::int64_t part) {
    Packed masks;
    std::int64_t next = starts[static_cast<std::size_t>(part)];
    const std::int64_t end = starts[static_cast<std::size_t>(part) + 1];
    for_each_piece<1>(
        axes, {&mask}, part,
        [&](std::int64_t position, const auto& at, const auto& step, std::int64_t count) {
          const auto* const chooses = bytes_of(masks(mask.dtype, at[0], step[0], count));
          const std::int64_t found = std::min(count_true(chooses, count), end - next);
          for (int d = shape.size(); d-- > 0;) {
            std::int64_t* const own = to + d * total + next;
            if (d == along) {
              compact_numbers(position % shape[d], chooses, count, own, found);
            } else {
              std::fill_n(own, found, position % shape[d]);
            }
            position /= shape[d];
          }
          next += found;
        });
  });
}

}  // namespace loup::kernels
