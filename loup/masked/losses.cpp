#include "loup/masked/losses.h"

#include "loup/masked/masks.h"
#include "loup/masked/poison.h"
#include "loup/ops/reduce.h"
#include "loup/tensor/broadcast.h"

namespace loup::masked {

namespace {

using ops::LossReduction;

Tensor seen_tensor(const char* operation, const MaskedOperand& x) {
  const Seen seen(operation, x);
  return static_cast<const ops::Operand&>(seen).as_tensor(x.values().dtype());
}

/// A loss with the mask that it has for its reduction, where `counts` is that of the positions.
MaskedTensor loss_with_mask(const char* operation, const Tensor& loss, const Tensor& counts,
                            LossReduction reduction) {
  if (reduction == LossReduction::none) return as_masked_tensor(loss, counts);
  return as_masked_tensor(loss, ops::any(operation, counts, {}, false));
}

using Loss = Tensor (*)(const Tensor&, const Tensor&, const ops::LossOptions&);
MaskedTensor loss_of(const char* operation, Loss loss, const MaskedOperand& input,
                     const MaskedOperand& target, LossReduction reduction) {
  const Tensor x = seen_tensor(operation, input);
  const Tensor y = seen_tensor(operation, target);
  const MaskedOperand* const operands[] = {&input, &target};
  const Tensor counts =
      common_mask(operation, operands, common_shape(operation, x.shape(), y.shape()));
  return loss_with_mask(operation, loss(x, y, {.reduction = reduction, .mask = counts}), counts,
                        reduction);
}

}  // namespace

MaskedTensor mse_loss(const MaskedOperand& input, const MaskedOperand& target,
                      LossReduction reduction) {
  return loss_of("mse_loss", ops::mse_loss, input, target, reduction);
}

MaskedTensor l1_loss(const MaskedOperand& input, const MaskedOperand& target,
                     LossReduction reduction) {
  return loss_of("l1_loss", ops::l1_loss, input, target, reduction);
}

MaskedTensor cross_entropy(const MaskedOperand& input, const MaskedOperand& target,
                           const ops::CrossEntropyOptions& options) {
  const char* const name = "cross_entropy";
  const ops::CountedLoss loss =
      ops::counted_cross_entropy(seen_tensor(name, input), seen_tensor(name, target), options,
                                 {.input = input.mask(), .target = target.mask()});
  if (!loss.counts) return all_valid(loss.value);
  return loss_with_mask(name, loss.value, *loss.counts, options.reduction);
}

}  // namespace loup::masked
