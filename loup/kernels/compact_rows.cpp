#include "loup/kernels/compact_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/compact_rows.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

std::int64_t count_bytes(const std::uint8_t* mask, std::int64_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  std::int64_t total = 0;
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    const auto is_true = hn::Ne(hn::LoadU(d, mask + i), hn::Zero(d));
    total += static_cast<std::int64_t>(hn::CountTrue(d, is_true));
  }
  for (; i < count; ++i) total += mask[i] != 0 ? 1 : 0;
  return total;
}

/// `load(i)` is the vector of elements from i on, `at(i)` one of them. The vectors that are stored
/// are whole, so the last ones, which would reach beyond `room`, go element by element.
template <class D, class Load, class At>
HWY_INLINE std::int64_t compact(D d, Load load_from, At at, const std::uint8_t* mask,
                                std::int64_t count, hn::TFromD<D>* to, std::int64_t room) {
  constexpr std::int64_t N = lanes<D>;
  std::int64_t written = 0;
  std::int64_t i = 0;
  for (; i + N <= count && written + N <= room; i += N) {
    const auto is_true = ByteMask{mask + i}.lanes_of(d);
    hn::StoreU(hn::Compress(load_from(i), is_true), d, to + written);
    written += static_cast<std::int64_t>(hn::CountTrue(d, is_true));
  }
  for (; i < count && written < room; ++i) {
    to[written] = at(i);
    written += mask[i] != 0 ? 1 : 0;
  }
  return written;
}

template <class T>
std::int64_t compact_elements(const T* from, const std::uint8_t* mask, std::int64_t count, T* to,
                              std::int64_t room) {
  const auto at = [from](std::int64_t i) { return from[i]; };
  if constexpr (sizeof(T) >= 4) {
    const hn::ScalableTag<T> d;
    const auto load_from = [d, from](std::int64_t i) { return hn::LoadU(d, from + i); };
    return compact(d, load_from, at, mask, count, to, room);
  } else {
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < count && written < room; ++i) {
      to[written] = from[i];
      written += mask[i] != 0 ? 1 : 0;
    }
    return written;
  }
}

std::int64_t compact_by_size(const std::byte* from, std::int64_t bytes, const std::uint8_t* mask,
                             std::int64_t count, std::byte* to, std::int64_t room) {
  const auto run = [&]<class T>(T /*element*/) {
    return compact_elements(reinterpret_cast<const T*>(from), mask, count, reinterpret_cast<T*>(to),
                            room);
  };
  switch (bytes) {
    case 1: return run(std::uint8_t{});
    case 2: return run(std::uint16_t{});
    case 4: return run(std::uint32_t{});
    default: return run(std::uint64_t{});
  }
}

std::int64_t compact_iota(std::int64_t first, const std::uint8_t* mask, std::int64_t count,
                          std::int64_t* to, std::int64_t room) {
  const hn::ScalableTag<std::int64_t> d;
  const auto load_from = [d, first](std::int64_t i) { return hn::Iota(d, first + i); };
  const auto at = [first](std::int64_t i) { return first + i; };
  return compact(d, load_from, at, mask, count, to, room);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(count_bytes);
HWY_EXPORT(compact_by_size);
HWY_EXPORT(compact_iota);

std::int64_t count_true(const std::uint8_t* mask, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(count_bytes)(mask, count);
}
std::int64_t compact_row(const std::byte* from, std::int64_t bytes, const std::uint8_t* mask,
                         std::int64_t count, std::byte* to, std::int64_t room) {
  return HWY_DYNAMIC_DISPATCH(compact_by_size)(from, bytes, mask, count, to, room);
}
std::int64_t compact_numbers(std::int64_t first, const std::uint8_t* mask, std::int64_t count,
                             std::int64_t* to, std::int64_t room) {
  return HWY_DYNAMIC_DISPATCH(compact_iota)(first, mask, count, to, room);
}
}  // namespace loup::kernels
#endif
