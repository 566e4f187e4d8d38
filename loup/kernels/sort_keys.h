#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "loup/base/half.h"

// Elements as unsigned integers of the same order, which is what sorting compares. NaN is the
// greatest; all NaN are equal, and so are 0 and -0.

namespace loup::kernels {

template <class T>
using SortKey = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// How many bits of a key may differ.
template <class T>
inline constexpr int key_bits = static_cast<int>(8 * sizeof(T));

namespace detail {
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
template <class T>
inline constexpr WordOf<T> sign_bit = static_cast<WordOf<T>>(WordOf<T>{1} << (8 * sizeof(T) - 1));
/// The bits of infinity: above it there are only NaN.
template <class T>
constexpr WordOf<T> infinity_bits() {
  if constexpr (std::is_same_v<T, Float16>) {
    return 0x7C00;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 0x7F80;
  } else {
    return std::bit_cast<WordOf<T>>(std::numeric_limits<T>::infinity());
  }
}
}  // namespace detail

template <class T>
SortKey<T> key_of(T value) {
  if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    constexpr auto lowest = static_cast<Unsigned>(std::numeric_limits<T>::min());
    return static_cast<Unsigned>(static_cast<Unsigned>(value) ^ lowest);
  } else {
    using Word = detail::WordOf<T>;
    constexpr Word sign = detail::sign_bit<T>;
    const auto bits = std::bit_cast<Word>(value);
    const auto magnitude = static_cast<Word>(bits & ~sign);
    // Of negative numbers the greater magnitude is the smaller.
    const bool is_negative = (bits & sign) != 0;
    const auto ordered = static_cast<Word>(is_negative ? sign - magnitude : sign + magnitude);
    return magnitude > detail::infinity_bits<T>() ? std::numeric_limits<Word>::max() : ordered;
  }
}

/// Whether several elements have this key, so that it does not tell which one it is.
template <class T>
bool is_shared_key(SortKey<T> key) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    using Word = detail::WordOf<T>;
    return key == detail::sign_bit<T> || key == std::numeric_limits<Word>::max();
  }
}

/// The element of a key that is not shared.
template <class T>
T value_of(SortKey<T> key) {
  if constexpr (std::is_same_v<T, bool>) {
    return key != 0;
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(key);
  } else if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    constexpr auto lowest = static_cast<Unsigned>(std::numeric_limits<T>::min());
    return static_cast<T>(static_cast<Unsigned>(key) ^ lowest);
  } else {
    using Word = detail::WordOf<T>;
    constexpr Word sign = detail::sign_bit<T>;
    const auto ordered = static_cast<Word>(key);
    const auto negative = static_cast<Word>((sign - ordered) | sign);
    return std::bit_cast<T>(ordered < sign ? negative : static_cast<Word>(ordered - sign));
  }
}

}  // namespace loup::kernels
