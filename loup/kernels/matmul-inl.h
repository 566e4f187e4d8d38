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
#include <cstdint>
#include <type_traits>
#include <utility>

#include "loup/kernels/matmul.h"
#include "loup/kernels/pack-inl.h"

// Loops over registers must disappear, which g++ does at -O2 only when asked.
#ifdef __clang__
#define LOUP_UNROLL _Pragma("unroll")
#else
#define LOUP_UNROLL _Pragma("GCC unroll 16")
#endif

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

/// The element type, unsigned for integers so that they wrap.
template <class T>
inline constexpr DType packed_type = std::is_same_v<T, float>    ? DType::f32
                                     : std::is_same_v<T, double> ? DType::f64
                                     : sizeof(T) == 4            ? DType::i32
                                                                 : DType::i64;

template <class V>
HWY_INLINE V multiply_add(V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>) {
    return hn::MulAdd(a, b, sum);
  } else {
    return hn::Add(a * b, sum);
  }
}

template <class D>
inline constexpr std::int64_t tile_width = most_vectors * lanes<D>;

/// Writes a row of a tile, of which `cols` elements exist.
template <int vectors, class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE void write_row(D d, const V* sums, T* c, std::int64_t cols, bool adds) {
  constexpr std::int64_t N = lanes<D>;
  if (HWY_LIKELY(cols == vectors * N)) {
    LOUP_UNROLL
    for (int v = 0; v < vectors; ++v) {
      T* const to = c + v * N;
      hn::StoreU(adds ? hn::Add(hn::LoadU(d, to), sums[v]) : sums[v], d, to);
    }
    return;
  }
  HWY_ALIGN T row[vectors * N];
  LOUP_UNROLL
  for (int v = 0; v < vectors; ++v) hn::Store(sums[v], d, row + v * N);
  for (std::int64_t j = 0; j < cols; ++j) c[j] = adds ? static_cast<T>(c[j] + row[j]) : row[j];
}

template <class T>
using Tile = void (*)(const T* left, const T* right, std::int64_t depth, T* c, std::int64_t c_row,
                      std::int64_t cols, bool adds);

/// One tile of c: `rows` of one panel of a by `vectors` of one panel of b.
template <class T, int rows, int vectors>
void multiply_tile(const T* HWY_RESTRICT left, const T* HWY_RESTRICT right, std::int64_t depth,
                   T* HWY_RESTRICT c, std::int64_t c_row, std::int64_t cols, bool adds) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t N = lanes<decltype(d)>;
  V sums[rows][vectors];
  LOUP_UNROLL
  for (int i = 0; i < rows; ++i) {
    LOUP_UNROLL
    for (int v = 0; v < vectors; ++v) sums[i][v] = hn::Zero(d);
  }
  for (std::int64_t q = 0; q < depth; ++q) {
    V b[vectors];
    LOUP_UNROLL
    for (int v = 0; v < vectors; ++v) b[v] = hn::Load(d, right + v * N);
    LOUP_UNROLL
    for (int i = 0; i < rows; ++i) {
      const V a = hn::Set(d, left[i]);
      LOUP_UNROLL
      for (int v = 0; v < vectors; ++v) sums[i][v] = multiply_add(a, b[v], sums[i][v]);
    }
    left += rows;
    right += vectors * N;
  }
  LOUP_UNROLL
  for (int i = 0; i < rows; ++i) write_row<vectors>(d, sums[i], c + i * c_row, cols, adds);
}

template <class T, int... index>
constexpr auto make_tiles(std::integer_sequence<int, index...> /*all*/) {
  return std::array<Tile<T>, sizeof...(index)>{
      multiply_tile<T, index / most_vectors + 1, index % most_vectors + 1>...};
}
/// Tiles of every height and width.
template <class T>
inline constexpr auto tiles =
    make_tiles<T>(std::make_integer_sequence<int, most_rows * most_vectors>());

template <class T>
std::int64_t padded(std::int64_t cols) {
  constexpr std::int64_t N = lanes<hn::ScalableTag<T>>;
  return (cols + N - 1) / N * N;
}

template <class T>
void multiply(const void* left, const void* right, std::int64_t rows, std::int64_t depth,
              std::int64_t cols, void* c, std::int64_t c_row, bool adds) {
  constexpr std::int64_t width = tile_width<hn::ScalableTag<T>>;
  constexpr std::int64_t N = lanes<hn::ScalableTag<T>>;
  const auto tile = [&](std::int64_t i, std::int64_t j) HWY_ATTR {
    const std::int64_t height = std::min<std::int64_t>(most_rows, rows - i);
    const std::int64_t here = std::min(width, cols - j);
    const std::int64_t vectors = (here + N - 1) / N;
    tiles<T>[static_cast<std::size_t>((height - 1) * most_vectors + vectors - 1)](
        static_cast<const T*>(left) + i * depth, static_cast<const T*>(right) + j * depth, depth,
        static_cast<T*>(c) + i * c_row + j, c_row, here, adds);
  };
  // The panel of the outer loop stays in the first-level cache, the smaller block in the second.
  if (rows <= cols) {
    for (std::int64_t j = 0; j < cols; j += width) {
      for (std::int64_t i = 0; i < rows; i += most_rows) tile(i, j);
    }
  } else {
    for (std::int64_t i = 0; i < rows; i += most_rows) {
      for (std::int64_t j = 0; j < cols; j += width) tile(i, j);
    }
  }
}

template <class T>
void multiply_counted(const void* left, const void* left_mask, const void* right,
                      const void* right_mask, std::int64_t rows, std::int64_t depth,
                      std::int64_t cols, void* c, std::int64_t c_row, bool adds) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  constexpr std::int64_t width = tile_width<decltype(d)>;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t panel = i / most_rows * most_rows;
    const std::int64_t height = std::min<std::int64_t>(most_rows, rows - panel);
    const T* const a = static_cast<const T*>(left) + panel * depth + i - panel;
    const T* const a_mask = static_cast<const T*>(left_mask) + panel * depth + i - panel;
    for (std::int64_t j = 0; j < cols; j += N) {
      const std::int64_t first = j / width * width;
      const std::int64_t b_row = std::min(width, padded<T>(cols - first));
      const std::int64_t b_at = first * depth + j - first;
      const T* const b = static_cast<const T*>(right) + b_at;
      const T* const b_mask = static_cast<const T*>(right_mask) + b_at;
      auto sum = hn::Zero(d);
      for (std::int64_t q = 0; q < depth; ++q) {
        if (a_mask[q * height] == T{}) continue;
        const auto next = multiply_add(hn::Set(d, a[q * height]), hn::Load(d, b + q * b_row), sum);
        sum = hn::IfThenElse(hn::Ne(hn::Load(d, b_mask + q * b_row), hn::Zero(d)), next, sum);
      }
      write_row<1>(d, &sum, static_cast<T*>(c) + i * c_row + j, std::min(N, cols - j), adds);
    }
  }
}

template <class T>
void pack_left(const ConstPlane& a, std::int64_t rows, std::int64_t depth, void* to) {
  for (std::int64_t i = 0; i < rows; i += most_rows) {
    const ConstPlane strip{a.data + i * a.row * item_bytes(a.dtype), a.dtype, a.row, a.col};
    const std::int64_t height = std::min<std::int64_t>(most_rows, rows - i);
    pack_panel(strip, packed_type<T>, height, depth, static_cast<T*>(to) + i * depth, height);
  }
}

template <class T>
void pack_right(const ConstPlane& b, std::int64_t depth, std::int64_t cols, void* to) {
  constexpr std::int64_t width = tile_width<hn::ScalableTag<T>>;
  for (std::int64_t j = 0; j < cols; j += width) {
    const ConstPlane strip{b.data + j * b.col * item_bytes(b.dtype), b.dtype, b.col, b.row};
    const std::int64_t here = std::min(width, cols - j);
    pack_panel(strip, packed_type<T>, here, depth, static_cast<T*>(to) + j * depth,
               padded<T>(here));
  }
}

/// Four sums of vectors side by side, so that additions do not wait for each other.
template <class T>
T dot(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::int64_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  constexpr int sums_count = 4;
  hn::Vec<decltype(d)> sums[sums_count];
  LOUP_UNROLL
  for (int s = 0; s < sums_count; ++s) sums[s] = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + sums_count * N <= count; i += sums_count * N) {
    LOUP_UNROLL
    for (int s = 0; s < sums_count; ++s) {
      sums[s] = multiply_add(hn::LoadU(d, a + i + s * N), hn::LoadU(d, b + i + s * N), sums[s]);
    }
  }
  for (; i + N <= count; i += N) {
    sums[0] = multiply_add(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sums[0]);
  }
  if (i < count) {
    HWY_ALIGN T rest[2][N] = {};
    std::copy(a + i, a + count, rest[0]);
    std::copy(b + i, b + count, rest[1]);
    sums[1] = multiply_add(hn::Load(d, rest[0]), hn::Load(d, rest[1]), sums[1]);
  }
  return hn::GetLane(
      hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

template <class T>
void rows_times_vector(const void* a, std::int64_t a_row, std::int64_t rows, std::int64_t depth,
                       const void* x, void* out, bool adds) {
  T* const to = static_cast<T*>(out);
  for (std::int64_t i = 0; i < rows; ++i) {
    const T value = dot(static_cast<const T*>(a) + i * a_row, static_cast<const T*>(x), depth);
    to[i] = adds ? static_cast<T>(to[i] + value) : value;
  }
}

/// `vectors` columns side by side, all of them in memory.
template <class T, int vectors>
void columns_strip(const T* x, const T* b, std::int64_t b_row, std::int64_t depth, T* out,
                   std::int64_t cols, bool adds) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  hn::Vec<decltype(d)> sums[vectors];
  LOUP_UNROLL
  for (int v = 0; v < vectors; ++v) sums[v] = hn::Zero(d);
  for (std::int64_t q = 0; q < depth; ++q) {
    const auto factor = hn::Set(d, x[q]);
    LOUP_UNROLL
    for (int v = 0; v < vectors; ++v) {
      sums[v] = multiply_add(factor, hn::LoadU(d, b + q * b_row + v * N), sums[v]);
    }
  }
  write_row<vectors>(d, sums, out, cols, adds);
}

template <class T>
void vector_times_columns(const void* x, const void* b, std::int64_t b_row, std::int64_t depth,
                          std::int64_t cols, void* out, bool adds) {
  constexpr std::int64_t N = lanes<hn::ScalableTag<T>>;
  constexpr int strip = 8;
  for (std::int64_t first = 0; first < depth; first += depth_block) {
    const std::int64_t count = std::min(depth_block, depth - first);
    const T* const factors = static_cast<const T*>(x) + first;
    const T* const block = static_cast<const T*>(b) + first * b_row;
    T* const to = static_cast<T*>(out);
    const bool adds_here = adds || first > 0;
    std::int64_t j = 0;
    for (; j + strip * N <= cols; j += strip * N) {
      columns_strip<T, strip>(factors, block + j, b_row, count, to + j, strip * N, adds_here);
    }
    for (; j + N <= cols; j += N) {
      columns_strip<T, 1>(factors, block + j, b_row, count, to + j, N, adds_here);
    }
    if (j < cols) {
      HWY_ALIGN T rest[depth_block * N];
      for (std::int64_t q = 0; q < count; ++q) {
        std::copy(block + q * b_row + j, block + q * b_row + cols, rest + q * N);
        std::fill(rest + q * N + cols - j, rest + (q + 1) * N, T{});
      }
      columns_strip<T, 1>(factors, rest, N, count, to + j, cols - j, adds_here);
    }
  }
}

template <class T>
bool is_finite(const void* elements, std::int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<T> d;
    constexpr std::int64_t N = lanes<decltype(d)>;
    const T* const x = static_cast<const T*>(elements);
    // Infinity and NaN times 0 are NaN, which no sum loses.
    auto sum = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + N <= count; i += N) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::Zero(d), sum);
    T rest = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; i < count; ++i) rest += x[i] * 0;
    return rest == 0;
  } else {
    static_cast<void>(elements);
    static_cast<void>(count);
    return true;
  }
}

template <class T>
inline constexpr MatmulKernel matmul_kernel_of{
    .tile_rows = most_rows,
    .tile_cols = tile_width<hn::ScalableTag<T>>,
    .lanes = lanes<hn::ScalableTag<T>>,
    .pack_left = pack_left<T>,
    .pack_right = pack_right<T>,
    .multiply = multiply<T>,
    .multiply_counted = multiply_counted<T>,
    .rows_times_vector = rows_times_vector<T>,
    .vector_times_columns = vector_times_columns<T>,
    .is_finite = is_finite<T>,
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
