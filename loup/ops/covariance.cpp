#include "loup/ops/covariance.h"

#include <cmath>
#include <limits>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/matmul.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

DType result_dtype(DType dtype) {
  if (is_floating(dtype)) return dtype;
  return dtype == DType::i64 ? DType::f64 : DType::f32;
}

/// Half types are computed in float32 and rounded once.
DType computed_dtype(DType result) { return result == DType::f64 ? DType::f64 : DType::f32; }

Tensor sum_of(const Tensor& x, const Dims& dims, const Tensor* mask = nullptr) {
  return reduce(sum_spec, x, dims, {.mask = mask, .keepdim = true});
}

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
  return as_matrix(operation, to(mask_as(operation, x, *mask), DType::boolean));
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

/// One number for every pair where all observations count.
Tensor for_all_pairs(double value, DType dtype) { return full({1, 1}, value, dtype); }

/// Variables less a constant, which changes nothing but the rounding; 0 where they do not count.
Tensor shifted(const Tensor& x, const Tensor& mask) {
  const Tensor mean = sum_of(x.detach(), {1}, &mask) / sum_of(to(mask, x.dtype()), {1});
  return where(mask, x - mean, 0);
}

/// Sums over the observations that two variables have in common: matrices of pairs.
class Pairs {
 public:
  Pairs(const Tensor& x, const std::optional<Tensor>& mask, const std::optional<Tensor>& weights)
      : x_(mask ? shifted(x, *mask) : centred(x, weights)), weights_(weights) {
    if (mask) valid_ = to(*mask, x.dtype());
  }

  /// Of one weight for each observation, a vector; absent: 1.
  Tensor sum_of_weights(const std::optional<Tensor>& weights) const {
    if (valid_) return matmul(weights ? *valid_ * *weights : *valid_, turned(*valid_));
    if (!weights) return for_all_pairs(static_cast<double>(x_.shape()[1]), x_.dtype());
    return reshape(sum_of(*weights, {}), {1, 1});
  }
  /// Σ w (x - mean)(y - mean).
  Tensor products(const Tensor& total) const {
    Tensor both = matmul(weighted(x_), turned(x_));
    if (!valid_) return both;
    const Tensor sums = matmul(weighted(x_), turned(*valid_));
    return both - sums * turned(sums) / total;
  }
  /// Σ w (x - mean)².
  Tensor squares(const Tensor& total) const {
    if (!valid_) return sum_of(weighted(x_) * x_, {1});
    const Tensor sums = matmul(weighted(x_), turned(*valid_));
    return matmul(weighted(x_) * x_, turned(*valid_)) - sums * sums / total;
  }

 private:
  static Tensor centred(const Tensor& x, const std::optional<Tensor>& weights) {
    if (!weights) return x - sum_of(x, {1}) / static_cast<double>(x.shape()[1]);
    return x - sum_of(x * *weights, {1}) / sum_of(*weights, {});
  }
  Tensor weighted(const Tensor& x) const { return weights_ ? x * *weights_ : x; }

  Tensor x_;
  std::optional<Tensor> valid_;  // as numbers; absent: all
  std::optional<Tensor> weights_;
};

/// The shape that the caller expects, rounded once.
Tensor finished(const Tensor& x, const Tensor& pairs, DType dtype) {
  const Tensor result = to(pairs, dtype);
  return x.ndim() == 2 ? result : reshape(result, {});
}

}  // namespace

Tensor covariance(const Tensor& x, const CovarianceArguments& arguments) {
  const DType dtype = result_dtype(x.dtype());
  const DType computed = computed_dtype(dtype);
  const std::optional<Tensor> mask = matrix_mask("cov", x, arguments.mask);
  const Tensor rows = to(as_matrix("cov", x), computed);
  const std::int64_t count = rows.shape()[1];
  std::optional<Tensor> weights;
  std::optional<Tensor> squares;  // w times aweights
  if (arguments.fweights != nullptr) {
    if (is_floating(arguments.fweights->dtype())) {
      throw DTypeError("cov: expected fweights of an integer dtype, got {}",
                       arguments.fweights->dtype());
    }
    weights = checked_weights("fweights", *arguments.fweights, count, computed);
  }
  if (arguments.aweights != nullptr) {
    const Tensor own = checked_weights("aweights", *arguments.aweights, count, computed);
    weights = weights ? *weights * own : own;
    squares = *weights * own;
  }
  const Pairs pairs(rows, mask, weights);
  const Tensor total = pairs.sum_of_weights(weights);
  const Tensor divisor =
      clamp(squares ? total - arguments.correction * (pairs.sum_of_weights(squares) / total)
                    : total - arguments.correction,
            Operand(0), std::nullopt);
  const Tensor sums = pairs.products(total);
  const Tensor undefined = sums.detach() / divisor;
  return finished(x, where(divisor > 0, sums / divisor, undefined), dtype);
}

Tensor correlation(const Tensor& x, const Tensor* given) {
  const DType dtype = result_dtype(x.dtype());
  const std::optional<Tensor> mask = matrix_mask("corrcoef", x, given);
  const Tensor rows = to(as_matrix("corrcoef", x), computed_dtype(dtype));
  const Pairs pairs(rows, mask, {});
  const Tensor total = pairs.sum_of_weights({});
  const Tensor squares = pairs.squares(total);
  const Tensor deviations = sqrt(squares) * sqrt(turned(squares));
  const Tensor result = clamp(pairs.products(total) / deviations, Operand(-1), Operand(1));
  return finished(x, where(deviations > 0, result, nan), dtype);
}

Tensor pair_mask(const char* operation, const Tensor& x, const Tensor* mask) {
  const autograd::RecordingScope scope(false);
  const std::int64_t count = as_matrix(operation, x.detach()).shape()[0];
  Tensor result = ones({count, count}, DType::boolean);
  if (const auto valid = matrix_mask(operation, x, mask)) {
    const Tensor numbers = to(*valid, DType::f32);
    result = matmul(numbers, turned(numbers)) > 0;
  }
  return x.ndim() == 2 ? result : reshape(result, {});
}

}  // namespace loup::ops
