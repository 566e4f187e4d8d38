#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

// The tree of operations that a sum promises, as plain loops. Element i of a row belongs to virtual
// lane i mod 32 (16 for f64); blocks of 16 elements per lane are added in the element's precision,
// folded to eight lanes (l + 16, l + 8) and flushed: f32 to f64, f64 to a sum and its rounding
// error. The eight lanes of a row are added neighbour to neighbour. Compiled without contraction.

namespace loup::test {

/// A row or a column with zeros where elements do not count.
template <class T>
using Counted = std::vector<T>;

template <class T>
struct SumModel;

namespace detail {

template <class P>
P fold_neighbours(const P* p) {
  return ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
}

/// Calls `flush(lane, sum)` with the eight sums of every block of a row.
template <int width, class T, class Flush>
void for_each_block_sum(const Counted<T>& row, Flush&& flush) {
  const std::size_t block = 16 * width;
  std::size_t begin = 0;
  do {
    // The rest of a row that is shorter than a virtual vector belongs to the block before it.
    std::size_t end = begin + block;
    if (end > row.size() || row.size() - end < width) end = row.size();
    T lanes[width] = {};
    for (std::size_t i = begin; i < end; ++i) lanes[(i - begin) % width] += row[i];
    for (int half = width / 2; half >= 8; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    for (int l = 0; l < 8; ++l) flush(l, lanes[l]);
    begin = end;
  } while (begin < row.size());
}

template <class T>
T add_down(const Counted<T>& tile) {
  T sum = tile[0];
  for (std::size_t r = 1; r < tile.size(); ++r) sum += tile[r];
  return sum;
}

}  // namespace detail

template <>
struct SumModel<float> {
  using Result = float;
  double sum = 0;

  void add_row(const Counted<float>& row) {
    double lanes[8] = {};
    detail::for_each_block_sum<32>(row, [&](int l, float value) { lanes[l] += double{value}; });
    sum += detail::fold_neighbours(lanes);
  }
  /// Up to eight elements of a column, top to bottom.
  void add_tile(const Counted<float>& tile) { sum += double{detail::add_down(tile)}; }
  void merge(const SumModel& other) { sum += other.sum; }
  float finish() const { return static_cast<float>(sum); }
};

template <>
struct SumModel<double> {
  using Result = double;
  double sum = 0;
  double error = 0;

  static void two_sum(double& sum, double& error, double value) {
    const double total = sum + value;
    const double back = total - sum;
    error += (sum - (total - back)) + (value - back);
    sum = total;
  }
  void add_row(const Counted<double>& row) {
    double sums[8] = {};
    double errors[8] = {};
    detail::for_each_block_sum<16>(
        row, [&](int l, double value) { two_sum(sums[l], errors[l], value); });
    two_sum(sum, error, detail::fold_neighbours(sums));
    error += detail::fold_neighbours(errors);
  }
  void add_tile(const Counted<double>& tile) { two_sum(sum, error, detail::add_down(tile)); }
  void merge(const SumModel& other) {
    two_sum(sum, error, other.sum);
    error += other.error;
  }
  double finish() const { return std::isfinite(sum) ? sum + error : sum; }
};

/// Exact modulo 2^64, in any order.
template <class T>
  requires std::is_integral_v<T>
struct SumModel<T> {
  using Result = std::int64_t;
  std::uint64_t sum = 0;

  void add_row(const Counted<T>& row) {
    for (const T value : row) sum += static_cast<std::uint64_t>(std::int64_t{value});
  }
  void add_tile(const Counted<T>& tile) { add_row(tile); }
  void merge(const SumModel& other) { sum += other.sum; }
  std::int64_t finish() const { return static_cast<std::int64_t>(sum); }
};

}  // namespace loup::test
