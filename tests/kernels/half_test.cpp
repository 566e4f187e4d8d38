#include "loup/kernels/half.h"

#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/settings.h"

namespace loup::test {
namespace {

template <class Half>
std::vector<Half> every_value() {
  std::vector<Half> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<std::uint16_t>(i);
  return values;
}

/// The bits of a float; hardware makes signalling NaN quiet, so that bit does not count.
std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value) | (std::isnan(value) ? 0x00400000U : 0U);
}

template <class Half>
void expect_every_value_widened() {
  const auto from = every_value<Half>();
  for_each_target([&] {
    std::vector<float> to(from.size());
    kernels::widen(from.data(), to.data(), std::ssize(from));
    for (std::size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(bits_of(to[i]), bits_of(static_cast<float>(from[i]))) << "of the bits " << i;
    }
  });
}

TEST(Widen, EqualsTheScalarConversionForEveryFloat16) { expect_every_value_widened<Float16>(); }

TEST(Widen, EqualsTheScalarConversionForEveryBFloat16) { expect_every_value_widened<BFloat16>(); }

TEST(Widen, TouchesNothingBeyondTheRun) {
  for (std::size_t count = 0; count <= 40; ++count) {
    const Guarded<Float16> from(std::vector<Float16>(count, Float16(2.5F)));
    const Guarded<float> to(std::vector<float>(count, 0.0F));
    for_each_target([&] {
      kernels::widen(from.data(), to.data(), static_cast<std::int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to.data()[i], 2.5F);
    });
  }
}

}  // namespace
}  // namespace loup::test
