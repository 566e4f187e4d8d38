#pragma once

#include <cstdint>

#include "loup/export.h"
#include "loup/kernels/philox.h"

// Random elements as functions of the words of a stream: element i is made of word i, or of words
// 2 * i and 2 * i + 1 where it says "two words". So numbers depend neither on threads nor on the
// instruction set, and a piece that starts at a multiple of four words can be made by itself from
// `stream.from(word)`.

namespace loup::kernels {

/// The words themselves.
LOUP_EXPORT void random_words(const RandomStream& stream, std::uint32_t* to, std::int64_t count);

/// low + u * width where u is uniform in [0, 1), cut off at `last`. Of the bits of the result those
/// in `kept_bits` remain, for what will be rounded to fewer.
template <class T>
struct UniformRange {
  T low = 0;
  T width = 1;
  T last = 1;
  std::uint32_t kept_bits = 0xFFFFFFFFU;  // float only
};
LOUP_EXPORT void random_uniform(const RandomStream& stream, float* to, std::int64_t count,
                                const UniformRange<float>& range);
/// Two words for each element.
LOUP_EXPORT void random_uniform(const RandomStream& stream, double* to, std::int64_t count,
                                const UniformRange<double>& range);

/// mean + std * z where z is standard normal: pairs of elements from pairs of words.
LOUP_EXPORT void random_normal(const RandomStream& stream, float* to, std::int64_t count,
                               float mean, float std);
/// Two words for each element.
LOUP_EXPORT void random_normal(const RandomStream& stream, double* to, std::int64_t count,
                               double mean, double std);

/// The integers low, …, low + span - 1, all exactly equally likely; the span is short.
LOUP_EXPORT void random_integers(const RandomStream& stream, std::int32_t* to, std::int64_t count,
                                 std::int32_t low, std::uint32_t span);
/// Any span, 0 meaning 2^64. Two words for each element when it is long.
LOUP_EXPORT void random_integers(const RandomStream& stream, std::int64_t* to, std::int64_t count,
                                 std::int64_t low, std::uint64_t span);
/// A word chooses among at most 2^24 numbers: with more, it would be rejected too often.
constexpr bool is_long_span(std::uint64_t span) { return span - 1 >= (std::uint64_t{1} << 24U); }

/// How many of the 2^32 words stand for an event of probability `p`, which lies in [0, 1].
constexpr std::uint64_t word_limit(double p) {
  const double words = p * 0x1p32;
  const auto whole = static_cast<std::uint64_t>(words);
  return static_cast<double>(whole) < words ? whole + 1 : whole;
}
/// 1 where the word lies below `limit`, 0 elsewhere.
LOUP_EXPORT void random_bernoulli(const RandomStream& stream, std::uint8_t* to, std::int64_t count,
                                  std::uint64_t limit);
LOUP_EXPORT void random_bernoulli(const RandomStream& stream, float* to, std::int64_t count,
                                  std::uint64_t limit);
/// The same with a probability for each element.
LOUP_EXPORT void random_bernoulli(const RandomStream& stream, std::uint8_t* to, std::int64_t count,
                                  const double* p);

/// to = x * scale, or 0 where the word lies below `limit`. Unless `kept` is null, it is told which.
LOUP_EXPORT void random_dropout(const RandomStream& stream, const float* x, float* to,
                                std::uint8_t* kept, std::int64_t count, std::uint64_t limit,
                                float scale);
LOUP_EXPORT void random_dropout(const RandomStream& stream, const double* x, double* to,
                                std::uint8_t* kept, std::int64_t count, std::uint64_t limit,
                                double scale);

}  // namespace loup::kernels
