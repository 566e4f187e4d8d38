#include "loup/kernels/convert.h"

#include <array>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/convert.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// As many lanes as vectors of the larger type have: the other one's are smaller.
template <class To, class From>
using ConvertTag =
    hn::ScalableTag<std::conditional_t<sizeof(Widened<To>) == 8 || sizeof(Widened<From>) == 8,
                                       std::int64_t, std::int32_t>>;

template <class To, class From>
HWY_INLINE bool convert_vector(To* to, const From* from) {
  const hn::Rebind<Widened<From>, ConvertTag<To, From>> d_from;
  const auto v = load_widened(d_from, from);
  if constexpr (std::is_same_v<To, bool>) {
    store_truth(d_from, v, to);
    return true;
  } else {
    const hn::Rebind<Widened<To>, decltype(d_from)> d_to;
    hn::Vec<decltype(d_to)> result;
    bool is_right = false;
    if constexpr (rounds_twice<To, From>) {
      is_right = change_for_half(d_to, v, result);
    } else {
      is_right = change(d_to, v, result);
    }
    store_narrowed(d_to, result, to);
    return is_right;
  }
}

template <class To, class From>
HWY_NOINLINE void convert_slowly(To* to, const From* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
}

template <class To, class From>
void convert_run(void* to, const void* from, std::int64_t count) {
  if constexpr (std::is_same_v<To, From>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
  } else {
    constexpr std::int64_t N = lanes<ConvertTag<To, From>>;
    To* const out = static_cast<To*>(to);
    const From* const in = static_cast<const From*>(from);
    std::int64_t i = 0;
    for (; i + N <= count; i += N) {
      if (HWY_UNLIKELY(!convert_vector(out + i, in + i))) convert_slowly(out + i, in + i, N);
    }
    convert_slowly(out + i, in + i, count - i);
  }
}

using ConvertRow = std::array<ConvertRun, dtype_count>;

template <class To>
ConvertRow runs_to() {
  ConvertRow result{};
  for (int i = 0; i < dtype_count; ++i) {
    visit_dtype(static_cast<DType>(i), [&]<class From>(std::type_identity<From>) {
      result[static_cast<std::size_t>(i)] = convert_run<To, From>;
    });
  }
  return result;
}

ConvertRun find(DType to, DType from) {
  static const auto table = [] {
    std::array<ConvertRow, dtype_count> result{};
    for (int i = 0; i < dtype_count; ++i) {
      visit_dtype(static_cast<DType>(i), [&]<class To>(std::type_identity<To>) {
        result[static_cast<std::size_t>(i)] = runs_to<To>();
      });
    }
    return result;
  }();
  return table[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)];
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find);
ConvertRun find_convert(DType to, DType from) { return HWY_DYNAMIC_DISPATCH(find)(to, from); }
}  // namespace loup::kernels
#endif
