#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// How far predictions are from what they should be. Computed in float32 for half types and rounded
// once. cross_entropy is in ops/cross_entropy.h.

namespace loup::ops {

/// What becomes of the losses of all positions.
enum class LossReduction : std::uint8_t { none, mean, sum };
/// From "none", "mean" or "sum"; ValueError, naming `operation`, for anything else.
LOUP_EXPORT LossReduction loss_reduction(const char* operation, std::string_view name);

/// Losses as they are, 0 where `counts` is false, or the mean or sum of those that count. `counts`
/// has the shape of `losses`; null: all do.
LOUP_EXPORT Tensor reduce_losses(const Tensor& losses, LossReduction reduction,
                                 const Tensor* counts);

struct LossOptions {
  LossReduction reduction = LossReduction::mean;
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the shape of the losses
};

/// (input - target)², both broadcast to their common shape. DTypeError unless the result is
/// floating.
LOUP_EXPORT Tensor mse_loss(const Tensor& input, const Tensor& target,
                            const LossOptions& options = {});
/// |input - target|, likewise.
LOUP_EXPORT Tensor l1_loss(const Tensor& input, const Tensor& target,
                           const LossOptions& options = {});

inline constexpr Function loss_functions[] = {
    {"mse_loss", "(input: object, target: object, reduction: str = 'mean') -> Tensor",
     "The squares of the differences: their mean or sum, or each of them.", true, false,
     Masks::taken},
    {"l1_loss", "(input: object, target: object, reduction: str = 'mean') -> Tensor",
     "The sizes of the differences: their mean or sum, or each of them.", true, false,
     Masks::taken},
};

}  // namespace loup::ops
