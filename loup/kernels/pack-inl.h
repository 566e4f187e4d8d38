// Packing of matrix blocks into panels. Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_PACK_INL_H_
#undef LOUP_KERNELS_PACK_INL_H_
#else
#define LOUP_KERNELS_PACK_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// What a panel is made of: `lanes` rows of a or columns of b, each `depth` elements long.
template <class T>
struct Strip {
  const T* data;
  std::int64_t lane, depth;  // steps
};

/// Lanes side by side in memory: copied for each depth.
template <class T>
void pack_across(const Strip<T>& from, std::int64_t lanes_count, std::int64_t depth, T* to,
                 std::int64_t width) {
  const hn::ScalableTag<T> d;
  const hn::FixedTag<T, 16 / sizeof(T)> d16;
  constexpr std::int64_t N = lanes<decltype(d)>;
  constexpr std::int64_t narrow = lanes<decltype(d16)>;
  for (std::int64_t q = 0; q < depth; ++q) {
    const T* const source = from.data + q * from.depth;
    T* const target = to + q * width;
    std::int64_t i = 0;
    for (; i + N <= lanes_count; i += N) hn::StoreU(hn::LoadU(d, source + i), d, target + i);
    for (; i + narrow <= lanes_count; i += narrow) {
      hn::StoreU(hn::LoadU(d16, source + i), d16, target + i);
    }
    for (; i < lanes_count; ++i) target[i] = source[i];
  }
}

/// Four lanes of four elements turned; two of two where they are 8 bytes wide.
template <class T>
HWY_INLINE void turn_square(const T* from, std::int64_t from_step, T* to, std::int64_t to_step) {
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  if constexpr (sizeof(T) == 8) {
    const auto a = hn::LoadU(d, from);
    const auto b = hn::LoadU(d, from + from_step);
    hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_step);
  } else {
    const hn::Repartition<std::uint64_t, decltype(d)> d64;
    const auto a = hn::LoadU(d, from);
    const auto b = hn::LoadU(d, from + from_step);
    const auto c = hn::LoadU(d, from + 2 * from_step);
    const auto e = hn::LoadU(d, from + 3 * from_step);
    const auto ab_low = hn::BitCast(d64, hn::InterleaveLower(d, a, b));
    const auto ab_high = hn::BitCast(d64, hn::InterleaveUpper(d, a, b));
    const auto ce_low = hn::BitCast(d64, hn::InterleaveLower(d, c, e));
    const auto ce_high = hn::BitCast(d64, hn::InterleaveUpper(d, c, e));
    const auto store = [&](auto v, std::int64_t i)
                           HWY_ATTR { hn::StoreU(hn::BitCast(d, v), d, to + i * to_step); };
    store(hn::InterleaveLower(d64, ab_low, ce_low), 0);
    store(hn::InterleaveUpper(d64, ab_low, ce_low), 1);
    store(hn::InterleaveLower(d64, ab_high, ce_high), 2);
    store(hn::InterleaveUpper(d64, ab_high, ce_high), 3);
  }
}

/// Each lane contiguous in memory: turned.
template <class T>
void pack_along(const Strip<T>& from, std::int64_t lanes_count, std::int64_t depth, T* to,
                std::int64_t width) {
  constexpr std::int64_t square = 16 / sizeof(T);
  const std::int64_t whole_lanes = lanes_count / square * square;
  const std::int64_t whole_depth = depth / square * square;
  for (std::int64_t i = 0; i < whole_lanes; i += square) {
    const T* const source = from.data + i * from.lane;
    for (std::int64_t q = 0; q < whole_depth; q += square) {
      turn_square(source + q, from.lane, to + q * width + i, width);
    }
  }
  for (std::int64_t i = 0; i < lanes_count; ++i) {
    const T* const source = from.data + i * from.lane;
    for (std::int64_t q = i < whole_lanes ? whole_depth : 0; q < depth; ++q) {
      to[q * width + i] = source[q];
    }
  }
}

template <class T>
void pack_strip(const Strip<T>& from, std::int64_t lanes_count, std::int64_t depth, T* to,
                std::int64_t width) {
  if (from.lane == 1 || lanes_count == 1) {
    pack_across(from, lanes_count, depth, to, width);
  } else if (from.depth == 1) {
    pack_along(from, lanes_count, depth, to, width);
  } else {
    for (std::int64_t q = 0; q < depth; ++q) {
      for (std::int64_t i = 0; i < lanes_count; ++i) {
        to[q * width + i] = from.data[i * from.lane + q * from.depth];
      }
    }
  }
}

/// One panel: element (lane i, depth q) goes to q * width + i, and zeros fill up the width. T holds
/// the bits of `type`, to which other dtypes are converted piece by piece in the first-level cache.
template <class T>
void pack_panel(const ConstPlane& from, DType type, std::int64_t lanes_count, std::int64_t depth,
                T* to, std::int64_t width) {
  if (from.dtype == type) {
    const Strip<T> strip{reinterpret_cast<const T*>(from.data), from.row, from.col};
    pack_strip(strip, lanes_count, depth, to, width);
  } else {
    constexpr std::int64_t piece = 64;
    constexpr std::int64_t most_lanes = 64;
    T buffer[piece * most_lanes];
    const bool is_turned = from.row == 1;
    const std::int64_t lane = is_turned ? 1 : piece;
    const std::int64_t step = is_turned ? most_lanes : 1;
    for (std::int64_t q = 0; q < depth; q += piece) {
      const std::int64_t count = std::min(piece, depth - q);
      const ConstPlane source{from.data + q * from.col * item_bytes(from.dtype), from.dtype,
                              from.row, from.col};
      auto* const bytes = reinterpret_cast<std::byte*>(buffer);
      if (is_turned) {
        copy_plane({bytes, type, step, lane}, {source.data, source.dtype, source.col, source.row},
                   count, lanes_count);
      } else {
        copy_plane({bytes, type, lane, step}, source, lanes_count, count);
      }
      pack_strip<T>({buffer, lane, step}, lanes_count, count, to + q * width, width);
    }
  }
  for (std::int64_t q = 0; lanes_count < width && q < depth; ++q) {
    std::fill(to + q * width + lanes_count, to + (q + 1) * width, T{});
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
