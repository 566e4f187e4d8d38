#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "loup/base/parallel.h"

// Stable radix sort of keys with their positions, least significant digit first.

namespace loup::kernels {

/// A key of up to 32 bits above the position, in one word: comparing words compares keys, and among
/// equal keys positions.
struct Packed {
  std::uint64_t word;

  static Packed of(std::uint64_t key, std::uint64_t position) { return {key << 32U | position}; }
  std::uint64_t key() const { return word >> 32U; }
  std::int64_t position() const { return static_cast<std::int64_t>(word & 0xFFFFFFFFU); }
  friend bool operator<(const Packed& a, const Packed& b) { return a.word < b.word; }
};

struct Wide {
  std::uint64_t word;
  std::int64_t place;

  static Wide of(std::uint64_t key, std::uint64_t position) {
    return {key, static_cast<std::int64_t>(position)};
  }
  std::uint64_t key() const { return word; }
  std::int64_t position() const { return place; }
  friend bool operator<(const Wide& a, const Wide& b) {
    return a.word < b.word || (a.word == b.word && a.place < b.place);
  }
};

/// A range cut into nearly equal parts.
struct Parts {
  std::int64_t count, parts;
  std::int64_t begin(std::int64_t part) const {
    return count / parts * part + std::min(part, count % parts);
  }
};

namespace detail {

/// Many short digits cost passes, long ones cost counters.
inline unsigned digit_bits(std::int64_t count) { return count < 4096 ? 8 : 11; }
inline constexpr std::size_t most_digits = 1U << 11U;

/// One pass over `parts` of the items, each on its own thread: counts of each digit in each part,
/// then where the first of them goes, then moves.
template <class Item>
void radix_pass(const Item* from, Item* to, std::int64_t count, unsigned shift, unsigned bits,
                std::int64_t parts) {
  const std::size_t digits = std::size_t{1} << bits;
  const auto digit = [=](const Item& item) { return item.key() >> shift & (digits - 1); };
  std::vector<std::uint64_t> places(static_cast<std::size_t>(parts) * digits, 0);
  const Parts ranges{count, parts};
  parallel_for(parts, [&](std::int64_t part) {
    std::uint64_t* const own = places.data() + static_cast<std::size_t>(part) * digits;
    for (std::int64_t i = ranges.begin(part); i < ranges.begin(part + 1); ++i)
      ++own[digit(from[i])];
  });
  std::uint64_t next = 0;
  for (std::size_t d = 0; d < digits; ++d) {
    for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
      next += std::exchange(places[part * digits + d], next);
    }
  }
  parallel_for(parts, [&](std::int64_t part) {
    std::uint64_t* const own = places.data() + static_cast<std::size_t>(part) * digits;
    for (std::int64_t i = ranges.begin(part); i < ranges.begin(part + 1); ++i)
      to[own[digit(from[i])]++] = from[i];
  });
}

template <class Item>
void insertion_sort(Item* items, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i) {
    const Item item = items[i];
    std::int64_t at = i;
    for (; at > 0 && item < items[at - 1]; --at) items[at] = items[at - 1];
    items[at] = item;
  }
}

}  // namespace detail

/// Sorts `count` items by key, positions of equal keys in order as they stand; `spare` has room for
/// as many. `varying` has the bits in which keys differ. Returns where the result is: in one of the
/// two. With `parts` above 1 that many threads share the work.
template <class Item>
Item* radix_sort(Item* items, Item* spare, std::int64_t count, std::uint64_t varying,
                 std::int64_t parts = 1) {
  if (count <= 32) {
    detail::insertion_sort(items, count);
    return items;
  }
  const unsigned bits = detail::digit_bits(count);
  for (unsigned shift = 0; shift < 64; shift += bits) {
    // Bits that are the same in all keys need no pass: begin at the next that is not.
    if (varying >> shift == 0) break;
    shift += static_cast<unsigned>(std::countr_zero(varying >> shift));
    detail::radix_pass(items, spare, count, shift, bits, parts);
    std::swap(items, spare);
  }
  return items;
}

}  // namespace loup::kernels
