// The matrix product of one compute type. Included once per instruction set, from kernel files
// only.

#if defined(LOUP_KERNELS_MATMUL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_MATMUL_INL_H_
#undef LOUP_KERNELS_MATMUL_INL_H_
#else
#define LOUP_KERNELS_MATMUL_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "loup/kernels/matmul.h"
#include "loup/kernels/matvec-inl.h"
#include "loup/kernels/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// A tile's sums stay in registers: all but some for the row of b, the element of a and a product.
#if HWY_TARGET == HWY_AVX2
inline constexpr int most_rows = 4, most_vectors = 3;
#elif HWY_TARGET >= HWY_SSE4
inline constexpr int most_rows = 4, most_vectors = 2;
#else
inline constexpr int most_rows = 12, most_vectors = 2;
#endif

/// Where rows of a stand: element (i, q) is i * row + q * depth elements from `data`.
template <class T>
struct TileRows {
  const T* data;
  std::int64_t row, depth;
};

/// What a tile fetches into the cache while it computes: one address for each step in depth.
template <class T>
struct Ahead {
  const T* data;
  std::int64_t step;
};

template <class T>
using Tile = void (*)(const TileRows<T>& left, const T* right, std::int64_t depth, T* c,
                      std::int64_t c_row, std::int64_t cols, bool adds, const Ahead<T>& ahead);

/// One tile of c. The rows of a are packed, or each of them is contiguous (`is_turned`).
template <class T, int rows, int vectors, bool is_turned>
void multiply_tile(const TileRows<T>& left, const T* HWY_RESTRICT right, std::int64_t depth,
                   T* HWY_RESTRICT c, std::int64_t c_row, std::int64_t cols, bool adds,
                   const Ahead<T>& ahead) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t N = lanes<decltype(d)>;
  const std::int64_t row = is_turned ? left.row : 1;
  const std::int64_t step = is_turned ? 1 : left.depth;
  // Four rows share a pointer: multiples of one step are free in an address.
  const T* a[(rows + 3) / 4];
  LOUP_UNROLL
  for (int i = 0; i < rows; i += 4) a[i / 4] = left.data + i * row;
  const T* next = ahead.data;
  const std::int64_t next_step = ahead.step;

  V sums[rows][vectors];
  LOUP_UNROLL
  for (int i = 0; i < rows; ++i) {
    __builtin_prefetch(c + i * c_row);
    __builtin_prefetch(c + i * c_row + cols - 1);
    LOUP_UNROLL
    for (int v = 0; v < vectors; ++v) sums[i][v] = hn::Zero(d);
  }
  for (std::int64_t q = 0; q < depth; ++q) {
    V b[vectors];
    LOUP_UNROLL
    for (int v = 0; v < vectors; ++v) b[v] = hn::Load(d, right + v * N);
    LOUP_UNROLL
    for (int i = 0; i < rows; ++i) {
      const V factor = hn::Set(d, a[i / 4][i % 4 * row]);
      LOUP_UNROLL
      for (int v = 0; v < vectors; ++v) sums[i][v] = multiply_add(factor, b[v], sums[i][v]);
    }
    __builtin_prefetch(next);
    next += next_step;
    LOUP_UNROLL
    for (int i = 0; i < rows; i += 4) a[i / 4] += step;
    right += vectors * N;
  }
  LOUP_UNROLL
  for (int i = 0; i < rows; ++i) write_row<vectors>(d, sums[i], c + i * c_row, cols, adds);
}

template <class T, bool is_turned, int... index>
constexpr auto make_tiles(std::integer_sequence<int, index...> /*all*/) {
  return std::array<Tile<T>, sizeof...(index)>{
      multiply_tile<T, index / most_vectors + 1, index % most_vectors + 1, is_turned>...};
}
/// Tiles of every height and width.
template <class T, bool is_turned>
inline constexpr auto tiles =
    make_tiles<T, is_turned>(std::make_integer_sequence<int, most_rows * most_vectors>());

template <class T>
inline constexpr std::int64_t tile_width = most_vectors * lanes<hn::ScalableTag<T>>;

template <class T>
constexpr std::int64_t vectors_for(std::int64_t cols) {
  constexpr std::int64_t N = lanes<hn::ScalableTag<T>>;
  return (cols + N - 1) / N;
}

template <class T>
void multiply(const LeftBlock& left, const void* right, std::int64_t rows, std::int64_t depth,
              std::int64_t cols, void* c, std::int64_t c_row, bool adds) {
  constexpr std::int64_t width = tile_width<T>;
  const T* const a = static_cast<const T*>(left.data);
  const T* const b = static_cast<const T*>(right);
  const auto& all = left.row == 1 ? tiles<T, false> : tiles<T, true>;
  const auto tile = [&](std::int64_t i, std::int64_t j, const Ahead<T>& ahead) HWY_ATTR {
    const std::int64_t height = std::min<std::int64_t>(most_rows, rows - i);
    const std::int64_t here = std::min(width, cols - j);
    all[static_cast<std::size_t>((height - 1) * most_vectors + vectors_for<T>(here) - 1)](
        {a + i / most_rows * left.panel, left.row, left.depth}, b + j * depth, depth,
        static_cast<T*>(c) + i * c_row + j, c_row, here, adds, ahead);
  };
  // The panel of the outer loop stays in the first-level cache, the smaller block in the second.
  // The next panel of the outer loop may come from further away: tiles fetch a part of it each.
  if (rows <= cols) {
    const std::int64_t step = width / (rows / most_rows + 1) + 1;
    for (std::int64_t j = 0; j < cols; j += width) {
      Ahead<T> ahead{b + (j + width) * depth, step};
      for (std::int64_t i = 0; i < rows; i += most_rows, ahead.data += step * depth) {
        tile(i, j, ahead);
      }
    }
  } else {
    const std::int64_t step = most_rows / (cols / width + 1) + 1;
    for (std::int64_t i = 0; i < rows; i += most_rows) {
      Ahead<T> ahead{a + (i / most_rows + 1) * left.panel, left.row == 1 ? step : 0};
      for (std::int64_t j = 0; j < cols; j += width, ahead.data += step * depth) tile(i, j, ahead);
    }
  }
}

template <class T>
void multiply_counted(const void* left, const void* left_mask, const void* right,
                      const void* right_mask, std::int64_t rows, std::int64_t depth,
                      std::int64_t cols, void* c, std::int64_t c_row, bool adds) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  constexpr std::int64_t width = tile_width<T>;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t a_at = i / most_rows * most_rows * depth + i % most_rows;
    const T* const a = static_cast<const T*>(left) + a_at;
    const T* const a_mask = static_cast<const T*>(left_mask) + a_at;
    for (std::int64_t j = 0; j < cols; j += N) {
      const std::int64_t first = j / width * width;
      const std::int64_t b_row = std::min(width, vectors_for<T>(cols - first) * N);
      const std::int64_t b_at = first * depth + j - first;
      const T* const b = static_cast<const T*>(right) + b_at;
      const T* const b_mask = static_cast<const T*>(right_mask) + b_at;
      auto sum = hn::Zero(d);
      for (std::int64_t q = 0; q < depth; ++q) {
        if (a_mask[q * most_rows] == T{}) continue;
        const auto next =
            multiply_add(hn::Set(d, a[q * most_rows]), hn::Load(d, b + q * b_row), sum);
        sum = hn::IfThenElse(hn::Ne(hn::Load(d, b_mask + q * b_row), hn::Zero(d)), next, sum);
      }
      write_row<1>(d, &sum, static_cast<T*>(c) + i * c_row + j, std::min(N, cols - j), adds);
    }
  }
}

/// The dtype that T holds the bits of; integers are unsigned here, so that they wrap.
template <class T>
inline constexpr DType packed_type = std::is_same_v<T, float>    ? DType::f32
                                     : std::is_same_v<T, double> ? DType::f64
                                     : sizeof(T) == 4            ? DType::i32
                                                                 : DType::i64;

template <class T>
void pack_left(const ConstPlane& a, std::int64_t rows, std::int64_t depth, void* to) {
  for (std::int64_t i = 0; i < rows; i += most_rows) {
    const ConstPlane strip{a.data + i * a.row * item_bytes(a.dtype), a.dtype, a.row, a.col};
    pack_panel(strip, packed_type<T>, std::min<std::int64_t>(most_rows, rows - i), depth,
               static_cast<T*>(to) + i * depth, most_rows);
  }
}

template <class T>
void pack_right(const ConstPlane& b, std::int64_t depth, std::int64_t cols, void* to) {
  constexpr std::int64_t N = lanes<hn::ScalableTag<T>>;
  for (std::int64_t j = 0; j < cols; j += tile_width<T>) {
    const ConstPlane strip{b.data + j * b.col * item_bytes(b.dtype), b.dtype, b.col, b.row};
    const std::int64_t here = std::min(tile_width<T>, cols - j);
    pack_panel(strip, packed_type<T>, here, depth, static_cast<T*>(to) + j * depth,
               vectors_for<T>(here) * N);
  }
}

template <class T>
inline constexpr MatmulKernel matmul_kernel_of{
    .tile_rows = most_rows,
    .tile_cols = tile_width<T>,
    .lanes = lanes<hn::ScalableTag<T>>,
    .pack_left = pack_left<T>,
    .pack_right = pack_right<T>,
    .multiply = multiply<T>,
    .multiply_counted = multiply_counted<T>,
    .rows_times_vector = rows_times_vector<T>,
    .vector_times_columns = vector_times_columns<T>,
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
