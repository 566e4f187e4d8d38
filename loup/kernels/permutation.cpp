#include "loup/kernels/permutation.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <utility>
#include <vector>

#include "loup/base/parallel.h"
#include "loup/kernels/random.h"

namespace loup::kernels {

namespace {

/// As many numbers as are shuffled at once: they stay in the second-level cache.
constexpr std::int64_t bucket_size = 16 * 1024;
constexpr int most_bucket_bits = 12;
/// Parts in which numbers are dealt to buckets. Fixed, so that the order depends on no threads.
constexpr std::int64_t deal_parts = 64;
constexpr std::int64_t piece = 1024;

/// An index below `span`, each equally likely; see random_integers().
std::uint32_t index_below(std::uint32_t span, const RandomStream& stream, std::int64_t i,
                          std::uint32_t word) {
  std::uint64_t product = static_cast<std::uint64_t>(word) * span;
  if (static_cast<std::uint32_t>(product) < span) {
    const std::uint32_t rejected = (0U - span) % span;
    for (std::uint32_t retry = 1; static_cast<std::uint32_t>(product) < rejected; ++retry) {
      product = static_cast<std::uint64_t>(stream.word(i, retry)) * span;
    }
  }
  return static_cast<std::uint32_t>(product >> 32U);
}

/// Shuffles `to[0 … count)` by Fisher and Yates; number k uses word `first_word` + k.
void shuffle(std::int64_t* to, std::int64_t count, const RandomStream& stream,
             std::int64_t first_word) {
  assert(count < INT64_C(1) << 32);  // 4096 buckets that large would not fit into any memory
  std::uint32_t words[piece + 4];
  for (std::int64_t k = 0; k < count; k += piece) {
    const std::int64_t n = std::min(piece, count - k);
    const std::int64_t aligned = (first_word + k) / 4 * 4;
    const std::int64_t skipped = first_word + k - aligned;
    random_words(stream.from(aligned), words, n + skipped);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t i = k + j;
      const auto span = static_cast<std::uint32_t>(i + 1);
      std::swap(to[i], to[index_below(span, stream, first_word + i, words[skipped + j])]);
    }
  }
}

/// Calls `deal(number, bucket)` for the numbers [first, last); word i says where number i goes.
template <class Deal>
void for_each_bucket(const RandomStream& stream, std::int64_t first, std::int64_t last, int bits,
                     Deal deal) {
  std::uint32_t words[piece];
  for (std::int64_t i = first; i < last; i += piece) {
    const std::int64_t n = std::min(piece, last - i);
    random_words(stream.from(i), words, n);
    for (std::int64_t j = 0; j < n; ++j) deal(i + j, words[j] >> static_cast<unsigned>(32 - bits));
  }
}

}  // namespace

// A number goes to a random bucket, then each bucket is shuffled by itself (Rao, 1961; Sandelius,
// 1962): all orders are equally likely, and unlike one long shuffle this jumps about in the cache
// only.
void random_permutation(const RandomStream& stream, std::int64_t* to, std::int64_t count) {
  if (count <= 2 * bucket_size) {
    std::iota(to, to + count, 0);
    return shuffle(to, count, stream, (count + 3) / 4 * 4);
  }
  const auto wanted = static_cast<std::uint64_t>(count / bucket_size);
  const int bits = std::min(static_cast<int>(std::bit_width(wanted)), most_bucket_bits);
  const auto buckets = std::size_t{1} << static_cast<unsigned>(bits);
  const std::int64_t part = (count / deal_parts + piece) / piece * piece;
  const auto range = [&](std::int64_t p) {
    return std::pair{std::min(count, p * part), std::min(count, (p + 1) * part)};
  };
  std::vector<std::int64_t> places(static_cast<std::size_t>(deal_parts) * buckets);
  const auto places_of = [&](std::int64_t p) {
    return places.data() + static_cast<std::size_t>(p) * buckets;
  };
  parallel_for(deal_parts, [&](std::int64_t p) {
    std::int64_t* const sizes = places_of(p);
    const auto [first, last] = range(p);
    for_each_bucket(stream, first, last, bits, [&](std::int64_t, std::uint32_t b) { ++sizes[b]; });
  });
  std::vector<std::int64_t> starts(buckets + 1);
  std::int64_t next = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    starts[b] = next;
    for (std::int64_t p = 0; p < deal_parts; ++p) {
      next += std::exchange(places_of(p)[b], next);
    }
  }
  starts[buckets] = next;
  parallel_for(deal_parts, [&](std::int64_t p) {
    std::int64_t* const place = places_of(p);
    const auto [first, last] = range(p);
    for_each_bucket(stream, first, last, bits,
                    [&](std::int64_t i, std::uint32_t b) { to[place[b]++] = i; });
  });
  const std::int64_t shuffle_words = (count + 3) / 4 * 4;
  parallel_for(static_cast<std::int64_t>(buckets), [&](std::int64_t b) {
    const std::int64_t start = starts[static_cast<std::size_t>(b)];
    const std::int64_t end = starts[static_cast<std::size_t>(b) + 1];
    shuffle(to + start, end - start, stream, shuffle_words + start);
  });
}

}  // namespace loup::kernels
