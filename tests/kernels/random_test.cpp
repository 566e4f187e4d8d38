#include "loup/kernels/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

constexpr RandomStream stream{0x0123456789ABCDEFU, 0xFFFFFFF0U};  // soon carries into 33 bits

// The known answers of the paper's authors, in Random123.
static_assert(philox({0, 0, 0, 0}, 0) ==
              PhiloxBlock{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U});
static_assert(philox({0xffffffffU, 0xffffffffU, 0xffffffffU, 0xffffffffU}, ~std::uint64_t{0}) ==
              PhiloxBlock{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU});
static_assert(philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, 0x299f31d0a4093822U) ==
              PhiloxBlock{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U});

/// The elements 0 … count - 1 that `make(stream, to, count)` writes.
template <class T, class Make>
std::vector<T> made(std::int64_t count, Make make) {
  std::vector<T> result(static_cast<std::size_t>(count));
  make(stream, result.data(), count);
  return result;
}

/// Expects `make` to give what `element(i)` gives, on every instruction set and bit by bit, also in
/// pieces, and to write nothing beyond them.
template <class T, class Make, class Element>
void expect_elements(int words, Make make, Element element) {
  constexpr std::int64_t count = 200;
  std::vector<T> wanted;
  for (std::int64_t i = 0; i < count; ++i) wanted.push_back(static_cast<T>(element(i)));
  test::for_each_target([&] {
    for (std::int64_t n = 0; n <= count; ++n) {
      const test::Guarded<T> to(std::vector<T>(static_cast<std::size_t>(n)));
      make(stream, to.data(), n);
      ASSERT_EQ(std::memcmp(to.data(), wanted.data(), static_cast<std::size_t>(n) * sizeof(T)), 0)
          << n << " elements";
    }
    const auto rest = made<T>(count - 12, [&](const RandomStream& s, T* to, std::int64_t n) {
      make(s.from(12 * words), to, n);
    });
    EXPECT_EQ(std::memcmp(rest.data(), wanted.data() + 12, rest.size() * sizeof(T)), 0);
  });
}

TEST(RandomWords, AreThoseOfPhiloxInTheOrderOfItsCounters) {
  expect_elements<std::uint32_t>(
      1, [](auto&&... arguments) { random_words(arguments...); },
      [](std::int64_t i) { return stream.word(i); });
}

TEST(RandomWords, PairUpToLongWords) {
  const std::uint64_t low = stream.word(6);
  const std::uint64_t high = stream.word(7);
  EXPECT_EQ(stream.long_word(3), low | high << 32U);
}

TEST(RandomWords, DifferInEveryRetry) {
  EXPECT_NE(stream.word(5, 0), stream.word(5, 1));
  EXPECT_NE(stream.word(5, 1), stream.word(5, 2));
}

TEST(RandomUniform, TakesTheUpper24BitsOfAWordForAFloat) {
  expect_elements<float>(
      1, [](const auto& s, float* to, std::int64_t n) { random_uniform(s, to, n, {}); },
      [](std::int64_t i) { return static_cast<float>(stream.word(i) >> 8U) * 0x1p-24F; });
}

TEST(RandomUniform, TakesTheUpper53BitsOfTwoWordsForADouble) {
  expect_elements<double>(
      2, [](const auto& s, double* to, std::int64_t n) { random_uniform(s, to, n, {}); },
      [](std::int64_t i) { return static_cast<double>(stream.long_word(i) >> 11U) * 0x1p-53; });
}

TEST(RandomUniform, MapsToARangeAndCutsItOff) {
  const UniformRange<float> range{.low = -3, .width = 2, .last = -1.5F};
  expect_elements<float>(
      1, [&](const auto& s, float* to, std::int64_t n) { random_uniform(s, to, n, range); },
      [](std::int64_t i) {
        const float u = static_cast<float>(stream.word(i) >> 8U) * 0x1p-24F;
        return std::min(-3 + u * 2, -1.5F);
      });
}

TEST(RandomUniform, KeepsOnlyTheBitsAskedFor) {
  const UniformRange<float> range{.kept_bits = 0xFFFF0000U};
  expect_elements<float>(
      1, [&](const auto& s, float* to, std::int64_t n) { random_uniform(s, to, n, range); },
      [](std::int64_t i) {
        const float u = static_cast<float>(stream.word(i) >> 8U) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(u) & 0xFFFF0000U);
      });
}

/// Box and Muller in long double; `unit` is the probability of one word.
template <class Word>
std::pair<long double, long double> normal_pair(Word radius, Word angle) {
  const long double unit = std::ldexp(1.0L, -8 * static_cast<int>(sizeof(Word)));
  const long double u = (static_cast<long double>(radius) + 0.5L) * unit;
  const long double r = std::sqrt(-2 * std::log(u));
  const long double turn = 2 * std::numbers::pi_v<long double> * unit;
  const long double phi = static_cast<long double>(angle) * turn;
  return {r * std::cos(phi), r * std::sin(phi)};
}

TEST(RandomNormal, AgreesWithBoxAndMullerInFloat) {
  test::for_each_target([] {
    const auto z = made<float>(
        100000, [](const auto& s, float* to, std::int64_t n) { random_normal(s, to, n, 0, 1); });
    for (std::int64_t i = 0; i < std::ssize(z); i += 2) {
      const auto [x, y] = normal_pair(stream.word(i), stream.word(i + 1));
      ASSERT_NEAR(z[static_cast<std::size_t>(i)], static_cast<double>(x), 1e-6) << i;
      ASSERT_NEAR(z[static_cast<std::size_t>(i + 1)], static_cast<double>(y), 1e-6) << i;
    }
  });
}

TEST(RandomNormal, AgreesWithBoxAndMullerInDouble) {
  test::for_each_target([] {
    const auto z = made<double>(
        100000, [](const auto& s, double* to, std::int64_t n) { random_normal(s, to, n, 0, 1); });
    for (std::int64_t i = 0; i < std::ssize(z); i += 2) {
      // Of a word, 53 bits are used: with the middle of what they leave open both are the same.
      const std::uint64_t radius = (stream.long_word(i) & ~std::uint64_t{0x7FF}) | 0x3FFU;
      const auto [x, y] = normal_pair(radius, stream.long_word(i + 1) & ~std::uint64_t{0x1FF});
      ASSERT_NEAR(z[static_cast<std::size_t>(i)], static_cast<double>(x), 4e-15) << i;
      ASSERT_NEAR(z[static_cast<std::size_t>(i + 1)], static_cast<double>(y), 4e-15) << i;
    }
  });
}

template <class T>
void expect_normal_bits_everywhere(int words) {
  std::vector<T> wanted;
  const auto make = [](const RandomStream& s, T* to, std::int64_t n) {
    random_normal(s, to, n, T(0.1), T(3));
  };
  choose_target(targets().runnable.back());
  wanted = made<T>(20000, make);
  choose_target("");
  expect_elements<T>(words, make,
                     [&](std::int64_t i) { return wanted[static_cast<std::size_t>(i)]; });
  test::for_each_target([&] { EXPECT_EQ(made<T>(20000, make), wanted); });
}

TEST(RandomNormal, HasTheSameBitsOnEveryTargetInFloat) { expect_normal_bits_everywhere<float>(1); }

TEST(RandomNormal, HasTheSameBitsOnEveryTargetInDouble) {
  expect_normal_bits_everywhere<double>(2);
}

TEST(RandomIntegers, AreTheUpperHalfOfWordTimesSpan) {
  expect_elements<std::int32_t>(
      1,
      [](const auto& s, std::int32_t* to, std::int64_t n) { random_integers(s, to, n, -5, 1024); },
      [](std::int64_t i) {
        return -5 +
               static_cast<std::int32_t>(static_cast<std::uint64_t>(stream.word(i)) * 1024 >> 32U);
      });
}

/// What the definition says, with unlimited retries.
std::uint32_t short_reference(std::int64_t i, std::uint64_t span) {
  for (std::uint32_t retry = 0;; ++retry) {
    const std::uint64_t product = stream.word(i, retry) * span;
    if (product % (std::uint64_t{1} << 32U) >= (std::uint64_t{1} << 32U) % span) {
      return static_cast<std::uint32_t>(product >> 32U);
    }
  }
}

TEST(RandomIntegers, TriesTheNextWordWhereOneWouldBiasThem) {
  // 2^32 mod 15000001 is large: one word in 400 is rejected.
  constexpr std::int64_t count = 20000;
  constexpr std::uint32_t span = 15000001;
  std::vector<std::int32_t> wanted;
  std::vector<std::int64_t> wide;
  std::int64_t retried = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t value = short_reference(i, span);
    wanted.push_back(static_cast<std::int32_t>(value) - 7);
    wide.push_back(static_cast<std::int64_t>(value) - 7000000000);
    retried += value != static_cast<std::uint64_t>(stream.word(i)) * span >> 32U ? 1 : 0;
  }
  EXPECT_GT(retried, 5);
  test::for_each_target([&] {
    EXPECT_EQ(
        made<std::int32_t>(count, [](const auto& s, std::int32_t* to,
                                     std::int64_t n) { random_integers(s, to, n, -7, span); }),
        wanted);
    EXPECT_EQ(made<std::int64_t>(count,
                                 [](const auto& s, std::int64_t* to, std::int64_t n) {
                                   random_integers(s, to, n, -7000000000, span);
                                 }),
              wide);
  });
}

TEST(RandomIntegers, TakesTwoWordsForALongSpan) {
  constexpr std::uint64_t span = (std::uint64_t{1} << 63U) + 12345;  // half of the words rejected
  expect_elements<std::int64_t>(
      2,
      [](const auto& s, std::int64_t* to, std::int64_t n) {
        random_integers(s, to, n, INT64_MIN, span);
      },
      [](std::int64_t i) {
        for (std::uint32_t retry = 0;; ++retry) {
          const auto product = static_cast<unsigned __int128>(stream.long_word(i, retry)) * span;
          if (static_cast<std::uint64_t>(product) < (0 - span) % span) continue;
          return static_cast<std::int64_t>(static_cast<std::uint64_t>(INT64_MIN) +
                                           static_cast<std::uint64_t>(product >> 64U));
        }
      });
}

TEST(RandomIntegers, AreTheLongWordsThemselvesForASpanOf64Bits) {
  expect_elements<std::int64_t>(
      2,
      [](const auto& s, std::int64_t* to, std::int64_t n) {
        random_integers(s, to, n, INT64_MIN, 0);
      },
      [](std::int64_t i) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(INT64_MIN) +
                                         stream.long_word(i));
      });
}

TEST(WordLimit, RoundsUpAndReachesBothEnds) {
  EXPECT_EQ(word_limit(0), 0U);
  EXPECT_EQ(word_limit(1e-300), 1U);
  EXPECT_EQ(word_limit(0.25), std::uint64_t{1} << 30U);
  EXPECT_EQ(word_limit(1), std::uint64_t{1} << 32U);
}

TEST(RandomBernoulli, IsOneBelowTheLimit) {
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x40000000U},
                                    std::uint64_t{0x80000001U}, std::uint64_t{1} << 32U}) {
    SCOPED_TRACE(limit);
    expect_elements<std::uint8_t>(
        1,
        [=](const auto& s, std::uint8_t* to, std::int64_t n) { random_bernoulli(s, to, n, limit); },
        [=](std::int64_t i) { return stream.word(i) < limit ? 1 : 0; });
    expect_elements<float>(
        1, [=](const auto& s, float* to, std::int64_t n) { random_bernoulli(s, to, n, limit); },
        [=](std::int64_t i) { return stream.word(i) < limit ? 1.0F : 0.0F; });
  }
}

TEST(RandomBernoulli, AgreesWithTheLimitWhereEveryElementHasItsProbability) {
  std::vector<double> p(200);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<double>(i % 11) / 10;
  expect_elements<std::uint8_t>(
      1,
      [&](const RandomStream& s, std::uint8_t* to, std::int64_t n) {
        random_bernoulli(s, to, n, p.data() + (s.first_block - stream.first_block) * 4);
      },
      [&](std::int64_t i) {
        return stream.word(i) < word_limit(p[static_cast<std::size_t>(i)]) ? 1 : 0;
      });
}

template <class T>
void expect_dropout() {
  const std::uint64_t limit = 0x60000000U;
  std::vector<T> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = stream.word(static_cast<std::int64_t>(i)) < limit ? std::numeric_limits<T>::quiet_NaN()
                                                             : static_cast<T>(i);
  }
  test::for_each_target([&] {
    for (std::size_t n = 0; n <= x.size(); ++n) {
      const test::Guarded<T> from(std::vector<T>(x.begin(), x.begin() + static_cast<long>(n)));
      const test::Guarded<T> to{std::vector<T>(n)};
      const test::Guarded<std::uint8_t> kept{std::vector<std::uint8_t>(n)};
      random_dropout(stream, from.data(), to.data(), kept.data(), static_cast<std::int64_t>(n),
                     limit, T(1.5));
      for (std::size_t i = 0; i < n; ++i) {
        const bool is_kept = stream.word(static_cast<std::int64_t>(i)) >= limit;
        ASSERT_EQ(to.data()[i], is_kept ? T(1.5) * static_cast<T>(i) : T(0)) << i << " of " << n;
        ASSERT_EQ(kept.data()[i], is_kept ? 1 : 0) << i << " of " << n;
      }
      random_dropout(stream, from.data(), to.data(), nullptr, static_cast<std::int64_t>(n), 0,
                     T(2));
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(std::isnan(to.data()[i]), std::isnan(x[i]));
    }
  });
}

TEST(RandomDropout, SelectsAndScalesFloats) { expect_dropout<float>(); }
TEST(RandomDropout, SelectsAndScalesDoubles) { expect_dropout<double>(); }

}  // namespace
}  // namespace loup::kernels
