#include "loup/ops/cross_entropy.h"

#include "loup/autograd/gradient.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/gather.h"
#include "loup/ops/normalize.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"
#include "loup/ops/select.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

constexpr const char* operation = "cross_entropy";

constexpr ReduceSpec extremes_spec{.name = operation,
                                   .summary = "",
                                   .kernel = kernels::ReduceOp::minmax,
                                   .types = ReduceTypes::kept};

/// What is predicted for each position.
struct Predictions {
  Tensor logs;                   // of the probabilities of the classes, -inf of those left out
  int dim;                       // of the classes
  const Tensor* mask;            // which classes count; null: all
  std::optional<Tensor> weight;  // of each class

  std::int64_t classes() const { return logs.shape()[dim]; }
  /// Elements beside the logarithms, each times the weight of its class.
  Tensor weighted(const Tensor& x) const {
    if (!weight) return x;
    Shape shape = Dims::filled(x.ndim(), 1);
    shape[dim] = classes();
    return x * reshape(*weight, shape);
  }
  /// How many classes count at each position.
  Tensor count_classes(bool keepdim) const {
    if (mask == nullptr) return full({}, classes(), logs.dtype());
    return to(count(operation, *mask, dim, {.mask = mask, .keepdim = keepdim}), logs.dtype());
  }
};

/// The losses of all positions.
struct Losses {
  Tensor each;
  std::optional<Tensor> counts;   // absent: all do
  std::optional<Tensor> weights;  // of positions in a mean; absent: 1
};

/// IndexError unless `target` is made of classes.
void check_classes(const Tensor& target, std::int64_t classes) {
  if (target.size() == 0) return;
  const auto [least, most] = reduce_both(extremes_spec, target, {});
  const auto low = least.item<std::int64_t>();
  const auto high = most.item<std::int64_t>();
  if (low < 0 || high >= classes) {
    throw IndexError("{}: expected targets from 0 to {}, or ignore_index, got {}", operation,
                     classes - 1, low < 0 ? low : high);
  }
}

Losses losses_of_classes(const Predictions& predictions, const Tensor& target, const Tensor* mask,
                         const CrossEntropyOptions& options) {
  Tensor counts = ne(target, options.ignore_index);
  if (mask != nullptr) counts = logical_and(counts, *mask);
  const Tensor classes = where(counts, target, 0);
  check_classes(classes, predictions.classes());
  const int dim = predictions.dim;
  const Tensor index = unsqueeze(classes, dim);
  const auto chosen = [&](const Tensor& x) { return squeeze(gather(x, dim, index), dim); };
  if (predictions.mask != nullptr) counts = logical_and(counts, chosen(*predictions.mask));

  Losses losses{neg(chosen(predictions.logs)), counts, {}};
  if (predictions.weight) {
    const Tensor weights = index_select(*predictions.weight, 0, reshape(classes, {-1}));
    losses.weights = reshape(weights, classes.shape());
    losses.each = losses.each * *losses.weights;
  }
  if (options.label_smoothing > 0) {
    const Tensor all =
        reduce(sum_spec, predictions.weighted(predictions.logs), dim, {.mask = predictions.mask});
    const Tensor part = options.label_smoothing / predictions.count_classes(false);
    losses.each = losses.each * (1 - options.label_smoothing) - all * part;
  }
  return losses;
}

Losses losses_of_probabilities(const Predictions& predictions, const Tensor& target,
                               const Tensor* mask, const CrossEntropyOptions& options) {
  Tensor wanted = to(target, predictions.logs.dtype());
  if (options.label_smoothing > 0) {
    wanted = wanted * (1 - options.label_smoothing) +
             options.label_smoothing / predictions.count_classes(true);
  }
  const auto given = [](const Tensor* x) {
    return x != nullptr ? std::optional(*x) : std::nullopt;
  };
  const std::optional<Tensor> both = autograd::both(given(predictions.mask), given(mask));
  const Tensor terms = predictions.weighted(predictions.logs * wanted);
  Losses losses{
      neg(reduce(sum_spec, terms, predictions.dim, {.mask = both ? &*both : nullptr})), {}, {}};
  if (both) losses.counts = any(operation, *both, predictions.dim, false);
  return losses;
}

Tensor reduced(const Losses& losses, LossReduction reduction) {
  const Tensor* const counts = losses.counts ? &*losses.counts : nullptr;
  if (reduction != LossReduction::mean || !losses.weights) {
    return reduce_losses(losses.each, reduction, counts);
  }
  return reduce_losses(losses.each, LossReduction::sum, counts) /
         reduce_losses(*losses.weights, LossReduction::sum, counts);
}

/// The dim of the classes.
int check_input(const Tensor& input) {
  if (!is_floating(input.dtype())) {
    throw DTypeError("{}: expected an input of floats, got {}", operation, input.dtype());
  }
  const int dim = input.ndim() > 1 ? 1 : 0;
  if (input.ndim() == 0 || input.shape()[dim] == 0) {
    throw ShapeError("{}: expected an input with classes, as its only or second dim, got shape {}",
                     operation, input.shape());
  }
  return dim;
}

void check_arguments(const Tensor& input, int dim, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const Shape classes = input.shape()[dim];
  if (options.weight && options.weight->shape() != classes) {
    throw ShapeError("{}: expected a weight of shape {}, got {}", operation, classes,
                     options.weight->shape());
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    throw ValueError("{}: expected label_smoothing in [0, 1], got {}", operation,
                     options.label_smoothing);
  }
  if (target.dtype() == DType::boolean) {
    throw DTypeError("{}: expected a target of integers or floats, got {}", operation,
                     target.dtype());
  }
  Shape wanted = input.shape();
  if (is_floating(target.dtype())) {
    if (options.ignore_index >= 0) {
      throw ValueError("{}: expected no ignore_index beside a target of floats, got {}", operation,
                       options.ignore_index);
    }
  } else {
    wanted.erase(dim);
  }
  if (target.shape() != wanted) {
    throw ShapeError("{}: expected a target of shape {}, got {}", operation, wanted,
                     target.shape());
  }
}

}  // namespace

CountedLoss counted_cross_entropy(const Tensor& input, const Tensor& target,
                                  const CrossEntropyOptions& options,
                                  const CrossEntropyMasks& masks) {
  const int dim = check_input(input);
  check_arguments(input, dim, target, options);
  const DType computed = storage_type(compute_type(input.dtype()));
  Predictions predictions{
      softmax_lines(log_softmax_spec, input, dim, {.mask = masks.input, .dtype = computed}),
      dim,
      masks.input,
      {}};
  if (options.weight) predictions.weight = to(*options.weight, computed);
  const auto losses_of = is_floating(target.dtype()) ? losses_of_probabilities : losses_of_classes;
  const Losses losses = losses_of(predictions, target, masks.target, options);
  return {to(reduced(losses, options.reduction), input.dtype()), losses.counts};
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options) {
  return counted_cross_entropy(input, target, options, {}).value;
}

}  // namespace loup::ops
