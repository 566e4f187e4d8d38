#include "loup/ops/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "loup/base/axes.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/ops/reduce.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

constexpr std::int64_t piece = 1024;
/// The loop is cut into parts whose bins are added in order, whatever the number of threads.
constexpr std::int64_t part_elements = 64 * 1024;
constexpr std::int64_t most_parts = 64;

/// A piece of the loop, converted.
struct Piece {
  std::array<double, piece> x, weight;
  std::array<std::uint8_t, piece> counts;
};

/// The elements of x, mask and weight in row-major order.
class Loop {
 public:
  Loop(const Tensor& x, const Tensor* mask, const Tensor* weight)
      : arrays_{x.array(), mask != nullptr ? mask->array() : Array{nullptr, DType::boolean, {}},
                weight != nullptr ? weight->array() : Array{nullptr, DType::f64, {}}},
        count_(x.size()) {
    for (int i = 0; i < x.ndim(); ++i) {
      Axis<3> axis{x.shape()[i], {}};
      for (std::size_t k = 0; k < 3; ++k) {
        axis.step[k] = arrays_[k].data != nullptr ? arrays_[k].strides[i] : 0;
      }
      axes_.push(axis);
    }
    axes_.merge();
  }

  std::int64_t count() const { return count_; }

  /// Calls `body(elements, count)` for pieces of [first, last).
  template <class Body>
  void run(std::int64_t first, std::int64_t last, Body&& body) const {
    Axes<3> outer = axes_;
    const Axis<3> row = outer.pop();
    Piece elements;
    elements.counts.fill(1);
    elements.weight.fill(1);
    for (std::int64_t at = first; at < last;) {
      const std::int64_t col = at % row.size;
      const std::int64_t count = std::min({piece, row.size - col, last - at});
      Offsets<3> offsets{};
      outer.advance(at / row.size, offsets);
      const std::array<std::byte*, 3> targets = {
          reinterpret_cast<std::byte*>(elements.x.data()),
          reinterpret_cast<std::byte*>(elements.counts.data()),
          reinterpret_cast<std::byte*>(elements.weight.data())};
      constexpr std::array dtypes = {DType::f64, DType::boolean, DType::f64};
      for (std::size_t k = 0; k < 3; ++k) {
        if (arrays_[k].data == nullptr) continue;
        const std::int64_t offset = offsets[k] + col * row.step[k];
        const std::byte* const from = arrays_[k].data + offset * item_bytes(arrays_[k].dtype);
        kernels::copy_plane({targets[k], dtypes[k], count, 1},
                            {from, arrays_[k].dtype, count, row.step[k]}, 1, count);
      }
      body(elements, count);
      at += count;
    }
  }

 private:
  std::array<Array, 3> arrays_;
  Axes<3> axes_;
  std::int64_t count_;
};

struct Interval {
  double low, high;
};

std::int64_t part_count(std::int64_t count, std::int64_t bins) {
  return std::clamp<std::int64_t>(count / std::max(part_elements, 4 * bins), 1, most_parts);
}

std::int64_t part_begin(std::int64_t count, std::int64_t parts, std::int64_t part) {
  return count / parts * part + std::min(part, count % parts);
}

/// The least and the greatest of the elements that count; NaN when one is NaN.
Interval extremes(const Loop& loop) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t parts = part_count(loop.count(), 0);
  std::vector<Interval> found(static_cast<std::size_t>(parts), {infinity, -infinity});
  parallel_for(parts, 8 * loop.count(), [&](std::int64_t part) {
    Interval own{infinity, -infinity};
    bool has_nan = false;
    loop.run(part_begin(loop.count(), parts, part), part_begin(loop.count(), parts, part + 1),
             [&](const Piece& e, std::int64_t count) {
               for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                 const bool counts = e.counts[i] != 0;
                 own.low = std::min(own.low, counts ? e.x[i] : infinity);
                 own.high = std::max(own.high, counts ? e.x[i] : -infinity);
                 has_nan |= counts && std::isnan(e.x[i]);
               }
             });
    if (has_nan) own.low = own.high = std::numeric_limits<double>::quiet_NaN();
    found[static_cast<std::size_t>(part)] = own;
  });
  Interval all{infinity, -infinity};
  for (const Interval& own : found) {
    if (std::isnan(own.low)) return own;
    all = {std::min(all.low, own.low), std::max(all.high, own.high)};
  }
  return all;
}

Interval range_of(const Loop& loop, const HistogramArguments& arguments) {
  Interval range{};
  if (arguments.range) {
    range = {arguments.range->first, arguments.range->second};
    if (range.low > range.high) {
      throw ValueError("histogram: expected a range that does not fall, got ({}, {})", range.low,
                       range.high);
    }
  } else {
    range = extremes(loop);
    if (range.low == std::numeric_limits<double>::infinity() && range.high == -range.low) {
      return {0, 1};
    }
  }
  if (!std::isfinite(range.low) || !std::isfinite(range.high)) {
    throw ValueError("histogram: expected a finite range, got ({}, {})", range.low, range.high);
  }
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5};
  return range;
}

/// Which bin an element lies in.
class Edges {
 public:
  /// `edges` as they are returned: elements are compared with what the user sees.
  Edges(const Tensor& edges, bool is_even) : values_(static_cast<std::size_t>(edges.size())) {
    for (std::int64_t i = 0; i < edges.size(); ++i) {
      values_[static_cast<std::size_t>(i)] = edges.at<double>({i});
    }
    bins_ = std::ssize(values_) - 1;
    if (is_even) scale_ = static_cast<double>(bins_) / (values_.back() - values_.front());
  }

  std::int64_t bins() const { return bins_; }

  /// Not NaN.
  bool contains(double x) const {
    return (static_cast<int>(x >= values_.front()) & static_cast<int>(x <= values_.back())) != 0;
  }
  /// Of an element that lies in one.
  std::int64_t operator()(double x) const {
    if (scale_ == 0) {
      const auto above = std::upper_bound(values_.begin(), values_.end(), x) - values_.begin();
      return std::min<std::int64_t>(above, bins_) - 1;
    }
    auto bin = std::min(static_cast<std::int64_t>((x - values_.front()) * scale_), bins_ - 1);
    // The edges are rounded, so the quotient may be off by one.
    while (bin > 0 && x < at(bin)) --bin;
    while (bin + 1 < bins_ && x >= at(bin + 1)) ++bin;
    return bin;
  }
  double width(std::int64_t bin) const { return at(bin + 1) - at(bin); }

 private:
  double at(std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }

  std::vector<double> values_;
  std::int64_t bins_;
  double scale_ = 0;  // 0: bins of different widths
};

template <class Count>
std::vector<Count> fill_bins(const Loop& loop, const Edges& edges) {
  const std::int64_t parts = part_count(loop.count(), edges.bins());
  const auto bins = static_cast<std::size_t>(edges.bins());
  std::vector<Count> all(static_cast<std::size_t>(parts) * bins, Count{0});
  parallel_for(parts, 32 * loop.count(), [&](std::int64_t part) {
    Count* const own = all.data() + static_cast<std::size_t>(part) * bins;
    loop.run(part_begin(loop.count(), parts, part), part_begin(loop.count(), parts, part + 1),
             [&](Piece& e, std::int64_t count) {
               // Moved together first, without branches: nobody can predict masks.
               std::size_t kept = 0;
               for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                 e.x[kept] = e.x[i];
                 if constexpr (!std::is_integral_v<Count>) e.weight[kept] = e.weight[i];
                 kept += static_cast<std::size_t>(e.counts[i] != 0) &
                         static_cast<std::size_t>(edges.contains(e.x[i]));
               }
               for (std::size_t i = 0; i < kept; ++i) {
                 own[edges(e.x[i])] +=
                     std::is_integral_v<Count> ? Count{1} : static_cast<Count>(e.weight[i]);
               }
             });
  });
  for (std::size_t part = 1; part < static_cast<std::size_t>(parts); ++part) {
    for (std::size_t bin = 0; bin < bins; ++bin) all[bin] += all[part * bins + bin];
  }
  all.resize(bins);
  return all;
}

Tensor even_edges(std::int64_t bins, const Interval& range, DType dtype) {
  if (bins < 1) throw ValueError("histogram: expected at least 1 bin, got {}", bins);
  Tensor edges = empty({bins + 1}, dtype);
  // Halves first: the whole width of a range may be too large a number.
  const double step =
      range.high / static_cast<double>(bins) - range.low / static_cast<double>(bins);
  for (std::int64_t i = 0; i <= bins; ++i) {
    edges.set({i}, i == bins ? range.high : range.low + static_cast<double>(i) * step);
  }
  return edges;
}

Tensor given_edges(const Tensor& edges, DType dtype) {
  if (edges.ndim() != 1 || edges.size() < 2) {
    throw ShapeError("histogram: expected a vector of at least 2 edges, got shape {}",
                     edges.shape());
  }
  Tensor result = empty(edges.shape(), dtype);
  kernels::copy(result.shape(), result.array(), edges.array());
  for (std::int64_t i = 1; i < result.size(); ++i) {
    const auto before = result.at<double>({i - 1});
    const auto here = result.at<double>({i});
    if (!(before <= here)) {
      throw ValueError("histogram: expected edges that do not fall, got {} before {}", before,
                       here);
    }
  }
  return result;
}

}  // namespace

BinCounts count_in_bins(const Tensor& x, const Bins& bins, const HistogramArguments& arguments) {
  const DType dtype = floating_type(x.dtype());
  const TensorRef mask = mask_as("histogram", x, arguments.mask);
  const Tensor* const weight = arguments.weight;
  if (weight != nullptr && weight->shape() != x.shape()) {
    throw ShapeError("histogram: expected weights of shape {}, got {}", x.shape(), weight->shape());
  }
  const Loop loop(x, mask.get(), weight);
  const auto* const given = std::get_if<Tensor>(&bins);
  if (given != nullptr && arguments.range) {
    throw ValueError("histogram: expected a range or edges of bins, got both");
  }
  const Tensor edges =
      given != nullptr ? given_edges(*given, dtype)
                       : even_edges(std::get<std::int64_t>(bins), range_of(loop, arguments), dtype);
  const Edges search(edges, given == nullptr);
  if (weight == nullptr && !arguments.density) {
    const std::vector<std::int64_t> counts = fill_bins<std::int64_t>(loop, search);
    return {from_data(std::span(counts), {search.bins()}), edges};
  }
  const std::vector<double> counts = fill_bins<double>(loop, search);
  double total = 0;
  for (const double count : counts) total += count;
  Tensor result = empty({search.bins()}, dtype);
  for (std::int64_t bin = 0; bin < search.bins(); ++bin) {
    const double count = counts[static_cast<std::size_t>(bin)];
    result.set({bin}, arguments.density ? count / total / search.width(bin) : count);
  }
  return {result, edges};
}

}  // namespace loup::ops
