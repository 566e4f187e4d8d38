#pragma once

#include <array>
#include <cstdint>

namespace loup::kernels {

using PhiloxBlock = std::array<std::uint32_t, 4>;

inline constexpr std::uint32_t philox_multipliers[2] = {0xD2511F53U, 0xCD9E8D57U};
inline constexpr std::uint32_t philox_weyl[2] = {0x9E3779B9U, 0xBB67AE85U};
inline constexpr int philox_rounds = 10;

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011):
/// four random words for every pair of a counter and a key.
constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < philox_rounds; ++round) {
    const std::uint64_t a = static_cast<std::uint64_t>(counter[0]) * philox_multipliers[0];
    const std::uint64_t b = static_cast<std::uint64_t>(counter[2]) * philox_multipliers[1];
    counter = {
        static_cast<std::uint32_t>(b >> 32U) ^ counter[1] ^ key0, static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32U) ^ counter[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += philox_weyl[0];
    key1 += philox_weyl[1];
  }
  return counter;
}

/// A sequence of random words that any thread can enter anywhere: word i is word i % 4 of the block
/// whose counter is `first_block` + i / 4.
struct RandomStream {
  std::uint64_t key;
  std::uint64_t first_block;

  /// The stream from word `word` on, which is a multiple of 4.
  constexpr RandomStream from(std::int64_t word) const {
    return {key, first_block + static_cast<std::uint64_t>(word) / 4};
  }
  constexpr PhiloxBlock block(std::uint64_t index, std::uint32_t retry = 0) const {
    const std::uint64_t counter = first_block + index;
    return philox(
        {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32U), retry, 0},
        key);
  }
  /// Word i. Who had to reject it takes what stands in its place in the next of 2^32 retries:
  /// that keeps every element a function of its index.
  constexpr std::uint32_t word(std::int64_t i, std::uint32_t retry = 0) const {
    const auto index = static_cast<std::uint64_t>(i);
    return block(index / 4, retry)[index % 4];
  }
  /// Words 2 * i and 2 * i + 1 as one of 64 bits.
  constexpr std::uint64_t long_word(std::int64_t i, std::uint32_t retry = 0) const {
    const auto index = static_cast<std::uint64_t>(i);
    const PhiloxBlock words = block(index / 2, retry);
    const std::uint64_t low = words[index % 2 * 2];
    return low | static_cast<std::uint64_t>(words[index % 2 * 2 + 1]) << 32U;
  }
};

}  // namespace loup::kernels
