#include "loup/kernels/random.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/random.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/normal-inl.h"
#include "loup/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

using FloatTag = hn::ScalableTag<float>;
using DoubleTag = hn::ScalableTag<double>;

/// Lanes of 32 bits: half of the words that one call of Philox makes.
inline constexpr std::int64_t word_lanes = lanes<WordTag>;

void words(const RandomStream& stream, std::uint32_t* to, std::int64_t count) {
  generate<1>(stream, to, count, [](const PhiloxWords& blocks, std::int64_t, auto* out) HWY_ATTR {
    const WordTag d;
    hn::StoreU(hn::BitCast(d, blocks.first()), d, out);
    hn::StoreU(hn::BitCast(d, blocks.second()), d, out + word_lanes);
  });
}

// --- uniform ---

HWY_INLINE hn::Vec<FloatTag> fraction(FloatTag d, LongVec words) {
  const hn::RebindToSigned<FloatTag> di;
  const auto bits = hn::ShiftRight<8>(hn::BitCast(WordTag(), words));
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(di, bits)), hn::Set(d, 0x1p-24F));
}

HWY_INLINE hn::Vec<DoubleTag> fraction(DoubleTag d, LongVec words) {
  const hn::RebindToSigned<DoubleTag> di;
  const auto bits = hn::ShiftRight<11>(words);
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(di, bits)), hn::Set(d, 0x1p-53));
}

template <class T>
HWY_INLINE void uniform(const RandomStream& stream, T* to, std::int64_t count,
                        const UniformRange<T>& range) {
  const hn::ScalableTag<T> d;
  const auto low = hn::Set(d, range.low);
  const auto width = hn::Set(d, range.width);
  const auto last = hn::Set(d, range.last);
  const auto keep = hn::BitCast(d, hn::Set(WordTag(), range.kept_bits));
  const auto map = [&](LongVec words) HWY_ATTR {
    const auto value = hn::Add(low, hn::Mul(fraction(d, words), width));
    return hn::And(hn::Min(value, last), keep);
  };
  generate<sizeof(T) / 4>(stream, to, count,
                          [&](const PhiloxWords& blocks, std::int64_t, T* out) HWY_ATTR {
                            hn::StoreU(map(blocks.first()), d, out);
                            hn::StoreU(map(blocks.second()), d, out + lanes<decltype(d)>);
                          });
}

void uniform_f32(const RandomStream& stream, float* to, std::int64_t count,
                 const UniformRange<float>& range) {
  uniform(stream, to, count, range);
}
void uniform_f64(const RandomStream& stream, double* to, std::int64_t count,
                 const UniformRange<double>& range) {
  uniform(stream, to, count, range);
}

// --- normal ---

/// `radii` and `angles` take from a call's blocks what makes the pairs of their elements.
template <class T, class Radii, class Angles>
HWY_INLINE void normal(const RandomStream& stream, T* to, std::int64_t count, T mean, T std,
                       Radii radii, Angles angles) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto map = [&](hn::Vec<decltype(d)> z)
                       HWY_ATTR { return hn::Add(hn::Set(d, mean), hn::Mul(z, hn::Set(d, std))); };
  generate<sizeof(T) / 4>(
      stream, to, count, [&](const PhiloxWords& blocks, std::int64_t, T* out) HWY_ATTR {
        const auto radius = normal_radius(d, hn::BitCast(du, radii(blocks)));
        const Direction direction(d, hn::BitCast(du, angles(blocks)));
        const auto x = map(hn::Mul(radius, direction.cos));
        const auto y = map(hn::Mul(radius, direction.sin));
        hn::StoreU(PhiloxWords::first_part(d, x, y), d, out);
        hn::StoreU(PhiloxWords::second_part(d, x, y), d, out + lanes<decltype(d)>);
      });
}

void normal_f32(const RandomStream& stream, float* to, std::int64_t count, float mean, float std) {
  // Words 0 and 2 of a block are radii, 1 and 3 the angles.
  normal(
      stream, to, count, mean, std,
      [](const PhiloxWords& b) HWY_ATTR { return join_halves(b.word[0], b.word[2]); },
      [](const PhiloxWords& b) HWY_ATTR { return join_halves(b.word[1], b.word[3]); });
}
void normal_f64(const RandomStream& stream, double* to, std::int64_t count, double mean,
                double std) {
  normal(
      stream, to, count, mean, std, [](const PhiloxWords& b) HWY_ATTR { return b.lower(); },
      [](const PhiloxWords& b) HWY_ATTR { return b.upper(); });
}

// --- integers ---

// A word w of b bits gives the upper half of w * span, unless the lower half is below 2^b mod span:
// then some numbers would be likelier than others, and the next word is tried. (Lemire, 2019.)

std::uint32_t short_integer(const RandomStream& stream, std::int64_t i, std::uint32_t span,
                            std::uint32_t rejected) {
  for (std::uint32_t retry = 0;; ++retry) {
    const std::uint64_t product = static_cast<std::uint64_t>(stream.word(i, retry)) * span;
    if (static_cast<std::uint32_t>(product) >= rejected) {
      return static_cast<std::uint32_t>(product >> 32U);
    }
  }
}

std::uint64_t long_integer(const RandomStream& stream, std::int64_t i, std::uint64_t word,
                           std::uint64_t span, std::uint64_t rejected) {
  for (std::uint32_t retry = 1;; ++retry) {
    const unsigned __int128 product = static_cast<unsigned __int128>(word) * span;
    if (static_cast<std::uint64_t>(product) >= rejected) {
      return static_cast<std::uint64_t>(product >> 64U);
    }
    word = stream.long_word(i, retry);
  }
}

/// `store(out, vector of numbers)` and `patch(out, number)` write numbers in [0, span).
template <class T, class Store, class Patch>
HWY_INLINE void short_integers(const RandomStream& stream, T* to, std::int64_t count,
                               std::uint32_t span, Store store, Patch patch) {
  const WordTag d;
  const auto factor = hn::Set(d, span);
  const std::uint32_t rejected = (0U - span) % span;
  const auto limit = hn::Set(d, rejected);
  const auto part = [&](LongVec words, std::int64_t i, T* out) HWY_ATTR {
    const auto even = hn::MulEven(hn::BitCast(d, words), factor);
    const auto odd = hn::MulEven(hn::BitCast(d, swap_halves(words)), factor);
    store(out, hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, swap_halves(even))));
    const auto low = hn::OddEven(hn::BitCast(d, swap_halves(odd)), hn::BitCast(d, even));
    const auto is_rejected = hn::Lt(low, limit);
    if (HWY_LIKELY(hn::AllFalse(d, is_rejected))) return;
    std::uint8_t bits[8 + word_lanes / 8] = {};
    hn::StoreMaskBits(d, is_rejected, bits);
    for (std::int64_t j = 0; j < word_lanes; ++j) {
      if ((bits[j / 8] >> (j % 8) & 1) != 0) {
        patch(out + j, short_integer(stream, i + j, span, rejected));
      }
    }
  };
  generate<1>(stream, to, count, [&](const PhiloxWords& blocks, std::int64_t i, T* out) HWY_ATTR {
    part(blocks.first(), i, out);
    part(blocks.second(), i + word_lanes, out + word_lanes);
  });
}

void integers_i32(const RandomStream& stream, std::int32_t* to, std::int64_t count,
                  std::int32_t low, std::uint32_t span) {
  const hn::ScalableTag<std::int32_t> d;
  short_integers(
      stream, to, count, span,
      [&](std::int32_t* out, WordVec v)
          HWY_ATTR { hn::StoreU(hn::Add(hn::BitCast(d, v), hn::Set(d, low)), d, out); },
      [&](std::int32_t* out, std::uint32_t v) { *out = low + static_cast<std::int32_t>(v); });
}

void integers_i64(const RandomStream& stream, std::int64_t* to, std::int64_t count,
                  std::int64_t low, std::uint64_t span) {
  const hn::ScalableTag<std::int64_t> d;
  const LongTag dl;
  const hn::Half<WordTag> half;
  if (!is_long_span(span)) {
    return short_integers(
        stream, to, count, static_cast<std::uint32_t>(span),
        [&](std::int64_t* out, WordVec v) HWY_ATTR {
          const auto first = hn::PromoteTo(dl, hn::LowerHalf(half, v));
          const auto second = hn::PromoteTo(dl, hn::UpperHalf(half, v));
          hn::StoreU(hn::Add(hn::BitCast(d, first), hn::Set(d, low)), d, out);
          hn::StoreU(hn::Add(hn::BitCast(d, second), hn::Set(d, low)), d, out + lanes<LongTag>);
        },
        [&](std::int64_t* out, std::uint32_t v) { *out = low + v; });
  }
  const std::uint64_t rejected = span == 0 ? 0 : (0 - span) % span;
  generate<2>(stream, to, count,
              [&](const PhiloxWords& blocks, std::int64_t i, auto* out) HWY_ATTR {
                HWY_ALIGN std::uint64_t raw[2 * philox_lanes];
                hn::Store(blocks.first(), dl, raw);
                hn::Store(blocks.second(), dl, raw + philox_lanes);
                for (std::int64_t j = 0; j < 2 * philox_lanes; ++j) {
                  const std::uint64_t offset =
                      span == 0 ? raw[j] : long_integer(stream, i + j, raw[j], span, rejected);
                  out[j] = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
                }
              });
}

// --- events ---

/// Which words lie below a limit of 0 to 2^32.
class Below {
 public:
  explicit HWY_INLINE Below(std::uint64_t limit)
      : last_(hn::Set(WordTag(), static_cast<std::uint32_t>(limit - 1))),
        any_(hn::Set(WordTag(), limit == 0 ? 0U : 0xFFFFFFFFU)) {}
  /// All bits of a lane set or none.
  HWY_INLINE WordVec operator()(LongVec words) const {
    const WordTag d;
    const auto word = hn::BitCast(d, words);
    return hn::And(any_, hn::VecFromMask(d, hn::Eq(hn::Min(word, last_), word)));
  }

 private:
  WordVec last_;
  WordVec any_;
};

HWY_INLINE void store_flags(WordVec lanes_set, std::uint8_t* to) {
  const WordTag d;
  const hn::Rebind<std::uint8_t, WordTag> d8;
  hn::StoreU(hn::TruncateTo(d8, hn::And(lanes_set, hn::Set(d, 1U))), d8, to);
}

void bernoulli_u8(const RandomStream& stream, std::uint8_t* to, std::int64_t count,
                  std::uint64_t limit) {
  const Below below(limit);
  generate<1>(stream, to, count, [&](const PhiloxWords& blocks, std::int64_t, auto* out) HWY_ATTR {
    store_flags(below(blocks.first()), out);
    store_flags(below(blocks.second()), out + word_lanes);
  });
}

void bernoulli_f32(const RandomStream& stream, float* to, std::int64_t count, std::uint64_t limit) {
  const FloatTag d;
  const Below below(limit);
  const auto one = hn::Set(d, 1.0F);
  generate<1>(stream, to, count, [&](const PhiloxWords& blocks, std::int64_t, auto* out) HWY_ATTR {
    hn::StoreU(hn::And(hn::BitCast(d, below(blocks.first())), one), d, out);
    hn::StoreU(hn::And(hn::BitCast(d, below(blocks.second())), one), d, out + word_lanes);
  });
}

void bernoulli_each(const RandomStream& stream, std::uint8_t* to, std::int64_t count,
                    const double* p) {
  constexpr std::int64_t piece = 1024;
  std::uint32_t raw[piece];
  for (std::int64_t i = 0; i < count; i += piece) {
    const std::int64_t n = std::min(piece, count - i);
    words(stream.from(i), raw, n);
    for (std::int64_t j = 0; j < n; ++j) {
      to[i + j] = static_cast<double>(raw[j]) < p[i + j] * 0x1p32 ? 1 : 0;
    }
  }
}

HWY_INLINE void drop(WordVec dropped, const float* x, float* to, float scale) {
  const FloatTag d;
  const auto value = hn::Mul(hn::LoadU(d, x), hn::Set(d, scale));
  hn::StoreU(hn::AndNot(hn::BitCast(d, dropped), value), d, to);
}
HWY_INLINE void drop(WordVec dropped, const double* x, double* to, double scale) {
  const DoubleTag d;
  const hn::ScalableTag<std::int64_t> di;
  const hn::Half<hn::ScalableTag<std::int32_t>> half;
  const auto lanes_set = hn::BitCast(hn::ScalableTag<std::int32_t>(), dropped);
  const auto part = [&](auto lane, std::int64_t i) HWY_ATTR {
    const auto value = hn::Mul(hn::LoadU(d, x + i), hn::Set(d, scale));
    hn::StoreU(hn::AndNot(hn::BitCast(d, hn::PromoteTo(di, lane)), value), d, to + i);
  };
  part(hn::LowerHalf(half, lanes_set), 0);
  part(hn::UpperHalf(half, lanes_set), lanes<DoubleTag>);
}

template <class T>
HWY_INLINE void dropout(const RandomStream& stream, const T* x, T* to, std::uint8_t* kept,
                        std::int64_t count, std::uint64_t limit, T scale) {
  constexpr std::int64_t step = 2 * word_lanes;
  const Below below(limit);
  Philox philox(stream);
  const auto run = [&](const T* from, T* out, std::uint8_t* flags) HWY_ATTR {
    const PhiloxWords blocks = philox.next();
    const WordVec first = below(blocks.first());
    const WordVec second = below(blocks.second());
    drop(first, from, out, scale);
    drop(second, from + word_lanes, out + word_lanes, scale);
    if (flags == nullptr) return;
    store_flags(hn::Not(first), flags);
    store_flags(hn::Not(second), flags + word_lanes);
  };
  std::int64_t i = 0;
  for (; i + step <= count; i += step) {
    run(x + i, to + i, kept == nullptr ? nullptr : kept + i);
  }
  if (i == count) return;
  T rest[step] = {};
  std::uint8_t flags[step];
  std::copy_n(x + i, count - i, rest);
  run(rest, rest, flags);
  std::copy_n(rest, count - i, to + i);
  if (kept != nullptr) std::copy_n(flags, count - i, kept + i);
}

void dropout_f32(const RandomStream& stream, const float* x, float* to, std::uint8_t* kept,
                 std::int64_t count, std::uint64_t limit, float scale) {
  dropout(stream, x, to, kept, count, limit, scale);
}
void dropout_f64(const RandomStream& stream, const double* x, double* to, std::uint8_t* kept,
                 std::int64_t count, std::uint64_t limit, double scale) {
  dropout(stream, x, to, kept, count, limit, scale);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {

HWY_EXPORT(words);
HWY_EXPORT(uniform_f32);
HWY_EXPORT(uniform_f64);
HWY_EXPORT(normal_f32);
HWY_EXPORT(normal_f64);
HWY_EXPORT(integers_i32);
HWY_EXPORT(integers_i64);
HWY_EXPORT(bernoulli_u8);
HWY_EXPORT(bernoulli_f32);
HWY_EXPORT(bernoulli_each);
HWY_EXPORT(dropout_f32);
HWY_EXPORT(dropout_f64);

void random_words(const RandomStream& stream, std::uint32_t* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(words)(stream, to, count);
}
void random_uniform(const RandomStream& stream, float* to, std::int64_t count,
                    const UniformRange<float>& range) {
  HWY_DYNAMIC_DISPATCH(uniform_f32)(stream, to, count, range);
}
void random_uniform(const RandomStream& stream, double* to, std::int64_t count,
                    const UniformRange<double>& range) {
  HWY_DYNAMIC_DISPATCH(uniform_f64)(stream, to, count, range);
}
void random_normal(const RandomStream& stream, float* to, std::int64_t count, float mean,
                   float std) {
  HWY_DYNAMIC_DISPATCH(normal_f32)(stream, to, count, mean, std);
}
void random_normal(const RandomStream& stream, double* to, std::int64_t count, double mean,
                   double std) {
  HWY_DYNAMIC_DISPATCH(normal_f64)(stream, to, count, mean, std);
}
void random_integers(const RandomStream& stream, std::int32_t* to, std::int64_t count,
                     std::int32_t low, std::uint32_t span) {
  HWY_DYNAMIC_DISPATCH(integers_i32)(stream, to, count, low, span);
}
void random_integers(const RandomStream& stream, std::int64_t* to, std::int64_t count,
                     std::int64_t low, std::uint64_t span) {
  HWY_DYNAMIC_DISPATCH(integers_i64)(stream, to, count, low, span);
}
void random_bernoulli(const RandomStream& stream, std::uint8_t* to, std::int64_t count,
                      std::uint64_t limit) {
  HWY_DYNAMIC_DISPATCH(bernoulli_u8)(stream, to, count, limit);
}
void random_bernoulli(const RandomStream& stream, float* to, std::int64_t count,
                      std::uint64_t limit) {
  HWY_DYNAMIC_DISPATCH(bernoulli_f32)(stream, to, count, limit);
}
void random_bernoulli(const RandomStream& stream, std::uint8_t* to, std::int64_t count,
                      const double* p) {
  HWY_DYNAMIC_DISPATCH(bernoulli_each)(stream, to, count, p);
}
void random_dropout(const RandomStream& stream, const float* x, float* to, std::uint8_t* kept,
                    std::int64_t count, std::uint64_t limit, float scale) {
  HWY_DYNAMIC_DISPATCH(dropout_f32)(stream, x, to, kept, count, limit, scale);
}
void random_dropout(const RandomStream& stream, const double* x, double* to, std::uint8_t* kept,
                    std::int64_t count, std::uint64_t limit, double scale) {
  HWY_DYNAMIC_DISPATCH(dropout_f64)(stream, x, to, kept, count, limit, scale);
}

}  // namespace loup::kernels
#endif
