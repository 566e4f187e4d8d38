#pragma once

#include <cstdint>
#include <optional>

#include "loup/ops/losses.h"

namespace loup::ops {

struct CrossEntropyOptions {
  std::optional<Tensor> weight = {};  // of each class; absent: 1
  std::int64_t ignore_index = -100;   // positions of this class do not count
  LossReduction reduction = LossReduction::mean;
  double label_smoothing = 0;  // the part of a target that all classes share, from 0 to 1
};

/// -log p of the class that each position should have, p the softmax of the input over its classes:
/// its only dim, or the second of several. Targets are integers, one for each position, or floats
/// of the input's shape: how probable each class should be. A mean divides by the sum of the
/// weights of the targets, for floats by the number of positions; without positions it is NaN.
///
/// Computed in float32 for half types; the result has the dtype of the input. IndexError when a
/// target is no class, ShapeError or DTypeError when arguments do not fit the input, ValueError
/// when label_smoothing is no part, or ignore_index a class although targets are floats.
LOUP_EXPORT Tensor cross_entropy(const Tensor& input, const Tensor& target,
                                 const CrossEntropyOptions& options = {});

/// Which elements of the arguments count, of their shapes and of bool; null: all do.
struct CrossEntropyMasks {
  const Tensor* input = nullptr;
  const Tensor* target = nullptr;
};
/// A loss, and which of the positions it was made of count; absent: all do.
struct CountedLoss {
  Tensor value;
  std::optional<Tensor> counts;
};
/// The same of what counts. Classes that do not are left out, as if there were fewer: they have no
/// part of the softmax, and none of the smoothing. A position counts where its target does and, of
/// integers, the class that it names; of floats, where any class does.
LOUP_EXPORT CountedLoss counted_cross_entropy(const Tensor& input, const Tensor& target,
                                              const CrossEntropyOptions& options,
                                              const CrossEntropyMasks& masks);

inline constexpr Function cross_entropy_functions[] = {
    {"cross_entropy",
     "(input: object, target: object, weight: object = None, ignore_index: int = -100, reduction: "
     "str = 'mean', label_smoothing: float = 0.0) -> Tensor",
     "The negative logarithm of the softmax of the classes that positions should have.", true,
     false, Masks::taken},
};

}  // namespace loup::ops
