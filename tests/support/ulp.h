#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace loup::test {

/// How far `got` is from what it should be, in units of the last place of T there: at most 0.5 for
/// a correctly rounded result. Infinite when one is NaN and the other is not, or when a zero is
/// wrong or has the wrong sign.
template <class T>
double ulp_error(T got, long double wanted) {
  using Limits = std::numeric_limits<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(wanted) || std::isnan(got))
    return std::isnan(wanted) && std::isnan(got) ? 0 : wrong;
  if (wanted == 0) return got == 0 && std::signbit(got) == std::signbit(wanted) ? 0 : wrong;
  if (std::isinf(wanted)) return static_cast<long double>(got) == wanted ? 0 : wrong;
  // Infinity stands for the first number that is too large, and for all beyond it.
  const long double beyond = std::ldexp(1.0L, Limits::max_exponent);
  const long double value = std::clamp<long double>(got, -beyond, beyond);
  wanted = std::clamp(wanted, -beyond, beyond);
  int exponent = 0;
  std::frexp(wanted, &exponent);
  exponent = std::clamp(exponent, Limits::min_exponent, Limits::max_exponent);
  const long double unit = std::ldexp(1.0L, exponent - Limits::digits);
  return static_cast<double>(std::abs(value - wanted) / unit);
}

}  // namespace loup::test
