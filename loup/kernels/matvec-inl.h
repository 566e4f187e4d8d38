// Products with one vector, and what they share with products of matrices. Included once per
// instruction set, from kernel files only.

#if defined(LOUP_KERNELS_MATVEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_MATVEC_INL_H_
#undef LOUP_KERNELS_MATVEC_INL_H_
#else
#define LOUP_KERNELS_MATVEC_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "loup/kernels/matmul.h"
#include "loup/kernels/simd-inl.h"

// Loops over registers must disappear, which g++ does at -O2 only when asked.
#ifndef LOUP_UNROLL
#ifdef __clang__
#define LOUP_UNROLL _Pragma("unroll")
#else
#define LOUP_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

template <class V>
HWY_INLINE V multiply_add(V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>) {
    return hn::MulAdd(a, b, sum);
  } else {
    return hn::Add(a * b, sum);
  }
}

/// Writes a row of sums, of which `cols` elements exist.
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

/// Four sums of vectors side by side, so that additions do not wait for each other.
template <class T>
T dot(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::int64_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  hn::Vec<decltype(d)> sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 4 * N <= count; i += 4 * N) {
    LOUP_UNROLL
    for (int s = 0; s < 4; ++s) {
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

/// sums[j] += the products of `count` factors with as many rows, in their order. `cols` is a
/// multiple of the lanes.
template <int count, class T>
HWY_INLINE void add_rows(const T* x, const T* b, std::int64_t b_row, std::int64_t cols, T* sums) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> factors[count];
  LOUP_UNROLL
  for (int q = 0; q < count; ++q) factors[q] = hn::Set(d, x[q]);
  for (std::int64_t j = 0; j < cols; j += lanes<decltype(d)>) {
    auto sum = hn::Load(d, sums + j);
    LOUP_UNROLL
    for (int q = 0; q < count; ++q) {
      sum = multiply_add(factors[q], hn::LoadU(d, b + q * b_row + j), sum);
    }
    hn::Store(sum, d, sums + j);
  }
}

/// The sums of one layer of at most depth_block rows; what does not fill a vector is copied first.
template <class T>
void add_layer(const T* x, const T* b, std::int64_t b_row, std::int64_t depth, std::int64_t cols,
               T* sums) {
  constexpr std::int64_t N = lanes<hn::ScalableTag<T>>;
  constexpr int together = 8;
  const std::int64_t whole = cols / N * N;
  for (std::int64_t q = 0; q < depth; q += together) {
    const std::int64_t count = std::min<std::int64_t>(together, depth - q);
    const T* const rows = b + q * b_row;
    HWY_ALIGN T rest[together * N] = {};
    for (std::int64_t i = 0; whole < cols && i < count; ++i) {
      std::copy(rows + i * b_row + whole, rows + i * b_row + cols, rest + i * N);
    }
    if (count == together) {
      add_rows<together>(x + q, rows, b_row, whole, sums);
      if (whole < cols) add_rows<together>(x + q, rest, N, N, sums + whole);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      add_rows<1>(x + q + i, rows + i * b_row, 0, whole, sums);
      if (whole < cols) add_rows<1>(x + q + i, rest + i * N, 0, N, sums + whole);
    }
  }
}

template <class T>
void vector_times_columns(const void* x, const void* b, std::int64_t b_row, std::int64_t depth,
                          std::int64_t cols, void* out, bool adds) {
  constexpr std::int64_t strip = 1024;  // whole pages of rows, and the sums stay in cache
  HWY_ALIGN T sums[strip];
  for (std::int64_t j = 0; j < cols; j += strip) {
    const std::int64_t here = std::min(strip, cols - j);
    T* const to = static_cast<T*>(out) + j;
    for (std::int64_t q = 0; q < depth; q += depth_block) {
      std::fill(sums, sums + strip, T{});
      add_layer(static_cast<const T*>(x) + q, static_cast<const T*>(b) + q * b_row + j, b_row,
                std::min(depth_block, depth - q), here, sums);
      for (std::int64_t i = 0; i < here; ++i) {
        to[i] = adds || q > 0 ? static_cast<T>(to[i] + sums[i]) : sums[i];
      }
    }
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
