#include <string_view>

#include <nanobind/stl/string_view.h>

#include "loup/masked/layer_norm.h"
#include "loup/masked/losses.h"
#include "masked_define.h"

// Layers and losses.

namespace loup::python {

using namespace nb::literals;

namespace {

using masked::MaskedOperand;

/// Calls `masked(x, y)` where one of both is a MaskedTensor, otherwise `plain(x, y)`.
template <class Plain, class Masked>
nb::object with_target(const char* name, nb::handle input, nb::handle target, const Plain& plain,
                       const Masked& masked) {
  if (is_masked({input, target})) {
    const MaskedOperand x = masked_operand_from(name, input);
    const MaskedOperand y = masked_operand_from(name, target);
    return nb::cast(without_gil(worth_it, [&] { return masked(x, y); }));
  }
  const TensorArgument x(name, input);
  const TensorArgument y(name, target);
  return nb::cast(without_gil(x->size() + y->size(), [&] { return plain(*x, *y); }));
}

/// A loss of differences, and the same of masked tensors.
struct DistanceLoss {
  const char* name;
  Tensor (*plain)(const Tensor&, const Tensor&, const ops::LossOptions&);
  MaskedTensor (*masked)(const MaskedOperand&, const MaskedOperand&, ops::LossReduction);
};

void define_loss(nb::module_& m, const DistanceLoss& loss) {
  define(
      m, loss.name,
      [loss](nb::handle input, nb::handle target, std::string_view reduction) {
        const ops::LossReduction wanted = ops::loss_reduction(loss.name, reduction);
        return with_target(
            loss.name, input, target,
            [&](const Tensor& x, const Tensor& y) {
              return loss.plain(x, y, {.reduction = wanted, .mask = {}});
            },
            [&](const MaskedOperand& x, const MaskedOperand& y) {
              return loss.masked(x, y, wanted);
            });
      },
      "target"_a.none(), "reduction"_a = "mean");
}

nb::object cross_entropy(nb::handle input, nb::handle target, nb::handle weight,
                         nb::handle ignore_index, std::string_view reduction,
                         nb::handle label_smoothing) {
  constexpr const char* name = "cross_entropy";
  const ops::CrossEntropyOptions options{
      .weight = optional_tensor(name, weight),
      .ignore_index = integer_from(name, ignore_index),
      .reduction = ops::loss_reduction(name, reduction),
      .label_smoothing = real_from(name, "label_smoothing", label_smoothing)};
  return with_target(
      name, input, target,
      [&](const Tensor& x, const Tensor& y) { return ops::cross_entropy(x, y, options); },
      [&](const MaskedOperand& x, const MaskedOperand& y) {
        return masked::cross_entropy(x, y, options);
      });
}

nb::object layer_norm(nb::handle input, nb::handle normalized_shape, nb::handle weight,
                      nb::handle bias, nb::handle eps) {
  constexpr const char* name = "layer_norm";
  const Shape shape = dims_from(name, normalized_shape);
  const ops::LayerNormOptions options{.weight = optional_tensor(name, weight),
                                      .bias = optional_tensor(name, bias),
                                      .eps = real_from(name, "eps", eps),
                                      .mask = {}};
  return with_input(name, input, [&]<class X>(const X& x) {
    if constexpr (std::is_same_v<X, MaskedTensor>) {
      return masked::layer_norm(x, shape, options);
    } else {
      return ops::layer_norm(x, shape, options);
    }
  });
}

}  // namespace

void bind_nn(nb::module_& m) {
  define(m, "layer_norm", layer_norm, "normalized_shape"_a.none(), "weight"_a.none() = nb::none(),
         "bias"_a.none() = nb::none(), "eps"_a = 1e-5);
  define_loss(m, {"mse_loss", ops::mse_loss, masked::mse_loss});
  define_loss(m, {"l1_loss", ops::l1_loss, masked::l1_loss});
  define(m, "cross_entropy", cross_entropy, "target"_a.none(), "weight"_a.none() = nb::none(),
         "ignore_index"_a = -100, "reduction"_a = "mean", "label_smoothing"_a = 0.0);
}

}  // namespace loup::python
