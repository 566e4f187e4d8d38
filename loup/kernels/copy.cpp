#include "loup/kernels/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "loup/kernels/convert.h"
#include "loup/kernels/planes.h"
#include "loup/kernels/turn.h"

namespace loup::kernels {

namespace {

/// What passes through a buffer at once stays in the first-level cache.
constexpr std::int64_t piece_elements = 1024;
/// Planes that are turned are walked in squares of this size, so that both sides stay in the cache.
constexpr std::int64_t square = 32;

template <class P>
bool is_turned(const P& plane) {
  return plane.row != 0 && std::abs(plane.row) < std::abs(plane.col);
}

/// The part of a plane from one element on.
template <class P>
P part_of(const P& plane, std::int64_t row, std::int64_t col) {
  return {plane.data + (row * plane.row + col * plane.col) * item_bytes(plane.dtype), plane.dtype,
          plane.row, plane.col};
}

template <class Item>
void copy_items(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  const bool is_square = is_turned(to) || is_turned(from);
  const std::int64_t height = is_square ? square : rows;
  const std::int64_t width = is_square ? square : cols;
  for (std::int64_t r0 = 0; r0 < rows; r0 += height) {
    for (std::int64_t c0 = 0; c0 < cols; c0 += width) {
      const std::int64_t n = std::min(width, cols - c0);
      for (std::int64_t r = r0; r < std::min(rows, r0 + height); ++r) {
        Item* const out = reinterpret_cast<Item*>(part_of(to, r, c0).data);
        const Item* const in = reinterpret_cast<const Item*>(part_of(from, r, c0).data);
        if (to.col == 1 && from.col == 0) {
          std::fill_n(out, n, *in);
        } else if (to.col == 1) {
          for (std::int64_t c = 0; c < n; ++c) out[c] = in[c * from.col];
        } else {
          for (std::int64_t c = 0; c < n; ++c) out[c * to.col] = in[c * from.col];
        }
      }
    }
  }
}

/// Planes of one dtype.
void copy_same(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  const std::int64_t bytes = item_bytes(to.dtype);
  if (to.col == 1 && from.col == 1) {
    const bool is_flat = to.row == cols && from.row == cols;
    const std::int64_t runs = is_flat ? 1 : rows;
    const auto size = static_cast<std::size_t>((is_flat ? rows * cols : cols) * bytes);
    for (std::int64_t r = 0; r < runs; ++r) {
      std::memcpy(part_of(to, r, 0).data, part_of(from, r, 0).data, size);
    }
  } else if (to.col == 1 && from.row == 1 && from.col != 0) {
    find_turn(bytes)(to.data, to.row, from.data, from.col, rows, cols);
  } else if (bytes == 1) {
    copy_items<std::uint8_t>(to, from, rows, cols);
  } else if (bytes == 2) {
    copy_items<std::uint16_t>(to, from, rows, cols);
  } else if (bytes == 4) {
    copy_items<std::uint32_t>(to, from, rows, cols);
  } else {
    copy_items<std::uint64_t>(to, from, rows, cols);
  }
}

/// Rows that are contiguous on both sides.
void convert_rows(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  const ConvertRun run = find_convert(to.dtype, from.dtype);
  const bool is_flat = to.row == cols && from.row == cols;
  const std::int64_t runs = is_flat ? 1 : rows;
  for (std::int64_t r = 0; r < runs; ++r) {
    run(part_of(to, r, 0).data, part_of(from, r, 0).data, is_flat ? rows * cols : cols);
  }
}

/// At most `piece_elements` elements, packed before and unpacked after their conversion.
void convert_piece(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  alignas(64) std::byte packed[piece_elements * 8];
  alignas(64) std::byte converted[piece_elements * 8];
  ConstPlane source = from;
  if (from.col != 1) {
    source = {packed, from.dtype, cols, 1};
    copy_same({packed, from.dtype, cols, 1}, from, rows, cols);
  }
  if (to.col == 1) return convert_rows(to, source, rows, cols);
  convert_rows({converted, to.dtype, cols, 1}, source, rows, cols);
  copy_same(to, {converted, to.dtype, cols, 1}, rows, cols);
}

}  // namespace

void copy_plane(const Plane& to, const ConstPlane& from, std::int64_t rows, std::int64_t cols) {
  // The other way round, so that what is written is contiguous.
  if (to.row == 1 && to.col != 1) {
    return copy_plane({to.data, to.dtype, to.col, to.row},
                      {from.data, from.dtype, from.col, from.row}, cols, rows);
  }
  if (to.dtype == from.dtype) return copy_same(to, from, rows, cols);
  if (to.col == 1 && from.col == 1) return convert_rows(to, from, rows, cols);
  const bool is_square = is_turned(to) || is_turned(from);
  const std::int64_t width = std::min(cols, is_square ? square : piece_elements);
  const std::int64_t height = std::min(rows, piece_elements / width);
  for (std::int64_t r = 0; r < rows; r += height) {
    for (std::int64_t c = 0; c < cols; c += width) {
      convert_piece(part_of(to, r, c), part_of(from, r, c), std::min(height, rows - r),
                    std::min(width, cols - c));
    }
  }
}

void copy(const Shape& shape, const Array& to, const Array& from) {
  for_each_plane<2>(shape, {&to, &from}, [&](const auto& at, const auto& rows, const auto& cols) {
    copy_plane({at[0], to.dtype, rows.step[0], cols.step[0]},
               {at[1], from.dtype, rows.step[1], cols.step[1]}, rows.size, cols.size);
  });
}

}  // namespace loup::kernels
