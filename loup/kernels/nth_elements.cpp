#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "loup/kernels/nth.h"

namespace loup::kernels {

namespace {

template <class T>
T element_of(std::int64_t key) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(key);
  } else {
    using Word =
        std::conditional_t<sizeof(T) == 8, std::uint64_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    constexpr auto magnitude = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1U);
    const auto bits = static_cast<Word>(key);
    return std::bit_cast<T>(static_cast<Word>(key < 0 ? bits ^ magnitude : bits));
  }
}

/// Half types are compared as floats.
template <class T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T>
bool is_same(T a, T b) {
  const auto x = comparable(a);
  const auto y = comparable(b);
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    return x == y || (std::isnan(x) && std::isnan(y));
  } else {
    return x == y;
  }
}

template <class T>
void find_first_of(const NthBlock& block, const T* values, std::int64_t value_line,
                   std::int64_t* positions) {
  const T* const x = reinterpret_cast<const T*>(block.x);
  for (std::int64_t line = 0; line < block.lines; ++line) positions[line * value_line] = -1;
  std::int64_t open = block.lines;
  // Lines side by side are read together, as they lie in memory.
  for (std::int64_t i = 0; i < block.size && open > 0; ++i) {
    for (std::int64_t line = 0; line < block.lines; ++line) {
      std::int64_t& position = positions[line * value_line];
      if (position >= 0) continue;
      if (block.mask != nullptr && block.mask[line * block.mask_line + i * block.mask_step] == 0) {
        continue;
      }
      if (!is_same(x[line * block.x_line + i * block.x_step], values[line * value_line])) continue;
      position = i;
      --open;
    }
  }
}

}  // namespace

void write_key(DType dtype, std::int64_t key, std::byte* to) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const T value = element_of<T>(key);
    std::memcpy(to, &value, sizeof(T));
  });
}

double value_of_key(DType dtype, std::int64_t key) {
  return visit_dtype(
      dtype, [&]<class T>(std::type_identity<T>) { return convert<double>(element_of<T>(key)); });
}

void find_first(DType dtype, const NthBlock& block, const std::byte* values,
                std::int64_t value_line, std::int64_t* positions) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    find_first_of(block, reinterpret_cast<const T*>(values), value_line, positions);
  });
}

}  // namespace loup::kernels
