#include "loup/kernels/convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

using test::Random;

/// Calls `visit(To, From)` for all pairs of dtypes.
template <class Visit>
void for_each_pair(Visit visit) {
  for (int i = 0; i < dtype_count; ++i) {
    for (int j = 0; j < dtype_count; ++j) {
      visit_dtype(static_cast<DType>(i), [&]<class To>(std::type_identity<To> to) {
        visit_dtype(static_cast<DType>(j),
                    [&]<class From>(std::type_identity<From> from) { visit(to, from); });
      });
    }
  }
}

/// Bits that are compared: signalling NaN may become quiet on its way through a register.
template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value) | (std::isnan(value) ? 0x00400000U : 0U);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value) | (std::isnan(value) ? 0x8000000000000U : 0U);
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    const unsigned quiet = std::is_same_v<T, Float16> ? 0x200U : 0x40U;
    return std::isnan(static_cast<float>(value)) ? value.bits | quiet : value.bits;
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class To, class From>
void expect_converted(const std::vector<From>& from) {
  std::vector<To> to(from.size());
  find_convert(dtype_of<To>(), dtype_of<From>())(to.data(), from.data(), std::ssize(from));
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(bits_of(to[i]), bits_of(convert<To>(from[i])))
        << name(dtype_of<From>()) << " to " << name(dtype_of<To>()) << " at " << i << ", bits "
        << bits_of(from[i]);
  }
}

// std::vector<bool> has no elements in memory.
template <>
void expect_converted<bool, float>(const std::vector<float>& from) {
  std::vector<std::uint8_t> to(from.size());
  find_convert(DType::boolean, DType::f32)(to.data(), from.data(), std::ssize(from));
  for (std::size_t i = 0; i < from.size(); ++i) ASSERT_EQ(to[i], from[i] != 0 ? 1 : 0) << from[i];
}

template <class Half>
std::vector<Half> every_half() {
  std::vector<Half> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<std::uint16_t>(i);
  return values;
}

TEST(Convert, IsRightForEveryFloat16) {
  test::for_each_target([] {
    expect_converted<float>(every_half<Float16>());
    expect_converted<double>(every_half<Float16>());
    expect_converted<BFloat16>(every_half<Float16>());
    expect_converted<std::int32_t>(every_half<Float16>());
    expect_converted<std::int64_t>(every_half<Float16>());
    expect_converted<std::uint8_t>(every_half<Float16>());
  });
}

TEST(Convert, IsRightForEveryBFloat16) {
  test::for_each_target([] {
    expect_converted<float>(every_half<BFloat16>());
    expect_converted<double>(every_half<BFloat16>());
    expect_converted<Float16>(every_half<BFloat16>());
    expect_converted<std::int16_t>(every_half<BFloat16>());
    expect_converted<std::int64_t>(every_half<BFloat16>());
  });
}

TEST(Convert, IsRightForFloatsOfAllBits) {
  // A prime step through all 2^32 patterns, so every exponent comes with many mantissas.
  std::vector<float> from;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 4099) {
    from.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  test::for_each_target([&] {
    expect_converted<Float16>(from);
    expect_converted<BFloat16>(from);
    expect_converted<double>(from);
    expect_converted<std::int32_t>(from);
    expect_converted<std::int64_t>(from);
    expect_converted<std::uint8_t>(from);
    expect_converted<bool>(from);
  });
}

TEST(Convert, RoundsFloatsToTheNearestHalfAndTiesToEven) {
  // Around every float16, the points half way to the next one, and their neighbours.
  std::vector<float> from;
  for (std::uint32_t half = 0; half < 0x7C00U; ++half) {
    Float16 low;
    Float16 high;
    low.bits = static_cast<std::uint16_t>(half);
    high.bits = static_cast<std::uint16_t>(half + 1);
    const float next = half == 0x7BFFU ? 65536.0F : static_cast<float>(high);
    const float middle = (static_cast<float>(low) + next) / 2;
    for (const float value :
         {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e30F)}) {
      from.push_back(value);
      from.push_back(-value);
    }
  }
  test::for_each_target([&] {
    expect_converted<Float16>(from);
    expect_converted<BFloat16>(from);
  });
}

/// Around every half, the points half way to the next one, and the doubles beside them.
template <class Half>
std::vector<double> doubles_around(std::uint32_t infinity) {
  std::vector<double> result;
  for (std::uint32_t bits = 0; bits + 1 < infinity; ++bits) {
    Half low;
    Half high;
    low.bits = static_cast<std::uint16_t>(bits);
    high.bits = static_cast<std::uint16_t>(bits + 1);
    const double sum = static_cast<double>(static_cast<float>(low)) + static_cast<float>(high);
    const double middle = sum / 2;
    for (const double value :
         {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)}) {
      result.push_back(value);
      result.push_back(-value);
    }
  }
  return result;
}

TEST(Convert, RoundsDoublesToHalvesOnce) {
  // That of single elements is compared with what the formats mean in half_test.
  const auto from = doubles_around<Float16>(0x7C00U);
  const auto wide = doubles_around<BFloat16>(0x7F80U);
  test::for_each_target([&] {
    expect_converted<Float16>(from);
    expect_converted<BFloat16>(from);
    expect_converted<Float16>(wide);
    expect_converted<BFloat16>(wide);
  });
}

TEST(Convert, IsRightForDoublesOfAllBits) {
  // A prime step through all 2^64 patterns: every exponent, NaN, and what no float holds.
  std::vector<double> from;
  for (std::uint64_t bits = 0; bits < UINT64_MAX - 20000000000003U; bits += 20000000000003U) {
    from.push_back(std::bit_cast<double>(bits));
  }
  test::for_each_target([&] {
    expect_converted<Float16>(from);
    expect_converted<BFloat16>(from);
  });
}

TEST(Convert, RoundsIntegersToBFloat16Once) {
  std::vector<std::int32_t> from = {0, 1, -1, INT32_MAX, INT32_MIN};
  std::vector<std::int64_t> wide = {0, 1, -1, INT64_MAX, INT64_MIN};
  Random random;
  for (int bit = 8; bit < 63; ++bit) {
    for (int i = 0; i < 200; ++i) {
      const std::int64_t middle = (2 * random.integer(128, 255) + 1) << (bit - 8);
      for (const std::int64_t value : {middle, middle - 1, middle + 1}) {
        wide.push_back(value);
        wide.push_back(-value);
        if (bit > 30) continue;
        from.push_back(static_cast<std::int32_t>(value));
        from.push_back(static_cast<std::int32_t>(-value));
      }
    }
  }
  test::for_each_target([&] {
    expect_converted<BFloat16>(from);
    expect_converted<BFloat16>(wide);
    expect_converted<Float16>(from);
    expect_converted<Float16>(wide);
  });
}

/// Ordinary numbers, among them the ends of every type and what no integer is.
template <class T>
std::vector<T> sample(std::size_t count) {
  Random random;
  const double specials[] = {0.0,
                             -0.0,
                             1.5,
                             -1.5,
                             255.9,
                             -128.9,
                             65504,
                             1e5,
                             0x1p31,
                             -0x1p31,
                             0x1p32,
                             0x1p53,
                             -0x1p53,
                             0x1p63,
                             -0x1p63,
                             9.3e18,
                             -9.3e18,
                             3e38,
                             -1e300,
                             1e-8,
                             1e-310,
                             1e-40,
                             2.5,
                             3.5,
                             -2.0000001,
                             16777217,
                             std::nan(""),
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_special = random.chance(0.1);
    const double special = specials[random.integer(0, std::ssize(specials) - 1)];
    if constexpr (std::is_same_v<T, std::int64_t>) {
      const std::int64_t near = (std::int64_t{1} << random.integer(0, 62)) + random.integer(-2, 2);
      result.push_back(is_special ? convert<T>(special) : random.chance(0.5) ? near : -near);
    } else {
      result.push_back(is_special ? convert<T>(special) : random.value<T>());
    }
  }
  return result;
}

TEST(Convert, IsRightForInt64AndDoublesOfAllSizes) {
  const auto integers = sample<std::int64_t>(20000);
  const auto doubles = sample<double>(20000);
  test::for_each_target([&] {
    expect_converted<float>(integers);
    expect_converted<double>(integers);
    expect_converted<Float16>(integers);
    expect_converted<std::int32_t>(integers);
    expect_converted<std::int8_t>(integers);
    expect_converted<float>(doubles);
    expect_converted<Float16>(doubles);
    expect_converted<BFloat16>(doubles);
    expect_converted<std::int64_t>(doubles);
    expect_converted<std::int32_t>(doubles);
    expect_converted<std::int16_t>(doubles);
    expect_converted<std::uint8_t>(doubles);
  });
}

TEST(Convert, TouchesNothingBeyondTheRunInAnyPair) {
  test::for_each_target([] {
    for_each_pair([]<class To, class From>(std::type_identity<To>, std::type_identity<From>) {
      // Of bool there are no vectors: bytes of the same values.
      using Stored = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From>;
      using Written = std::conditional_t<std::is_same_v<To, bool>, std::uint8_t, To>;
      for (std::size_t count = 0; count <= 40; ++count) {
        std::vector<Stored> values(count);
        for (std::size_t i = 0; i < count; ++i) {
          values[i] = convert<Stored>(static_cast<float>(std::is_same_v<From, bool> ? i % 2 : i));
        }
        const test::Guarded<Stored> from(values);
        const test::Guarded<Written> to{std::vector<Written>(count)};
        find_convert(dtype_of<To>(), dtype_of<From>())(to.data(), from.data(),
                                                       static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) {
          const auto wanted = convert<Written>(convert<To>(values[i]));
          ASSERT_EQ(bits_of(to.data()[i]), bits_of(wanted))
              << name(dtype_of<From>()) << " to " << name(dtype_of<To>()) << ", " << i << " of "
              << count;
        }
      }
    });
  });
}

TEST(Convert, ReadsAnyByteButZeroAsTrue) {
  const std::vector<std::uint8_t> from = {0, 1, 2, 255, 0, 128, 0, 7, 0, 1, 2, 255, 0, 128, 0, 7};
  test::for_each_target([&] {
    std::vector<float> to(from.size());
    find_convert(DType::f32, DType::boolean)(to.data(), from.data(), std::ssize(from));
    for (std::size_t i = 0; i < from.size(); ++i) EXPECT_EQ(to[i], from[i] != 0 ? 1.0F : 0.0F);
  });
}

}  // namespace
}  // namespace loup::kernels
