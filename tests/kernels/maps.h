#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "loup/kernels/elementwise.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

// What the tests of the elementwise kernels share: operands with every pair of special values, and
// a call for every length, between pages that cannot be read.

namespace loup::test {

/// Bytes of bool, also where the library says bool: std::vector<bool> has none.
using Byte = std::uint8_t;

/// Of integers never.
template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> values;
    for (const T size : {T(0), Limits::denorm_min(), Limits::min(), Limits::epsilon(), T(0.5), T(1),
                         T(1.5), T(2), T(3), T(7), T(100), Limits::max(), Limits::infinity()}) {
      values.push_back(size);
      values.push_back(-size);
    }
    values.push_back(Limits::quiet_NaN());
    return values;
  } else {
    return {Limits::min(),
            T(Limits::min() + 1),
            T(-64),
            T(-33),
            T(-7),
            T(-2),
            T(-1),
            T(0),
            T(1),
            T(2),
            T(3),
            T(31),
            T(32),
            T(63),
            T(64),
            T(100),
            T(Limits::max() - 1),
            Limits::max()};
  }
}

/// `count` lists: every combination of special values, and random ones, in any order.
template <class T, std::size_t count>
std::array<std::vector<T>, count> operands(Random& random) {
  const std::vector<T> special = special_values<T>();
  std::array<std::vector<T>, count> result;
  std::size_t combinations = 1;
  for (std::size_t k = 0; k < count; ++k) combinations *= special.size();
  std::vector<std::size_t> order(combinations);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = combinations; i > 1; --i) {
    const auto j = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1));
    std::swap(order[i - 1], order[j]);
  }
  for (std::size_t combination : order) {
    for (auto& list : result) {
      list.push_back(special[combination % special.size()]);
      combination /= special.size();
    }
  }
  for (auto& list : result) {
    for (int i = 0; i < 100; ++i) list.push_back(random.value<T>());
  }
  return result;
}

template <class T>
bool is_same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}

/// Runs a kernel on the first `count` elements, all operands and the result at the end of a page;
/// `alias`: the operand that the result overwrites, or none.
template <class Out, class... In>
void expect_run(const kernels::ElementwiseKernel& kernel, std::int64_t count, int alias,
                const std::vector<Out>& wanted, const std::vector<In>&... inputs) {
  const auto first = [count](const auto& list) {
    return std::decay_t<decltype(list)>(list.begin(), list.begin() + count);
  };
  const auto guarded = std::tuple<Guarded<In>...>(first(inputs)...);
  const Guarded<Out> own(std::vector<Out>(static_cast<std::size_t>(count)));
  std::array<void*, sizeof...(In)> data{};
  std::apply([&](const auto&... each) { data = {each.data()...}; }, guarded);
  void* const out = alias < 0 ? own.data() : data[static_cast<std::size_t>(alias)];
  const std::array<const void*, 3> arguments = [&] {
    std::array<const void*, 3> result{};
    std::copy(data.begin(), data.end(), result.begin());
    return result;
  }();
  kernel.run(arguments.data(), out, count, nullptr);
  const Out* const got = static_cast<const Out*>(out);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    ASSERT_TRUE(is_same(got[i], wanted[i]))
        << "element " << i << " of " << count << ": expected " << +wanted[i] << ", got " << +got[i]
        << " for" << ((testing::Message() << " " << +inputs[i]) << ...)
        << (alias < 0 ? "" : ", in place");
  }
}

/// Every length from 0 to 130, and all elements; apart from the operands, and in place of those
/// that have the type of the result.
template <class Out, class... In>
void expect_kernel(const kernels::ElementwiseKernel* kernel, const std::vector<Out>& wanted,
                   const std::vector<In>&... inputs) {
  ASSERT_NE(kernel, nullptr);
  constexpr std::array may_alias = {std::is_same_v<In, Out>...};
  for (int alias = -1; alias < static_cast<int>(sizeof...(In)); ++alias) {
    if (alias >= 0 && !may_alias[static_cast<std::size_t>(alias)]) continue;
    for (std::int64_t count = 0; count <= 130; ++count) {
      expect_run(*kernel, count, alias, wanted, inputs...);
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_run(*kernel, std::ssize(wanted), alias, wanted, inputs...);
  }
}

template <class Out, class F, class T, class... Rest>
std::vector<Out> mapped(const F& f, const std::vector<T>& first, const std::vector<Rest>&... rest) {
  std::vector<Out> result(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    result[i] = static_cast<Out>(f(first[i], rest[i]...));
  }
  return result;
}

}  // namespace loup::test
