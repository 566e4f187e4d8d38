#pragma once

#include <concepts>
#include <optional>
#include <span>

#include "loup/masked/masked_tensor.h"
#include "loup/ops/binary.h"
#include "loup/ops/operand.h"
#include "loup/ops/unary.h"

// Elementwise operators of masked tensors: `exp(x)` and `x + y` as for tensors. A result counts
// where all operands do; what it holds elsewhere is unspecified. Results have masks of their own.

namespace loup::masked {

/// An argument beside a MaskedTensor: a MaskedTensor, or a tensor or number, all of which counts.
/// Refers to what it is made of, so it is for arguments.
class LOUP_EXPORT MaskedOperand {
 public:
  MaskedOperand(const MaskedTensor& x) : values_(x.get_data()), mask_(&x.get_mask()) {}
  explicit MaskedOperand(const ops::Operand& x, const Tensor* mask = nullptr)
      : values_(x), mask_(mask) {}
  template <std::convertible_to<ops::Operand> T>
  MaskedOperand(const T& x) : values_(x), mask_(nullptr) {}

  const ops::Operand& values() const { return values_; }
  /// Null: everything counts.
  const Tensor* mask() const { return mask_; }

 private:
  ops::Operand values_;
  const Tensor* mask_;
};

/// While alive, operators of this thread that take two masked tensors want equal masks: ValueError
/// otherwise, as in torch.masked.
class LOUP_EXPORT StrictMasks {
 public:
  StrictMasks();
  ~StrictMasks();
  StrictMasks(const StrictMasks&) = delete;
  StrictMasks& operator=(const StrictMasks&) = delete;

 private:
  bool previous_;
};
/// Switches strictness on or off for this thread; returns what it was.
LOUP_EXPORT bool switch_strict_masks(bool is_strict);

/// The mask of an elementwise result of `shape`: true where all operands count, in memory of its
/// own. Dims along which every mask repeats by a stride of 0 repeat there, too.
LOUP_EXPORT Tensor common_mask(const char* operation,
                               std::span<const MaskedOperand* const> operands, const Shape& shape);

/// A copy of one mask, made in the same way.
LOUP_EXPORT Tensor own_mask(const Tensor& mask);

// What makes `ops::exp(x)` and `ops::add(x, y)` work for masked tensors.
LOUP_EXPORT MaskedTensor apply_unary(const ops::Unary& op, const MaskedTensor& x,
                                     std::span<const double> values);
LOUP_EXPORT MaskedTensor apply_binary(const ops::Binary& op, const MaskedOperand& x,
                                      const MaskedOperand& y);
/// In place only what counts changes. ValueError unless y's mask, broadcast, equals x's.
LOUP_EXPORT void apply_unary_(const ops::Unary& op, MaskedTensor& x,
                              std::span<const double> values);
LOUP_EXPORT void apply_binary_(const ops::Binary& op, MaskedTensor& x, const MaskedOperand& y);

/// `x` where `condition` is true, `y` elsewhere: data and mask alike.
LOUP_EXPORT MaskedTensor where(const Tensor& condition, const MaskedOperand& x,
                               const MaskedOperand& y);
/// The elements that count, none below `min` or above `max`.
LOUP_EXPORT MaskedTensor clamp(const MaskedTensor& x, const std::optional<MaskedOperand>& min,
                               const std::optional<MaskedOperand>& max);
LOUP_EXPORT void clamp_(MaskedTensor& x, const std::optional<MaskedOperand>& min,
                        const std::optional<MaskedOperand>& max);
/// x + weight (end - x).
LOUP_EXPORT MaskedTensor lerp(const MaskedTensor& x, const MaskedOperand& end,
                              const MaskedOperand& weight);
LOUP_EXPORT void lerp_(MaskedTensor& x, const MaskedOperand& end, const MaskedOperand& weight);

}  // namespace loup::masked
