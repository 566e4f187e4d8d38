#include "loup/base/dims.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "loup/base/error.h"

namespace loup {

namespace {

[[noreturn]] void throw_too_many(std::size_t count) {
  throw ShapeError("shape: expected at most {} dimensions, got {}", max_ndim, count);
}

}  // namespace

Dims Dims::filled(int count, std::int64_t value) {
  Dims result;
  if (count > max_ndim) throw_too_many(static_cast<std::size_t>(count));
  result.size_ = count;
  std::fill(result.begin(), result.end(), value);
  return result;
}

void Dims::assign(const std::int64_t* values, std::size_t count) {
  if (count > max_ndim) throw_too_many(count);
  size_ = static_cast<int>(count);
  std::copy_n(values, count, values_.begin());
}

void Dims::push_back(std::int64_t value) { insert(size_, value); }

void Dims::insert(int position, std::int64_t value) {
  if (size_ == max_ndim) throw_too_many(max_ndim + 1);
  std::copy_backward(begin() + position, end(), end() + 1);
  (*this)[position] = value;
  ++size_;
}

void Dims::erase(int position) {
  std::copy(begin() + position + 1, end(), begin() + position);
  --size_;
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) throw ShapeError("shape: expected sizes of at least 0, got {}", shape);
    empty |= size == 0;
    if (size != 0) overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (overflow) {
    throw ShapeError("shape: expected at most {} elements, got shape {}",
                     std::numeric_limits<std::int64_t>::max(), shape);
  }
  return empty ? 0 : count;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  std::int64_t step = 1;
  for (int i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

int normalize_dim(const char* operation, std::int64_t dim, int ndim) {
  const std::int64_t limit = std::max(ndim, 1);
  if (dim < -limit || dim >= limit) {
    throw IndexError("{}: expected a dim from {} to {}, got {}", operation, -limit, limit - 1, dim);
  }
  return static_cast<int>(dim < 0 ? dim + limit : dim);
}

std::uint32_t dim_bits(const char* operation, const Dims& dims, int ndim) {
  if (dims.empty()) return (1U << ndim) - 1U;
  std::uint32_t bits = 0;
  for (const std::int64_t dim : dims) {
    const std::uint32_t bit = 1U << normalize_dim(operation, dim, ndim);
    if ((bits & bit) != 0) {
      throw ShapeError("{}: expected every dim at most once, got {}", operation, dims);
    }
    bits |= bit;
  }
  return bits;
}

}  // namespace loup

fmt::format_context::iterator fmt::formatter<loup::Dims>::format(
    const loup::Dims& dims, fmt::format_context& context) const {
  return fmt::format_to(context.out(), "[{}]", fmt::join(dims.begin(), dims.end(), ", "));
}
