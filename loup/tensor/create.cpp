#include "loup/tensor/create.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "loup/base/parallel.h"

namespace loup {

namespace {

constexpr std::int64_t fill_chunk = 256 * 1024;  // elements

template <class Make>
void generate(const Tensor& x, Make&& make) {
  const std::int64_t count = x.size();
  visit_dtype(x.dtype(), [&]<class T>(std::type_identity<T>) {
    T* const data = reinterpret_cast<T*>(x.raw_data());
    parallel_for((count + fill_chunk - 1) / fill_chunk, x.bytes(), [&](std::int64_t chunk) {
      const std::int64_t first = chunk * fill_chunk;
      make(std::type_identity<T>{}, data + first, first, std::min(fill_chunk, count - first));
    });
  });
}

std::int64_t byte_count(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), item_bytes(dtype), &bytes)) {
    throw ShapeError("empty: expected at most {} bytes, got shape {} of {}",
                     std::numeric_limits<std::int64_t>::max(), shape, dtype);
  }
  return bytes;
}

/// How many steps lie in [start, stop): exactly, where doubles would round.
std::int64_t integer_steps(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const auto span = static_cast<__int128>(stop) - start;
  const auto width = static_cast<__int128>(step);
  if ((span > 0) != (width > 0) || span == 0) return 0;
  return static_cast<std::int64_t>((span + width + (width > 0 ? -1 : 1)) / width);
}

}  // namespace

Tensor empty(const Shape& shape, DType dtype) {
  const auto bytes = static_cast<std::size_t>(byte_count(shape, dtype));
  return {Tensor::Unchecked{}, Storage::allocate(bytes), Layout::contiguous(shape), dtype};
}

Tensor full(const Shape& shape, Scalar value, std::optional<DType> dtype) {
  Tensor result = empty(shape, dtype.value_or(value.natural_dtype()));
  generate(result, [&]<class T>(std::type_identity<T>, T* to, std::int64_t, std::int64_t count) {
    std::fill_n(to, count, value.to<T>());
  });
  return result;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }

Tensor empty_like(const Tensor& x, std::optional<DType> dtype) {
  return empty(x.shape(), dtype.value_or(x.dtype()));
}
Tensor full_like(const Tensor& x, Scalar value, std::optional<DType> dtype) {
  return full(x.shape(), value, dtype.value_or(x.dtype()));
}
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) { return full_like(x, 0, dtype); }
Tensor ones_like(const Tensor& x, std::optional<DType> dtype) { return full_like(x, 1, dtype); }

Tensor arange(Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype) {
  const auto is_float = [](const Scalar& s) { return s.natural_dtype() == DType::f32; };
  const bool exact = !is_float(start) && !is_float(stop) && !is_float(step);
  const double width = step.to<double>();
  const double steps = std::ceil((stop.to<double>() - start.to<double>()) / width);
  if (width == 0 || std::isnan(steps)) {
    throw ValueError(
        "arange: expected finite ends and a step other than 0, got start {}, stop {}, "
        "step {}",
        start.to<double>(), stop.to<double>(), width);
  }
  if (steps > 0x1p62) throw ShapeError("arange: expected at most 2^62 elements, got {}", steps);
  auto count = static_cast<std::int64_t>(std::max(0.0, steps));
  if (exact)
    count =
        integer_steps(start.to<std::int64_t>(), stop.to<std::int64_t>(), step.to<std::int64_t>());
  Tensor result = empty({count}, dtype.value_or(exact ? DType::i64 : DType::f32));
  generate(result, [&]<class T>(std::type_identity<T>, T* to, std::int64_t first, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t k = first + i;
      // Unsigned: k * step may leave the range although start + k * step does not.
      to[i] = exact ? convert<T>(static_cast<std::int64_t>(start.to<std::uint64_t>() +
                                                           static_cast<std::uint64_t>(k) *
                                                               step.to<std::uint64_t>()))
                    : convert<T>(start.to<double>() + static_cast<double>(k) * width);
    }
  });
  return result;
}

}  // namespace loup
