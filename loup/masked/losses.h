#pragma once

#include "loup/masked/elementwise.h"
#include "loup/ops/cross_entropy.h"
#include "loup/ops/losses.h"

// Losses of predictions and targets, of which at least one is masked. Arguments and errors are
// those of the same names in ops. Losses that do not count are 0; where none does, a sum is 0, a
// mean NaN, and both are masked.

namespace loup::masked {

/// A loss counts where both operands do.
LOUP_EXPORT MaskedTensor mse_loss(const MaskedOperand& input, const MaskedOperand& target,
                                  ops::LossReduction reduction = ops::LossReduction::mean);
LOUP_EXPORT MaskedTensor l1_loss(const MaskedOperand& input, const MaskedOperand& target,
                                 ops::LossReduction reduction = ops::LossReduction::mean);
/// Classes that are masked are left out: they have no part of the softmax. A loss counts where its
/// target does, unless it is ignored, and the class that the target names.
LOUP_EXPORT MaskedTensor cross_entropy(const MaskedOperand& input, const MaskedOperand& target,
                                       const ops::CrossEntropyOptions& options = {});

}  // namespace loup::masked
