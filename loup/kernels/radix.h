#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
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

/// The digits by which keys are sorted, least significant first: where each begins. Bits that are
/// the same in all keys are left out.
struct Digits {
  Digits(std::uint64_t varying, std::int64_t count) {
    // Many short digits cost passes, long ones cost counters.
    bits = count < 4096 ? 8 : 11;
    for (unsigned shift = 0; shift < 64 && varying >> shift != 0; shift += bits) {
      shift += static_cast<unsigned>(std::countr_zero(varying >> shift));
      shifts[passes++] = shift;
    }
  }
  std::size_t size() const { return std::size_t{1} << bits; }

  unsigned bits;
  std::size_t passes = 0;
  std::array<unsigned, 8> shifts;
};

/// How often each digit of passes [first, first + N) occurs. Several at once read the items once.
template <std::size_t N, class Item, class Count>
void count_digits(const Digits& digits, std::size_t first, const Item* begin, const Item* end,
                  Count* counts) {
  const std::size_t size = digits.size();
  std::array<unsigned, N> shifts;
  std::copy_n(digits.shifts.begin() + static_cast<std::ptrdiff_t>(first), N, shifts.begin());
  for (const Item* item = begin; item != end; ++item) {
    const std::uint64_t key = item->key();
    for (std::size_t k = 0; k < N; ++k) ++counts[k * size + (key >> shifts[k] & (size - 1))];
  }
}

template <class Item, class Count>
void move_items(const Digits& digits, std::size_t pass, const Item* begin, const Item* end,
                Item* to, Count* places) {
  const unsigned shift = digits.shifts[pass];
  const std::size_t last = digits.size() - 1;
  for (const Item* item = begin; item != end; ++item) {
    to[places[item->key() >> shift & last]++] = *item;
  }
}

template <class Count>
void sum_up(Count* counts, std::size_t digits, std::size_t parts) {
  Count next = 0;
  for (std::size_t d = 0; d < digits; ++d) {
    for (std::size_t part = 0; part < parts; ++part) {
      next += std::exchange(counts[part * digits + d], next);
    }
  }
}

template <class Count, class Item>
Item* radix_sort_alone(const Digits& digits, Item* items, Item* spare, std::int64_t count) {
  std::vector<Count> counts(digits.passes * digits.size());
  std::size_t counted = 0;
  for (; counted + 3 <= digits.passes; counted += 3) {
    count_digits<3>(digits, counted, items, items + count, counts.data() + counted * digits.size());
  }
  for (; counted < digits.passes; ++counted) {
    count_digits<1>(digits, counted, items, items + count, counts.data() + counted * digits.size());
  }
  for (std::size_t pass = 0; pass < digits.passes; ++pass) {
    Count* const own = counts.data() + pass * digits.size();
    sum_up(own, digits.size(), 1);
    move_items(digits, pass, items, items + count, spare, own);
    std::swap(items, spare);
  }
  return items;
}

/// Every part counts its own digits and knows from the others where they go.
template <class Count, class Item>
Item* radix_sort_together(const Digits& digits, Item* items, Item* spare, const Parts& parts) {
  std::vector<Count> counts(static_cast<std::size_t>(parts.parts) * digits.size());
  for (std::size_t pass = 0; pass < digits.passes; ++pass) {
    const auto each = [&](auto&& run) {
      parallel_for(parts.parts, [&](std::int64_t part) {
        run(items + parts.begin(part), items + parts.begin(part + 1),
            counts.data() + static_cast<std::size_t>(part) * digits.size());
      });
    };
    std::fill(counts.begin(), counts.end(), Count{0});
    each([&](const Item* begin, const Item* end, Count* own) {
      count_digits<1>(digits, pass, begin, end, own);
    });
    sum_up(counts.data(), digits.size(), static_cast<std::size_t>(parts.parts));
    each([&](const Item* begin, const Item* end, Count* own) {
      move_items(digits, pass, begin, end, spare, own);
    });
    std::swap(items, spare);
  }
  return items;
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

/// Sorts `count` items by key; equal keys must stand in the order of their positions, and keep it.
/// `spare` has room for as many. `varying` has the bits in which keys differ. Returns where the
/// result is: in one of the two. With `parts` above 1 that many threads share the work.
template <class Item>
Item* radix_sort(Item* items, Item* spare, std::int64_t count, std::uint64_t varying,
                 std::int64_t parts = 1) {
  if (count <= 32) {
    detail::insertion_sort(items, count);
    return items;
  }
  const detail::Digits digits(varying, count);
  using Count = std::conditional_t<std::is_same_v<Item, Packed>, std::uint32_t, std::uint64_t>;
  if (parts > 1) {
    return detail::radix_sort_together<Count>(digits, items, spare, Parts{count, parts});
  }
  return detail::radix_sort_alone<Count>(digits, items, spare, count);
}

}  // namespace loup::kernels
