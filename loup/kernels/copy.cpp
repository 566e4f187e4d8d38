#include "loup/kernels/copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/half.h"
#include "loup/kernels/sum_of.h"

namespace loup::kernels {

namespace {

/// A task of an n-dimensional loop: this many elements, some 100 KB.
constexpr std::int64_t task_elements = 32 * 1024;
/// Planes whose rows lie closer together than their columns are walked in squares of this size, so
/// that both sides stay in cache.
constexpr std::int64_t square = 32;

template <class To, class From>
void convert_run(To* to, const From* from, std::int64_t count) {
  if constexpr (std::is_same_v<To, From>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
  } else if constexpr (std::is_same_v<To, float> &&
                       (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>)) {
    widen(from, to, count);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
  }
}

using Bytes16 = std::uint8_t __attribute__((vector_size(16)));

/// 16 × 16 bytes turned. Interleaving row i with row i + 8 four times moves every byte home.
void turn_bytes_16(std::uint8_t* to, std::int64_t to_row, const std::uint8_t* from,
                   std::int64_t from_col) {
  Bytes16 a[16];
  Bytes16 b[16];
  for (std::int64_t i = 0; i < 16; ++i) std::memcpy(&a[i], from + i * from_col, 16);
  const auto interleave = [](const Bytes16* in, Bytes16* out) {
    for (int i = 0; i < 8; ++i) {
      out[2 * i] = __builtin_shufflevector(in[i], in[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                           21, 6, 22, 7, 23);
      out[2 * i + 1] = __builtin_shufflevector(in[i], in[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                               28, 13, 29, 14, 30, 15, 31);
    }
  };
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (std::int64_t i = 0; i < 16; ++i) std::memcpy(to + i * to_row, &a[i], 16);
}

/// Bytes whose rows are contiguous in the source and whose columns are in the target.
void turn_bytes(std::uint8_t* to, std::int64_t to_row, const std::uint8_t* from,
                std::int64_t from_col, std::int64_t rows, std::int64_t cols) {
  const std::int64_t whole_rows = rows / 16 * 16;
  const std::int64_t whole_cols = cols / 16 * 16;
  // Columns outside: their lines may be a power of two apart and push each other out of the cache.
  for (std::int64_t c = 0; c < whole_cols; c += 16) {
    for (std::int64_t r = 0; r < whole_rows; r += 16) {
      turn_bytes_16(to + r * to_row + c, to_row, from + r + c * from_col, from_col);
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) {
      to[r * to_row + c] = from[r + c * from_col];
    }
  }
}

template <class To, class From>
void copy_typed(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  To* const out = reinterpret_cast<To*>(to.data);
  const From* const in = reinterpret_cast<const From*>(from.data);
  if (to.col == 1 && from.col == 1) {
    const bool is_flat = to.row == cols && from.row == cols;
    const std::int64_t runs = is_flat ? 1 : rows;
    for (std::int64_t r = 0; r < runs; ++r) {
      convert_run(out + r * to.row, in + r * from.row, is_flat ? rows * cols : cols);
    }
    return;
  }
  if constexpr (std::is_same_v<To, From> && sizeof(To) == 1) {
    if (to.col == 1 && from.row == 1) {
      return turn_bytes(reinterpret_cast<std::uint8_t*>(out), to.row,
                        reinterpret_cast<const std::uint8_t*>(in), from.col, rows, cols);
    }
  }
  if (to.col == 1 && from.col == 0) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::fill_n(out + r * to.row, cols, convert<To>(in[r * from.row]));
    }
    return;
  }
  for (std::int64_t r0 = 0; r0 < rows; r0 += square) {
    const std::int64_t r1 = std::min(rows, r0 + square);
    for (std::int64_t c0 = 0; c0 < cols; c0 += square) {
      const std::int64_t c1 = std::min(cols, c0 + square);
      for (std::int64_t r = r0; r < r1; ++r) {
        To* const line = out + r * to.row;
        const From* const source = in + r * from.row;
        for (std::int64_t c = c0; c < c1; ++c) {
          line[c * to.col] = convert<To>(source[c * from.col]);
        }
      }
    }
  }
}

template <std::size_t K>
Axes<K> axes_of(const Shape& shape, const std::array<const Array*, K>& arrays) {
  Axes<K> axes;
  for (int i = 0; i < shape.size(); ++i) {
    Axis<K> axis{shape[i], {}};
    for (std::size_t k = 0; k < K; ++k) axis.step[k] = arrays[k]->strides[i];
    axes.push(axis);
  }
  axes.sort_by_step(0);
  axes.merge();
  return axes;
}

/// Cuts an n-dimensional loop over K arrays into planes of at most `task_elements` and calls
/// `body(pointers, row axis, column axis)` for each, on several threads.
template <std::size_t K, class Body>
void for_each_plane(const Shape& shape, const std::array<const Array*, K>& arrays, Body&& body) {
  const std::int64_t count = element_count(shape);
  if (count == 0) return;
  Axes<K> outer = axes_of(shape, arrays);
  const Axis<K> cols = outer.pop();
  const Axis<K> rows = outer.pop();
  const std::int64_t col_part = std::min(cols.size, task_elements);
  const std::int64_t row_part = std::min(rows.size, task_elements / col_part);
  const std::int64_t col_parts = (cols.size + col_part - 1) / col_part;
  const std::int64_t row_parts = (rows.size + row_part - 1) / row_part;
  const std::int64_t bytes = count * item_bytes(arrays[0]->dtype) * static_cast<std::int64_t>(K);
  parallel_for(outer.iterations() * row_parts * col_parts, bytes, [&](std::int64_t task) {
    const std::int64_t c = task % col_parts * col_part;
    const std::int64_t r = task / col_parts % row_parts * row_part;
    Offsets<K> offsets{};
    outer.advance(task / (col_parts * row_parts), offsets);
    std::array<std::byte*, K> pointers{};
    for (std::size_t k = 0; k < K; ++k) {
      const std::int64_t at = offsets[k] + r * rows.step[k] + c * cols.step[k];
      pointers[k] = arrays[k]->data + at * item_bytes(arrays[k]->dtype);
    }
    body(pointers, Axis<K>{std::min(row_part, rows.size - r), rows.step},
         Axis<K>{std::min(col_part, cols.size - c), cols.step});
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

/// A stride that the compiler knows, so that it can use vectors.
template <std::int64_t value>
using Step = std::integral_constant<std::int64_t, value>;

/// Where masks are bytes side by side and the operands contiguous or constant, as they mostly are.
template <class T, class YesStep, class NoStep>
void select_run(T* out, const std::uint8_t* chooses, const T* yes, YesStep yes_step, const T* no,
                NoStep no_step, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) {
    const T first = yes[c * yes_step];
    const T second = no[c * no_step];
    out[c] = chooses[c] != 0 ? first : second;
  }
}

}  // namespace

void copy_plane(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  visit_dtype(from.dtype, [&]<class From>(std::type_identity<From>) {
    visit_dtype(to.dtype, [&]<class To>(std::type_identity<To>) {
      copy_typed<To, From>(to, from, rows, cols);
    });
  });
}

void copy(const Shape& shape, const Array& to, const Array& from) {
  for_each_plane<2>(shape, {&to, &from}, [&](const auto& at, const auto& rows, const auto& cols) {
    copy_plane({at[0], to.dtype, rows.step[0], cols.step[0]},
               {at[1], from.dtype, rows.step[1], cols.step[1]}, rows.size, cols.size);
  });
}

void select(const Shape& shape, const Array& to, const Array& mask, const Array& yes,
            const Array& no) {
  visit_dtype(to.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row<4>(shape, {&to, &mask, &yes, &no}, [](const auto& at, const auto& cols) {
      T* const out = reinterpret_cast<T*>(at[0]);
      const auto* const chooses = reinterpret_cast<const std::uint8_t*>(at[1]);
      const T* const first = reinterpret_cast<const T*>(at[2]);
      const T* const second = reinterpret_cast<const T*>(at[3]);
      const auto& [to_step, mask_step, yes_step, no_step] = cols.step;
      if (to_step == 1 && mask_step == 1 && yes_step == 0 && no_step == 0) {
        return select_run(out, chooses, first, Step<0>(), second, Step<0>(), cols.size);
      }
      if (to_step == 1 && mask_step == 1 && yes_step == 1 && no_step == 0) {
        return select_run(out, chooses, first, Step<1>(), second, Step<0>(), cols.size);
      }
      for (std::int64_t c = 0; c < cols.size; ++c) {
        out[c * cols.step[0]] =
            chooses[c * cols.step[1]] != 0 ? first[c * cols.step[2]] : second[c * cols.step[3]];
      }
    });
  });
}

void add(const Shape& shape, const Array& to, const Array& a, const Array& b) {
  visit_dtype(to.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row<3>(shape, {&to, &a, &b}, [](const auto& at, const auto& cols) {
      T* const out = reinterpret_cast<T*>(at[0]);
      const T* const left = reinterpret_cast<const T*>(at[1]);
      const T* const right = reinterpret_cast<const T*>(at[2]);
      for (std::int64_t c = 0; c < cols.size; ++c) {
        out[c * cols.step[0]] = sum_of(left[c * cols.step[1]], right[c * cols.step[2]]);
      }
    });
  });
}

void logical_and(const Shape& shape, const Array& to, const Array& a, const Array& b) {
  for_each_row<3>(shape, {&to, &a, &b}, [](const auto& at, const auto& cols) {
    const auto* const left = reinterpret_cast<const std::uint8_t*>(at[1]);
    const auto* const right = reinterpret_cast<const std::uint8_t*>(at[2]);
    for (std::int64_t c = 0; c < cols.size; ++c) {
      const bool both = left[c * cols.step[1]] != 0 && right[c * cols.step[2]] != 0;
      reinterpret_cast<std::uint8_t*>(at[0])[c * cols.step[0]] = both ? 1 : 0;
    }
  });
}

}  // namespace loup::kernels
