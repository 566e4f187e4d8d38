#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>

#include <fmt/core.h>

#include "loup/export.h"

namespace loup {

/// The largest number of dimensions of a tensor. Fixed, so that shapes never allocate.
inline constexpr int max_ndim = 8;

/// Up to eight integers, inline: a shape, strides, an index, or a list of dims.
class LOUP_EXPORT Dims {
 public:
  // Only the first size() integers are ever initialised: shapes are made in every call.
  // NOLINTNEXTLINE(modernize-use-equals-default): a defaulted one may zero all of it
  Dims() {}
  /// One integer: `sum(x, -1)` reads as well as `sum(x, {0, 1})`.
  Dims(std::int64_t value) : size_(1) { values_[0] = value; }
  Dims(const Dims& other) noexcept : size_(other.size_) { copy(other); }
  Dims& operator=(const Dims& other) noexcept {
    size_ = other.size_;
    copy(other);
    return *this;
  }
  ~Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) { assign(values.begin(), values.size()); }
  template <std::ranges::contiguous_range Range>
    requires std::same_as<std::ranges::range_value_t<Range>, std::int64_t>
  explicit Dims(const Range& values) {
    assign(std::ranges::data(values), std::ranges::size(values));
  }
  /// `count` times `value`.
  static Dims filled(int count, std::int64_t value);

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return (*this)[size_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + size_; }

  void push_back(std::int64_t value);
  void insert(int position, std::int64_t value);
  void erase(int position);

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  void copy(const Dims& other) noexcept {
    // Few are in use. The compiler would call memmove for a loop with one end.
    for (int i = 0; i < max_ndim; ++i) {
      if (i == size_) break;
      (*this)[i] = other[i];
    }
  }
  void assign(const std::int64_t* values, std::size_t count);

  std::array<std::int64_t, max_ndim> values_;
  int size_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// Number of elements of `shape`; ShapeError when a size is negative or the product overflows.
LOUP_EXPORT std::int64_t element_count(const Shape& shape);

/// Row-major strides of `shape`.
LOUP_EXPORT Strides contiguous_strides(const Shape& shape);

/// `dim` counted from the front; IndexError unless it lies in [-ndim, ndim). A 0-d tensor accepts
/// 0 and -1.
LOUP_EXPORT int normalize_dim(const char* operation, std::int64_t dim, int ndim);

/// `dims` as a set of bits, negative ones counted from the back; empty means all of them.
/// IndexError when out of range, ShapeError when one is repeated.
LOUP_EXPORT std::uint32_t dim_bits(const char* operation, const Dims& dims, int ndim);

}  // namespace loup

template <>
struct LOUP_EXPORT fmt::formatter<loup::Dims> : fmt::formatter<fmt::string_view> {
  fmt::format_context::iterator format(const loup::Dims& dims, fmt::format_context& context) const;
};
