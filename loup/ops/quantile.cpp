#include "loup/ops/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/nth_lines.h"
#include "loup/ops/nth_rules.h"
#include "loup/ops/reduce.h"
#include "loup/ops/shape.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

/// Where more places than this are wanted, sorting the line is faster than selecting each.
constexpr std::size_t worth_sorting = 32;

/// Two neighbours of the sorted elements, and the share of the second.
struct Place {
  std::int64_t lower;
  double share;
};

Place place_of(double q, std::int64_t count, Interpolation interpolation) {
  const double place = q * static_cast<double>(count - 1);
  const double below = std::floor(place);
  const auto lower = static_cast<std::int64_t>(below);
  const double rest = place - below;
  switch (interpolation) {
    case Interpolation::linear: return {lower, rest};
    case Interpolation::lower: return {lower, 0};
    case Interpolation::higher: return {lower + (rest > 0 ? 1 : 0), 0};
    case Interpolation::midpoint: return {lower, rest > 0 ? 0.5 : 0};
    case Interpolation::nearest: return {static_cast<std::int64_t>(std::nearbyint(place)), 0};
  }
  __builtin_unreachable();
}

double between(double a, double b, double share) {
  if (a == b || share == 0) return a;
  // The difference of infinities, or of very large numbers, is none.
  const double distance = b - a;
  if (!std::isfinite(distance)) return (1 - share) * a + share * b;
  return share < 0.5 ? a + share * distance : b - (1 - share) * distance;
}

template <class T>
void set(const Tensor& x, std::int64_t i, T value) {
  visit_dtype(x.dtype(), [&]<class Element>(std::type_identity<Element>) {
    reinterpret_cast<Element*>(x.raw_data())[i] = convert<Element>(value);
  });
}

/// Results for every q and line, and, where gradients will be asked for, what they are made of.
/// All are contiguous: a row for each q, with an element for each line.
struct Quantiles {
  Tensor values;
  Tensor lower, upper;  // elements
  Tensor share;         // of the upper one
};

class QuantileRun {
 public:
  QuantileRun(std::span<const double> q, Interpolation interpolation, DType dtype,
              std::int64_t lines, Quantiles result, bool is_recorded)
      : q_(q),
        interpolation_(interpolation),
        dtype_(dtype),
        lines_(lines),
        result_(std::move(result)),
        is_recorded_(is_recorded) {}

  void operator()(std::int64_t line, const LineKeys& keys) const {
    if (keys.count == 0 || keys.has_nan) return write_nan(line);
    const bool is_sorted = q_.size() > worth_sorting;
    if (is_sorted) sort(keys);
    for (std::size_t i = 0; i < q_.size(); ++i) {
      const Place place = place_of(q_[i], keys.count, interpolation_);
      std::int64_t lower = 0;
      std::int64_t upper = 0;
      if (is_sorted) {
        lower = key_at(keys, place.lower);
        upper = place.share > 0 ? key_at(keys, place.lower + 1) : lower;
      } else {
        lower = keys.at(place.lower);
        upper = place.share > 0 ? keys.behind(place.lower, lower) : lower;
      }
      const std::int64_t at = static_cast<std::int64_t>(i) * lines_ + line;
      set(result_.values, at,
          between(kernels::value_of_key(dtype_, lower), kernels::value_of_key(dtype_, upper),
                  place.share));
      if (!is_recorded_) continue;
      const std::int64_t bytes = item_bytes(dtype_);
      kernels::write_key(dtype_, lower, result_.lower.raw_data() + at * bytes);
      kernels::write_key(dtype_, upper, result_.upper.raw_data() + at * bytes);
      set(result_.share, at, place.share);
    }
  }

 private:
  void write_nan(std::int64_t line) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < q_.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) * lines_ + line;
      set(result_.values, at, nan);
      if (!is_recorded_) continue;
      set(result_.lower, at, nan);
      set(result_.upper, at, nan);
      set(result_.share, at, 0.0);
    }
  }

  template <class F>
  static auto with_keys(const LineKeys& keys, F&& f) {
    return keys.kernel.key_bytes == 4 ? f(reinterpret_cast<std::int32_t*>(keys.keys))
                                      : f(reinterpret_cast<std::int64_t*>(keys.keys));
  }
  static void sort(const LineKeys& keys) {
    with_keys(keys, [&](auto* first) { std::sort(first, first + keys.count); });
  }
  static std::int64_t key_at(const LineKeys& keys, std::int64_t nth) {
    return with_keys(keys, [&](auto* first) -> std::int64_t { return first[nth]; });
  }

  std::span<const double> q_;
  Interpolation interpolation_;
  DType dtype_;  // of the elements
  std::int64_t lines_;
  Quantiles result_;
  bool is_recorded_;
};

void check_q(std::span<const double> q) {
  for (const double each : q) {
    if (!(each >= 0 && each <= 1)) {
      throw ValueError("quantile: expected q from 0 to 1, got {}", each);
    }
  }
}

/// All elements as one line. Their order does not matter, so it is that in memory.
Tensor as_line(const Tensor& x, const Dims& order) { return reshape(permute(x, order), {-1}); }

Dims dims_in_memory(const Tensor& x) {
  Dims order;
  for (int i = 0; i < x.ndim(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(x.strides()[static_cast<int>(a)]) > std::abs(x.strides()[static_cast<int>(b)]);
  });
  return order;
}

/// Which elements row i of the results used, and how much of each: the lower ones, then the upper.
std::array<NthUse, 2> uses_of(const Tensor& x, const Tensor* mask, int dim,
                              const Quantiles& found) {
  const autograd::RecordingScope scope(false);
  std::array<NthUse, 2> uses;
  const Tensor rest = sub(ones({}, found.share.dtype()), found.share);
  for (std::size_t side = 0; side < 2; ++side) {
    const Tensor& values = side == 0 ? found.lower : found.upper;
    Tensor indices = empty(values.shape(), DType::i64);
    Tensor is_live = empty(values.shape(), DType::boolean);
    for (std::int64_t i = 0; i < values.shape()[0]; ++i) {
      const NthUse use = use_of(x, mask, dim, unsqueeze(select(values, 0, i), dim));
      copy_(select(indices, 0, i), squeeze(use.indices, dim));
      copy_(select(is_live, 0, i), squeeze(use.is_live, dim));
    }
    const Tensor share = side == 0 ? rest : found.share;
    is_live = logical_and(is_live, ne(share, 0));
    uses[side] = {movedim(indices, 0, dim), movedim(is_live, 0, dim), movedim(share, 0, dim)};
  }
  return uses;
}

/// Along one dim of a tensor that has some: a leading dim for q, the dim itself gone.
Tensor quantile_lines(const Tensor& x, std::span<const double> q, int dim, const Tensor* mask,
                      Interpolation interpolation, DType dtype) {
  const DType result = floating_type(dtype);
  const bool is_recorded = autograd::is_recorded(x);
  Shape shape = x.shape();
  shape.erase(dim);
  shape.insert(0, static_cast<std::int64_t>(q.size()));
  Quantiles found{empty(shape, result), {}, {}, {}};
  if (is_recorded) {
    found.lower = empty(shape, dtype);
    found.upper = empty(shape, dtype);
    found.share = empty(shape, dtype);
  }
  if (found.values.size() == 0) return found.values;
  const Tensor elements = x.detach();
  const std::int64_t lines = x.size() / x.shape()[dim];
  const QuantileRun run(q, interpolation, dtype, lines, found, is_recorded);
  NthLines(elements, mask, dim, dtype).for_each([&](std::int64_t line, const LineKeys& keys) {
    run(line, keys);
  });
  if (!is_recorded) return found.values;
  const std::array<NthUse, 2> uses = uses_of(elements, mask, dim, found);
  Tensor whole = movedim(found.values, 0, dim);
  record_nth("quantile", whole, x, dim, true, {uses[0], uses[1]});
  return movedim(whole, dim, 0);
}

}  // namespace

Interpolation interpolation_of(std::string_view name) {
  constexpr std::string_view names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<Interpolation>(i);
  }
  throw ValueError(
      "quantile: expected interpolation as one of linear, lower, higher, midpoint, nearest, got "
      "'{}'",
      name);
}

Tensor quantiles_along(const Tensor& x, std::span<const double> q, std::optional<std::int64_t> dim,
                       const QuantileArguments& arguments) {
  const int d = dim ? normalize_dim("quantile", *dim, x.ndim()) : 0;
  check_q(q);
  if (arguments.dtype && !is_floating(*arguments.dtype)) {
    throw ValueError("quantile: expected a floating dtype, got {}", *arguments.dtype);
  }
  TensorRef mask = mask_as("quantile", x, arguments.mask);
  const DType dtype = arguments.dtype.value_or(x.dtype());
  Tensor elements = autograd::is_recorded(x) ? to(x, dtype) : x;
  const bool is_whole = !dim || x.ndim() == 0;
  if (is_whole) {
    const Dims order = dims_in_memory(x);
    elements = as_line(elements, order);
    if (mask) mask = as_line(*mask, order);
  }
  if (elements.shape()[d] == 0) {
    throw IndexError("quantile: expected elements to choose from, got shape {}", x.shape());
  }
  Tensor result =
      quantile_lines(elements, q, is_whole ? 0 : d, mask.get(), arguments.interpolation, dtype);
  if (!arguments.keepdim) return result;
  if (!is_whole) return unsqueeze(result, d + 1);
  Shape shape = Dims::filled(x.ndim(), 1);
  shape.insert(0, static_cast<std::int64_t>(q.size()));
  return reshape(result, shape);
}

}  // namespace loup::ops
