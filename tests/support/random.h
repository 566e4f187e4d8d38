#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace loup::test {

/// LOUP_TEST_SEED, or 1: runs repeat unless asked otherwise.
inline std::uint64_t seed() {
  const char* const text = std::getenv("LOUP_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

/// Says with which seed a test failed.
class SeedPrinter : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->Failed()) std::cout << "ran with LOUP_TEST_SEED=" << seed() << '\n';
  }
};

inline const bool prints_seed = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new SeedPrinter);
  return true;
}();

/// Random numbers that depend on the seed and on the name of the running test.
class Random {
 public:
  Random() : engine_(seed() ^ std::hash<std::string>{}(current_test())) {}
  explicit Random(std::uint64_t stream) : engine_(seed() * 0x9E3779B97F4A7C15U + stream) {}

  /// From `low` to `high`, both included.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool chance(double probability) { return fraction() < probability; }
  std::uint64_t bits() { return engine_(); }
  /// In [0, 1).
  double fraction() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  /// Of either sign, with a magnitude of about 2^-scale to 2^scale.
  double real(int scale = 6) {
    const std::uint64_t word = bits();
    const int exponent = static_cast<int>(word % static_cast<std::uint64_t>(2 * scale)) - scale;
    const double magnitude = std::ldexp(1 + fraction(), exponent);
    return (word >> 63U) != 0 ? magnitude : -magnitude;
  }
  template <class T>
  T pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(integer(0, std::ssize(values) - 1))];
  }
  /// Any value of an integer type; reals for floating types.
  template <class T>
  T value() {
    if constexpr (std::is_same_v<T, bool>) {
      return chance(0.5);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits());
    } else if constexpr (std::is_same_v<T, double>) {
      return real();
    } else {
      return T(static_cast<float>(real()));
    }
  }
  template <class T>
  std::vector<T> values(std::int64_t count) {
    std::vector<T> result(static_cast<std::size_t>(count));
    for (auto&& element : result) element = value<T>();
    return result;
  }
  /// Bytes of a mask in which about `share` are nonzero, and not only 1.
  std::vector<std::uint8_t> mask_bytes(std::int64_t count, double share) {
    std::vector<std::uint8_t> result(static_cast<std::size_t>(count));
    for (auto& byte : result)
      byte = static_cast<std::uint8_t>(chance(share) ? bits() % 255 + 1 : 0);
    return result;
  }

 private:
  static std::string current_test() {
    const testing::TestInfo* const info = testing::UnitTest::GetInstance()->current_test_info();
    return info != nullptr ? std::string(info->test_suite_name()) + info->name() : "";
  }

  std::mt19937_64 engine_;
};

}  // namespace loup::test
