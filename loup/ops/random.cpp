#include "loup/ops/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/random.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/fill_pieces.h"
#include "loup/ops/in_place.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using kernels::RandomStream;

namespace {

void check_std(const char* operation, double std) {
  if (!(std >= 0)) throw ValueError("{}: expected std of at least 0, got {}", operation, std);
}

void check_probability(const char* operation, double p) {
  if (!(p >= 0) || p > 1) {
    throw ValueError("{}: expected probabilities in [0, 1], got {}", operation, p);
  }
}

void check_floating(const char* operation, DType dtype) {
  if (!is_floating(dtype)) {
    throw DTypeError("{}: expected a floating dtype, got {}", operation, dtype);
  }
}

// --- what fills a contiguous tensor ---

/// The number of dtype T before `value`.
template <class T>
T below(T value) {
  if constexpr (sizeof(T) == 2) {
    const auto number = static_cast<float>(value);
    if (number == 0) {
      value.bits = 0x8001;
    } else {
      value.bits = static_cast<std::uint16_t>(value.bits + (number > 0 ? -1 : 1));
    }
    return value;
  } else {
    return std::nextafter(value, -std::numeric_limits<T>::infinity());
  }
}

/// The range [low, high), both ends rounded to T, as numbers that kernels compute with.
template <class T, class Compute>
kernels::UniformRange<Compute> uniform_range(const char* operation, double low, double high) {
  const T first = convert<T>(low);
  const T end = convert<T>(high);
  kernels::UniformRange<Compute> range;
  range.low = convert<Compute>(first);
  range.width = convert<Compute>(end) - range.low;
  range.last = range.width > 0 ? convert<Compute>(below(end)) : range.low;
  if (!(range.width >= 0 && std::isfinite(range.width))) {
    throw ValueError(
        "{}: expected finite low <= high no further apart than {} reaches, got {} and {}",
        operation, dtype_of<T>(), low, high);
  }
  if (dtype_of<T>() == DType::f16) range.kept_bits = 0xFFFFE000U;
  if (dtype_of<T>() == DType::bf16) range.kept_bits = 0xFFFF0000U;
  return range;
}

/// Calls `use(range)` with the range for a floating dtype.
template <class Use>
void with_uniform_range(const char* operation, DType dtype, double low, double high, Use use) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_floating(dtype_of<T>())) {
      using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
      use(uniform_range<T, Compute>(operation, low, high));
    }
  });
}

void fill_uniform(const char* operation, const Tensor& x, double low, double high,
                  const Generator& generator) {
  const auto fill = [&]<class T>(const kernels::UniformRange<T>& range) {
    constexpr std::int64_t words = sizeof(T) / 4;
    const RandomStream stream = generator.take(words * x.size());
    fill_pieces<T>(x, 1, [&](std::int64_t first, T* to, std::int64_t count) {
      kernels::random_uniform(stream.from(words * first), to, count, range);
    });
  };
  with_uniform_range(operation, x.dtype(), low, high, fill);
}

template <class T>
void fill_normal_with(const Tensor& x, double mean, double std, const Generator& generator) {
  constexpr std::int64_t words = sizeof(T) / 4;
  const RandomStream stream = generator.take(words * x.size());
  fill_pieces<T>(x, 4, [&](std::int64_t first, T* to, std::int64_t count) {
    kernels::random_normal(stream.from(words * first), to, count, static_cast<T>(mean),
                           static_cast<T>(std));
  });
}

void fill_normal(const Tensor& x, double mean, double std, const Generator& generator) {
  if (x.dtype() == DType::f64) {
    fill_normal_with<double>(x, mean, std, generator);
  } else {
    fill_normal_with<float>(x, mean, std, generator);
  }
}

/// The integers that a dtype holds without gaps.
IntegerRange integers_of(DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) -> IntegerRange {
    if constexpr (std::is_integral_v<T>) {
      return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    } else {
      constexpr int digits = std::is_same_v<T, Float16>    ? 11
                             : std::is_same_v<T, BFloat16> ? 8
                                                           : std::numeric_limits<T>::digits;
      return {-(std::int64_t{1} << digits), std::int64_t{1} << digits};
    }
  });
}

template <class T>
void fill_integers_with(const Tensor& x, std::int64_t low, std::uint64_t span,
                        const Generator& generator) {
  const std::int64_t words = kernels::is_long_span(span) ? 2 : 1;
  const RandomStream stream = generator.take(words * x.size());
  fill_pieces<T>(x, 1, [&](std::int64_t first, T* to, std::int64_t count) {
    if constexpr (sizeof(T) == 4) {
      kernels::random_integers(stream.from(first), to, count, static_cast<T>(low),
                               static_cast<std::uint32_t>(span));
    } else {
      kernels::random_integers(stream.from(words * first), to, count, low, span);
    }
  });
}

void fill_integers(const char* operation, const Tensor& x, const IntegerRange& range,
                   const Generator& generator) {
  const IntegerRange allowed = integers_of(x.dtype());
  if (range.low < allowed.low || range.last > allowed.last) {
    throw ValueError("{}: expected numbers of {}, from {} to {}, got a range from {} to {}",
                     operation, x.dtype(), allowed.low, allowed.last, range.low, range.last);
  }
  const std::uint64_t span =
      static_cast<std::uint64_t>(range.last) - static_cast<std::uint64_t>(range.low) + 1;
  const bool is_wide = x.dtype() == DType::i64 || kernels::is_long_span(span) ||
                       range.low < INT32_MIN || range.last > INT32_MAX;
  if (is_wide) {
    fill_integers_with<std::int64_t>(x, range.low, span, generator);
  } else {
    fill_integers_with<std::int32_t>(x, range.low, span, generator);
  }
}

void fill_events(const Tensor& x, double p, const Generator& generator) {
  const std::uint64_t limit = kernels::word_limit(p);
  const RandomStream stream = generator.take(x.size());
  const auto make = [&](std::int64_t first, auto* to, std::int64_t count) {
    kernels::random_bernoulli(stream.from(first), to, count, limit);
  };
  if (x.dtype() == DType::f32) {
    fill_pieces<float>(x, 1, make);
  } else {
    fill_pieces<std::uint8_t>(x, 1, make);
  }
}

/// Calls `use(first, elements, count)` for all pieces of a contiguous tensor, converted to double.
template <class Use>
void for_each_piece(const Tensor& x, Use use) {
  const std::int64_t count = x.size();
  parallel_for(ceil_div(count, fill_task_elements), 4 * x.bytes(), [&](std::int64_t task) {
    double buffer[fill_piece_elements];
    const std::int64_t end = std::min(count, (task + 1) * fill_task_elements);
    for (std::int64_t i = task * fill_task_elements; i < end; i += fill_piece_elements) {
      const std::int64_t n = std::min(fill_piece_elements, end - i);
      const std::byte* const from = x.raw_data() + i * item_bytes(x.dtype());
      kernels::copy_plane({reinterpret_cast<std::byte*>(buffer), DType::f64, n, 1},
                          {from, x.dtype(), n, 1}, 1, n);
      use(i, static_cast<const double*>(buffer), n);
    }
  });
}

void check_probabilities(const char* operation, const Tensor& p) {
  check_floating(operation, p.dtype());
  for_each_piece(p, [&](std::int64_t, const double* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) check_probability(operation, values[i]);
  });
}

/// `p` has the shape of `x`, is contiguous and checked.
void fill_events(const Tensor& x, const Tensor& p, const Generator& generator) {
  const RandomStream stream = generator.take(x.size());
  const std::int64_t bytes = item_bytes(x.dtype());
  for_each_piece(p, [&](std::int64_t first, const double* chances, std::int64_t count) {
    std::uint8_t events[fill_piece_elements];
    kernels::random_bernoulli(stream.from(first), events, count, chances);
    kernels::copy_plane({x.raw_data() + first * bytes, x.dtype(), count, 1},
                        {reinterpret_cast<std::byte*>(events), DType::u8, count, 1}, 1, count);
  });
}

/// Replaces the elements of `x`: `fill(tensor)` writes those of a contiguous one.
template <class Fill>
void fill_in_place(const char* operation, Tensor& x, Fill fill) {
  prepare_in_place(operation, x);
  if (x.is_contiguous()) {
    fill(x);
  } else {
    const Tensor whole = empty_like(x);
    fill(whole);
    kernels::copy(x.shape(), x.array(), whole.array());
  }
  if (autograd::is_recorded(x)) {
    autograd::record_in_place(operation, x, {}, {}, [](const Saved&, const Gradient& g) {
      return std::vector<Gradient>{autograd::zero_gradient(g.value.shape(), g.value.dtype())};
    });
  }
}

IntegerRange half_open(const char* operation, std::int64_t low, std::int64_t high) {
  if (low >= high) {
    throw ValueError("{}: expected low < high, got low {} and high {}", operation, low, high);
  }
  return {low, high - 1};
}

Tensor uniform_like(const char* operation, const Shape& shape, DType dtype,
                    const Generator& generator) {
  check_floating(operation, dtype);
  Tensor result = empty(shape, dtype);
  fill_uniform(operation, result, 0, 1, generator);
  return result;
}

Tensor normal_like(const char* operation, double mean, double std, const Shape& shape, DType dtype,
                   const Generator& generator) {
  check_floating(operation, dtype);
  check_std(operation, std);
  Tensor result = empty(shape, dtype);
  fill_normal(result, mean, std, generator);
  return result;
}

Tensor integers_like(const char* operation, const IntegerRange& range, const Shape& shape,
                     DType dtype, const Generator& generator) {
  if (range.low > range.last) {
    throw ValueError("{}: expected a range with numbers, got one from {} to {}", operation,
                     range.low, range.last);
  }
  Tensor result = empty(shape, dtype);
  fill_integers(operation, result, range, generator);
  return result;
}

}  // namespace

Tensor rand(const Shape& shape, const RandomOptions& options) {
  return uniform_like("rand", shape, options.dtype.value_or(DType::f32), options.generator);
}
Tensor rand_like(const Tensor& x, const RandomOptions& options) {
  return uniform_like("rand_like", x.shape(), options.dtype.value_or(x.dtype()), options.generator);
}

Tensor randn(const Shape& shape, const RandomOptions& options) {
  return normal_like("randn", 0, 1, shape, options.dtype.value_or(DType::f32), options.generator);
}
Tensor randn_like(const Tensor& x, const RandomOptions& options) {
  return normal_like("randn_like", 0, 1, x.shape(), options.dtype.value_or(x.dtype()),
                     options.generator);
}

Tensor normal(double mean, double std, const Shape& shape, const RandomOptions& options) {
  return normal_like("normal", mean, std, shape, options.dtype.value_or(DType::f32),
                     options.generator);
}

Tensor normal(const Tensor& mean, const Tensor& std, const RandomOptions& options) {
  const DType dtype = options.dtype.value_or(promote(mean.dtype(), std.dtype()));
  check_floating("normal", dtype);
  for_each_piece(contiguous(std.detach()),
                 [](std::int64_t, const double* values, std::int64_t count) {
                   for (std::int64_t i = 0; i < count; ++i) check_std("normal", values[i]);
                 });
  const Shape shape = common_shape("normal", mean.shape(), std.shape());
  const Tensor z = normal_like("normal", 0, 1, shape, dtype, options.generator);
  return add(mul(z, to(std, dtype)), to(mean, dtype));
}

Tensor randint(const IntegerRange& range, const Shape& shape, const RandomOptions& options) {
  return integers_like("randint", range, shape, options.dtype.value_or(DType::i64),
                       options.generator);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               const RandomOptions& options) {
  return randint(half_open("randint", low, high), shape, options);
}
Tensor randint_like(const Tensor& x, const IntegerRange& range, const RandomOptions& options) {
  return integers_like("randint_like", range, x.shape(), options.dtype.value_or(x.dtype()),
                       options.generator);
}
Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high,
                    const RandomOptions& options) {
  return randint_like(x, half_open("randint_like", low, high), options);
}

Tensor bernoulli(const Tensor& p, const RandomOptions& options) {
  const Tensor chances = contiguous(p.detach());
  check_probabilities("bernoulli", chances);
  Tensor result = empty_like(chances, options.dtype);
  fill_events(result, chances, options.generator);
  return result;
}
Tensor bernoulli(double p, const Shape& shape, const RandomOptions& options) {
  check_probability("bernoulli", p);
  Tensor result = empty(shape, options.dtype.value_or(DType::f32));
  fill_events(result, p, options.generator);
  return result;
}

void uniform_(Tensor& x, double low, double high, const Generator& generator) {
  check_floating("uniform_", x.dtype());
  with_uniform_range("uniform_", x.dtype(), low, high, [](const auto& /*checked*/) {});
  fill_in_place("uniform_", x,
                [&](const Tensor& to) { fill_uniform("uniform_", to, low, high, generator); });
}

void normal_(Tensor& x, double mean, double std, const Generator& generator) {
  check_floating("normal_", x.dtype());
  check_std("normal_", std);
  fill_in_place("normal_", x, [&](const Tensor& to) { fill_normal(to, mean, std, generator); });
}

void bernoulli_(Tensor& x, double p, const Generator& generator) {
  check_probability("bernoulli_", p);
  fill_in_place("bernoulli_", x, [&](const Tensor& to) { fill_events(to, p, generator); });
}

void bernoulli_(Tensor& x, const Tensor& p, const Generator& generator) {
  const Layout repeated = broadcast("bernoulli_", "probabilities", p.layout(), x.shape());
  const Tensor chances = contiguous(p.detach().with_layout(repeated));
  check_probabilities("bernoulli_", chances);
  fill_in_place("bernoulli_", x, [&](const Tensor& to) { fill_events(to, chances, generator); });
}

}  // namespace loup::ops
