#pragma once

#include <concepts>
#include <cstdint>
#include <variant>

#include "loup/base/dtype.h"
#include "loup/export.h"

namespace loup {

/// One number of no particular dtype: what Python calls a bool, an int or a float.
class LOUP_EXPORT Scalar {
 public:
  Scalar(bool value) : value_(value) {}
  template <std::integral T>
  Scalar(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point T>
  Scalar(T value) : value_(static_cast<double>(value)) {}

  /// The dtype a tensor made of this number has: bool, int64, or float32.
  DType natural_dtype() const;

  template <class T>
  T to() const {
    return std::visit([](auto value) { return convert<T>(value); }, value_);
  }

 private:
  std::variant<bool, std::int64_t, double> value_;
};

}  // namespace loup
