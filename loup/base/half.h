#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace loup {

/// A float that halves round to as `value` itself: 16 significant bits, the last one set when there
/// was more. So many are exact also in subnormal floats, as far as halves reach.
inline float float_for_half(double value) {
  constexpr std::uint64_t rest = (std::uint64_t{1} << 37U) - 1U;
  const auto word = std::bit_cast<std::uint64_t>(value);
  return static_cast<float>(std::bit_cast<double>((word | ((word & rest) + rest)) & ~rest));
}

/// IEEE binary16, for storage: computed with as float. Rounds once, to nearest and ties to even.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(encode(value)) {}
  explicit Float16(double value) : Float16(float_for_half(value)) {}
  explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
    const std::uint32_t mantissa = bits & 0x3FFU;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
      return sign != 0 ? -magnitude : magnitude;
    }
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
  }

 private:
  static std::uint16_t encode(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16U) & 0x8000U;
    const std::uint32_t magnitude = word & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) {
      return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x3FFU));
    }
    if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
    if (magnitude < 0x38800000U) {
      // Adding 0.5 moves the subnormal's bits to the end of the word and rounds them to even.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
    }
    const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
  }
};

/// The upper half of a float, for storage: computed with as float. Rounds once, to nearest and ties
/// to even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(encode(value)) {}
  explicit BFloat16(double value) : BFloat16(float_for_half(value)) {}
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }

 private:
  static std::uint16_t encode(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>((word >> 16U) | 0x40U);
    return static_cast<std::uint16_t>((word + 0x7FFFU + ((word >> 16U) & 1U)) >> 16U);
  }
};

}  // namespace loup
