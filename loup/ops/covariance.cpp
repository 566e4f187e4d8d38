#include "loup/ops/covariance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/matmul.h"
#include "loup/ops/contract.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/product.h"
#include "loup/ops/reduce.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "loup/ops/weighted_mean.h"
#include "loup/tensor/create.h"

// Everything is made of sums over observations, which are matrices of pairs: products of factors
// that have the size of the input. Factors are formed of some observations at a time, and the sums
// of such blocks are added in float64. Blocks depend on the shape alone.

namespace loup::ops {

namespace {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Elements of a block, unless it would have fewer observations than a product adds at a time, or
/// than there are variables: then it may be as large as the result.
constexpr std::int64_t covariance_block = 32 * 1024;
/// Parts of the observations that threads share have sums of their own: where there are many
/// pairs, threads share the products of a block instead.
constexpr std::int64_t most_parts_of_pairs = 128 * 1024;
constexpr std::int64_t most_covariance_parts = 32;

/// Half types are computed in float32 and rounded once.
DType covariance_dtype(DType result) { return result == DType::f64 ? DType::f64 : DType::f32; }

Tensor turned(const Tensor& x) { return transpose(x, 0, 1); }

/// The variables as rows of a matrix.
Tensor as_matrix(const char* operation, const Tensor& x) {
  if (x.ndim() > 2) {
    throw ShapeError("{}: expected variables as rows of a matrix, got shape {}", operation,
                     x.shape());
  }
  return x.ndim() == 2 ? x : reshape(x, {1, x.size()});
}

std::optional<Tensor> matrix_mask(const char* operation, const Tensor& x, const Tensor* mask) {
  if (mask == nullptr) return std::nullopt;
  return as_matrix(operation, mask_as(operation, x, *mask));
}

/// Weights of observations: a vector that is not negative.
Tensor checked_weights(const char* what, const Tensor& weights, std::int64_t count, DType dtype) {
  if (weights.ndim() != 1 || weights.size() != count) {
    throw ShapeError("cov: expected {} of shape [{}], got {}", what, count, weights.shape());
  }
  const Tensor result = to(weights.detach(), dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!(result.at<double>({i}) >= 0)) {
      throw ValueError("cov: expected {} that are not negative, got {}", what,
                       result.at<double>({i}));
    }
  }
  return result;
}

/// Each observation times its weight.
Tensor times(const Tensor& x, const std::optional<Tensor>& weights) {
  return weights ? x * *weights : x;
}

/// Variables by observations, and how much each of these counts.
struct Observations {
  Tensor x;                    // of any dtype
  Tensor shift = {};           // of each variable: it changes nothing but the rounding
  std::optional<Tensor> mask;  // of the shape of x, bool or integers
  std::optional<Tensor> weights, squared_weights;  // vectors

  DType dtype() const { return shift.dtype(); }
  Observations between(std::int64_t first, std::int64_t count) const {
    const auto part = [&](const std::optional<Tensor>& of) {
      return of ? std::optional(narrow(*of, -1, first, count)) : std::nullopt;
    };
    return {narrow(x, 1, first, count), shift, part(mask), part(weights), part(squared_weights)};
  }
  Tensor counts() const { return to(*mask, DType::boolean); }
  /// Less the shift; 0 where they do not count.
  Tensor values() const {
    const Tensor distance = to(x, dtype()) - shift;
    return mask ? where(counts(), distance, 0) : distance;
  }
  /// 1 where they count. One row stands for all variables when all do.
  Tensor valid() const { return mask ? to(counts(), dtype()) : ones({1, x.shape()[1]}, dtype()); }
};

/// Sums over observations; i and j are the variables of a pair, w is a weight, and what one of them
/// lacks adds nothing. One column stands for all j when all observations count.
enum PairTerm : std::size_t {
  term_products,         // w xi xj
  term_values,           // w xi
  term_squares,          // w xi xi
  term_weights,          // w
  term_squared_weights,  // w times aweights
  term_count
};
using PairTerms = std::array<std::optional<Tensor>, term_count>;
/// Which of them are asked for; the weights always are.
struct AskedTerms {
  bool values = true;
  bool squares = false;
};

Tensor row_sums(const Tensor& x) { return reduce(sum_spec, x, {-1}, {.keepdim = true}); }

PairTerms terms_of_block(const Observations& block, AskedTerms asked) {
  PairTerms terms;
  const std::optional<Tensor> valid = block.mask ? std::optional(block.valid()) : std::nullopt;
  const auto where_valid = [&](const Tensor& x) {
    return valid ? product(x, turned(*valid)) : row_sums(x);
  };
  if (asked.values) {
    const Tensor x = block.values();
    const Tensor weighted = times(x, block.weights);
    terms[term_products] = product(weighted, turned(x));
    terms[term_values] = where_valid(weighted);
    if (asked.squares) terms[term_squares] = where_valid(weighted * x);
  }
  if (!valid) return terms;
  terms[term_weights] = where_valid(times(*valid, block.weights));
  if (block.squared_weights) {
    terms[term_squared_weights] = where_valid(times(*valid, block.squared_weights));
  }
  return terms;
}

void add_terms(PairTerms& sums, const PairTerms& terms) {
  for (std::size_t i = 0; i < term_count; ++i) {
    if (!terms[i]) continue;
    if (sums[i]) {
      add.in_place(*sums[i], *terms[i]);
    } else {
      sums[i] = to(*terms[i], DType::f64);
    }
  }
}

/// What is summed block by block; not recorded.
PairTerms sum_blocks(const Observations& all, AskedTerms asked) {
  const std::int64_t variables = std::max<std::int64_t>(1, all.x.shape()[0]);
  const std::int64_t count = all.x.shape()[1];
  const std::int64_t columns =
      std::max({kernels::depth_block, covariance_block / variables, variables});
  if (count <= columns) return terms_of_block(all, asked);
  const std::int64_t blocks = (count + columns - 1) / columns;
  const std::int64_t most = std::clamp<std::int64_t>(most_parts_of_pairs / (variables * variables),
                                                     1, most_covariance_parts);
  const std::int64_t part_blocks = (blocks + most - 1) / most;
  const std::int64_t parts = (blocks + part_blocks - 1) / part_blocks;
  std::vector<PairTerms> sums(static_cast<std::size_t>(parts));
  parallel_for(parts, [&](std::int64_t part) {
    const std::int64_t end = std::min(count, (part + 1) * part_blocks * columns);
    for (std::int64_t first = part * part_blocks * columns; first < end; first += columns) {
      check_interrupt();
      const Observations block = all.between(first, std::min(columns, end - first));
      add_terms(sums[static_cast<std::size_t>(part)], terms_of_block(block, asked));
    }
  });
  for (std::size_t part = 1; part < sums.size(); ++part) add_terms(sums[0], sums[part]);
  for (auto& sum : sums[0]) {
    if (sum) sum = to(*sum, all.dtype());
  }
  return std::move(sums[0]);
}

PairTerms sum_terms(const Observations& all, AskedTerms asked) {
  PairTerms terms = sum_blocks(all, asked);
  if (all.mask) return terms;
  // All pairs have all observations.
  terms[term_weights] =
      all.weights ? row_sums(*all.weights) : full({1}, all.x.shape()[1], all.dtype());
  if (all.squared_weights) terms[term_squared_weights] = row_sums(*all.squared_weights);
  return terms;
}

/// Records a sum that depends on x.
void record_term(const char* operation, PairTerm term, const Observations& all, Tensor& sum) {
  std::vector<SavedTensor> saved{SavedTensor(all.x), SavedTensor(all.shift)};
  if (all.mask) saved.emplace_back(all.counts());
  if (all.weights) saved.emplace_back(*all.weights);
  autograd::record(
      operation, sum, {all.x}, std::move(saved),
      [operation, term, is_masked = all.mask.has_value(), is_weighted = all.weights.has_value()](
          const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        Observations own{kept[0], kept[1], {}, {}, {}};
        if (is_masked) own.mask = kept[2];
        if (is_weighted) own.weights = kept[is_masked ? 3 : 2];
        Gradient from = g;
        if (term == term_products) {  // x is both factors
          const std::optional<Tensor> mask = g.mask ? std::optional(turned(*g.mask)) : std::nullopt;
          from = autograd::accumulate(g, {turned(g.value), mask});
        }
        const Tensor other = term == term_products ? own.values() : own.valid();
        Tensor value = times(contract(operation, from.value, from.mask, other, {}), own.weights);
        if (term == term_squares) value = 2 * own.values() * value;
        Gradient result{to(value, own.x.dtype()), own.mask};
        if (from.mask) {
          const Tensor live = any(operation, *from.mask, 1, true);
          result.mask = autograd::both(result.mask, expand(live, own.x.shape()));
        }
        return {result};
      });
}

/// Sums over the observations that two variables have in common.
class Pairs {
 public:
  Pairs(const char* operation, Observations all, bool asks_squares) {
    const Tensor x = all.x.detach();
    const Tensor* const mask = all.mask ? &*all.mask : nullptr;
    const DType dtype = covariance_dtype(result_type(mean_spec, x.dtype()));
    all.shift = all.weights
                    ? weighted_mean_of(x, *all.weights, {1}, true, dtype, mask)
                    : reduce(mean_spec, x, {1}, {.mask = mask, .keepdim = true, .dtype = dtype});
    Observations detached = all;
    detached.x = x;
    terms_ = sum_terms(detached, {.squares = asks_squares});
    if (!autograd::is_recorded(all.x)) return;
    for (const PairTerm term : {term_products, term_values, term_squares}) {
      if (terms_[term]) record_term(operation, term, all, *terms_[term]);
    }
  }

  /// Of the weights.
  const Tensor& total() const { return *terms_[term_weights]; }
  const std::optional<Tensor>& total_of_squares() const { return terms_[term_squared_weights]; }
  /// Σ w (x - mean)(y - mean).
  Tensor products() const {
    const Tensor& sums = *terms_[term_values];
    return *terms_[term_products] - sums / total() * turned(sums);
  }
  /// Σ w (x - mean)².
  Tensor squares() const {
    const Tensor& sums = *terms_[term_values];
    return *terms_[term_squares] - sums / total() * sums;
  }

 private:
  PairTerms terms_;
};

/// The shape that the caller expects, rounded once.
Tensor finished(const Tensor& x, const Tensor& pairs) {
  const Tensor result = to(pairs, result_type(mean_spec, x.dtype()));
  return x.ndim() == 2 ? result : reshape(result, {});
}

}  // namespace

Tensor covariance(const Tensor& x, const CovarianceArguments& arguments) {
  Observations all{as_matrix("cov", x), {}, matrix_mask("cov", x, arguments.mask), {}, {}};
  const DType computed = covariance_dtype(result_type(mean_spec, x.dtype()));
  const std::int64_t count = all.x.shape()[1];
  if (arguments.fweights != nullptr) {
    if (is_floating(arguments.fweights->dtype())) {
      throw DTypeError("cov: expected fweights of an integer dtype, got {}",
                       arguments.fweights->dtype());
    }
    all.weights = checked_weights("fweights", *arguments.fweights, count, computed);
  }
  if (arguments.aweights != nullptr) {
    const Tensor own = checked_weights("aweights", *arguments.aweights, count, computed);
    all.weights = times(own, all.weights);
    all.squared_weights = *all.weights * own;
  }
  const Pairs pairs("cov", std::move(all), false);
  const Tensor& total = pairs.total();
  const auto& squares = pairs.total_of_squares();
  const Tensor divisor = clamp(
      squares ? total - arguments.correction * (*squares / total) : total - arguments.correction,
      Operand(0), std::nullopt);
  const Tensor sums = pairs.products();
  const Tensor undefined = sums.detach() / divisor;
  return finished(x, where(divisor > 0, sums / divisor, undefined));
}

Tensor correlation(const Tensor& x, const Tensor* mask) {
  const Pairs pairs("corrcoef",
                    {as_matrix("corrcoef", x), {}, matrix_mask("corrcoef", x, mask), {}, {}}, true);
  const Tensor squares = pairs.squares();
  const Tensor deviations = sqrt(squares) * sqrt(turned(squares));
  const Tensor result = clamp(pairs.products() / deviations, Operand(-1), Operand(1));
  return finished(x, where(deviations > 0, result, nan));
}

Tensor pair_mask(const char* operation, const Tensor& x, const Tensor* mask) {
  const Tensor matrix = as_matrix(operation, x.detach());
  const std::int64_t count = matrix.shape()[0];
  Tensor result = ones({count, count}, DType::boolean);
  if (const auto valid = matrix_mask(operation, x, mask)) {
    const Observations all{matrix, empty({}, DType::f32), valid, {}, {}};
    result = *sum_terms(all, {.values = false})[term_weights] > 0;
  }
  return x.ndim() == 2 ? result : reshape(result, {});
}

}  // namespace loup::ops
