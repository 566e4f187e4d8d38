#pragma once

#include <limits>

namespace loup::test {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// For lists of floats, which take no doubles.
inline constexpr float inf_f32 = std::numeric_limits<float>::infinity();
inline constexpr float nan_f32 = std::numeric_limits<float>::quiet_NaN();

}  // namespace loup::test
