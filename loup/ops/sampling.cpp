#include "loup/ops/sampling.h"

#include <bit>
#include <cmath>
#include <vector>

#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/permutation.h"
#include "loup/ops/copy.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

/// Weights under a binary tree of their sums. An index is drawn in one walk from the root; to take
/// a weight away, the sums above it are added anew, so no rounding error is left behind.
class WeightTree {
 public:
  explicit WeightTree(std::int64_t count)
      : leaves_(std::bit_ceil(static_cast<std::size_t>(count))), sums_(2 * leaves_) {}

  double& operator[](std::int64_t i) { return sums_[leaves_ + static_cast<std::size_t>(i)]; }
  double total() const { return sums_[1]; }

  /// To be called when the weights have been written.
  void add_up() {
    for (std::size_t k = leaves_; k-- > 1;) sums_[k] = sums_[2 * k] + sums_[2 * k + 1];
  }

  /// The index where the running sum of weights passes `fraction` of the total. Its weight is not
  /// 0 unless all are.
  std::int64_t find(double fraction) const {
    double rest = fraction * total();
    std::size_t k = 1;
    while (k < leaves_) {
      const double left = sums_[2 * k];
      k *= 2;
      // Rounding may leave more than there is on the right: an empty side is never entered.
      if (rest >= left && sums_[k + 1] > 0) {
        rest -= left;
        ++k;
      }
    }
    return static_cast<std::int64_t>(k - leaves_);
  }

  void remove(std::int64_t i) {
    std::size_t k = leaves_ + static_cast<std::size_t>(i);
    sums_[k] = 0;
    for (k /= 2; k > 0; k /= 2) sums_[k] = sums_[2 * k] + sums_[2 * k + 1];
  }

 private:
  std::size_t leaves_;
  std::vector<double> sums_;
};

/// Reads a row of weights and checks it; the number of those above 0.
std::int64_t read_weights(WeightTree& tree, const double* row, std::int64_t size) {
  std::int64_t positive = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (!(row[i] >= 0) || !std::isfinite(row[i])) {
      throw ValueError("multinomial: expected weights that are finite and not negative, got {}",
                       row[i]);
    }
    positive += row[i] > 0 ? 1 : 0;
    tree[i] = row[i];
  }
  tree.add_up();
  return positive;
}

}  // namespace

Tensor randperm(std::int64_t n, const Generator& generator) {
  if (n < 0) throw ValueError("randperm: expected n of at least 0, got {}", n);
  Tensor result = empty({n}, DType::i64);
  const kernels::RandomStream stream = generator.take(2 * n + 4);
  kernels::random_permutation(stream, reinterpret_cast<std::int64_t*>(result.raw_data()), n);
  return result;
}

Tensor multinomial(const Tensor& weights, std::int64_t count, const MultinomialOptions& options) {
  if (weights.ndim() != 1 && weights.ndim() != 2) {
    throw ShapeError("multinomial: expected weights with 1 or 2 dims, got shape {}",
                     weights.shape());
  }
  if (!is_floating(weights.dtype())) {
    throw DTypeError("multinomial: expected weights of a floating dtype, got {}", weights.dtype());
  }
  if (count < 1) throw ValueError("multinomial: expected at least 1 sample, got {}", count);
  const Tensor source = contiguous(to(weights.detach(), DType::f64));
  const std::int64_t size = source.shape().back();
  const std::int64_t rows = source.ndim() == 1 ? 1 : source.shape()[0];
  Shape shape = source.shape();
  shape[shape.size() - 1] = count;
  Tensor result = empty(shape, DType::i64);
  auto* const indices = reinterpret_cast<std::int64_t*>(result.raw_data());
  const kernels::RandomStream stream = options.generator.take(2 * rows * count);
  const std::int64_t work = 16 * (source.bytes() + result.bytes());
  parallel_for(rows, work, [&](std::int64_t r) {
    WeightTree tree(size);
    const auto* const row = reinterpret_cast<const double*>(source.raw_data()) + r * size;
    const std::int64_t positive = read_weights(tree, row, size);
    const std::int64_t needed = options.replacement ? 1 : count;
    if (positive < needed) {
      throw ValueError("multinomial: expected at least {} weights above 0 in a row, got {}", needed,
                       positive);
    }
    if (!std::isfinite(tree.total())) {
      throw ValueError("multinomial: expected weights with a finite sum, got {}", tree.total());
    }
    for (std::int64_t i = r * count; i < (r + 1) * count; ++i) {
      indices[i] = tree.find(static_cast<double>(stream.long_word(i) >> 11U) * 0x1p-53);
      if (!options.replacement) tree.remove(indices[i]);
    }
  });
  return result;
}

}  // namespace loup::ops
