#include "loup/masked/elementwise.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "loup/base/error.h"
#include "loup/masked/masks.h"
#include "loup/masked/poison.h"
#include "loup/ops/copy.h"
#include "loup/ops/logic.h"
#include "loup/ops/select.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

using ops::Operand;
using ops::repeated;

thread_local bool is_strict_here = false;

void check_equal_masks(const char* operation, const Tensor& a, const Tensor& b,
                       const Shape& shape) {
  if (is_same_mask(a, b)) return;
  if (a.ndim() == b.ndim() &&
      ops::equal(repeated(operation, a, shape), repeated(operation, b, shape))) {
    return;
  }
  throw ValueError("{}: expected masked tensors with equal masks, got masks that differ",
                   operation);
}

/// Dims of `shape` along which `mask` repeats a single element become 1.
Shape distinct(const Tensor& mask, const Shape& shape, Shape sizes) {
  const int missing = shape.size() - mask.ndim();
  for (int i = 0; i < shape.size(); ++i) {
    const bool repeats = i >= missing && mask.shape()[i - missing] == shape[i] && shape[i] > 1 &&
                         mask.strides()[i - missing] == 0;
    if (!repeats) sizes[i] = shape[i];
  }
  return sizes;
}

/// The first `sizes` elements of each dim.
Tensor corner(const Tensor& x, const Shape& sizes) {
  Layout layout = x.layout();
  layout.shape = sizes;
  return x.with_layout(layout);
}

std::optional<Operand> values_of(const std::optional<MaskedOperand>& x) {
  if (!x) return std::nullopt;
  return static_cast<const Operand&>(Seen("clamp", *x));
}

/// Masks of operands that are to be written into x: they must agree with its own.
void check_in_place(const char* operation, const MaskedTensor& x,
                    std::initializer_list<const MaskedOperand*> others) {
  for (const MaskedOperand* const other : others) {
    if (other == nullptr || other->mask() == nullptr) continue;
    const Tensor mask = repeated(operation, *other->mask(), x.shape());
    if (!is_same_mask(mask, x.get_mask()) && !ops::equal(mask, x.get_mask())) {
      throw ValueError(
          "{}: expected an operand with the mask of what it is written into, got one "
          "whose mask differs",
          operation);
    }
  }
}

/// Writes what `compute` makes of the data where it counts.
template <class Compute>
void change(const char* operation, MaskedTensor& x, const Compute& compute) {
  // Rules may need what the data were before.
  const Tensor before = autograd::is_recording() ? ops::clone(x.get_data()) : x.get_data();
  x.replace_(operation, compute(Seen(operation, before, &x.get_mask())));
}

}  // namespace

StrictMasks::StrictMasks() : previous_(switch_strict_masks(true)) {}
StrictMasks::~StrictMasks() { switch_strict_masks(previous_); }

bool switch_strict_masks(bool is_strict) { return std::exchange(is_strict_here, is_strict); }

Tensor common_mask(const char* operation, std::span<const MaskedOperand* const> operands,
                   const Shape& shape) {
  std::vector<const Tensor*> masks;
  for (const MaskedOperand* const operand : operands) {
    const Tensor* const mask = operand->mask();
    if (mask == nullptr) continue;
    if (is_strict_here && !masks.empty()) {
      check_equal_masks(operation, *masks.front(), *mask, shape);
    }
    const bool is_new = std::none_of(masks.begin(), masks.end(), [&](const Tensor* other) {
      return is_same_mask(*other, *mask);
    });
    if (is_new) masks.push_back(mask);
  }
  if (masks.empty())
    return ones({}, DType::boolean).with_layout({shape, Dims::filled(shape.size(), 0)});
  if (masks.size() == 1 && masks[0]->shape() == shape && masks[0]->is_contiguous()) {
    return ops::clone(*masks[0]);
  }
  Shape sizes = Dims::filled(shape.size(), 1);
  for (const Tensor* const mask : masks) sizes = distinct(*mask, shape, sizes);
  Tensor common = corner(repeated(operation, *masks[0], shape), sizes);
  if (masks.size() == 1) common = ops::clone(common);
  for (std::size_t i = 1; i < masks.size(); ++i) {
    common = ops::logical_and(common, corner(repeated(operation, *masks[i], shape), sizes));
  }
  return repeated(operation, common, shape);
}

Tensor own_mask(const Tensor& mask) {
  const MaskedOperand operand(mask, &mask);
  const MaskedOperand* const operands[] = {&operand};
  return common_mask("mask", operands, mask.shape());
}

MaskedTensor apply_unary(const ops::Unary& op, const MaskedTensor& x,
                         std::span<const double> values) {
  return as_masked_tensor(op.run(Seen(op.name, x), values), own_mask(x.get_mask()));
}

MaskedTensor apply_binary(const ops::Binary& op, const MaskedOperand& x, const MaskedOperand& y) {
  const Tensor data = op(Seen(op.name, x), Seen(op.name, y));
  const MaskedOperand* const operands[] = {&x, &y};
  return as_masked_tensor(data, common_mask(op.name, operands, data.shape()));
}

void apply_unary_(const ops::Unary& op, MaskedTensor& x, std::span<const double> values) {
  const std::string name = std::string(op.name) + "_";
  change(name.c_str(), x, [&](const Tensor& data) { return op.run(data, values); });
}

void apply_binary_(const ops::Binary& op, MaskedTensor& x, const MaskedOperand& y) {
  const std::string name = std::string(op.name) + "_";
  check_in_place(name.c_str(), x, {&y});
  change(name.c_str(), x, [&](const Tensor& data) { return op(data, Seen(op.name, y)); });
}

MaskedTensor where(const Tensor& condition, const MaskedOperand& x, const MaskedOperand& y) {
  const Tensor data = ops::where(condition, Seen("where", x), Seen("where", y));
  const auto mask_of = [](const MaskedOperand& side) {
    return side.mask() != nullptr ? Operand(*side.mask()) : Operand(Scalar(true));
  };
  const Tensor mask = ops::where(condition, mask_of(x), mask_of(y));
  if (mask.shape() == data.shape()) return as_masked_tensor(data, mask);
  return as_masked_tensor(data, ops::clone(repeated("where", mask, data.shape())));
}

MaskedTensor clamp(const MaskedTensor& x, const std::optional<MaskedOperand>& min,
                   const std::optional<MaskedOperand>& max) {
  const Tensor data = ops::clamp(Seen("clamp", x), values_of(min), values_of(max));
  const MaskedOperand own(x);
  std::vector<const MaskedOperand*> operands = {&own};
  if (min) operands.push_back(&*min);
  if (max) operands.push_back(&*max);
  return as_masked_tensor(data, common_mask("clamp", operands, data.shape()));
}

void clamp_(MaskedTensor& x, const std::optional<MaskedOperand>& min,
            const std::optional<MaskedOperand>& max) {
  check_in_place("clamp_", x, {min ? &*min : nullptr, max ? &*max : nullptr});
  change("clamp_", x,
         [&](const Tensor& data) { return ops::clamp(data, values_of(min), values_of(max)); });
}

MaskedTensor lerp(const MaskedTensor& x, const MaskedOperand& end, const MaskedOperand& weight) {
  const Tensor data = ops::lerp(Seen("lerp", x), Seen("lerp", end), Seen("lerp", weight));
  const MaskedOperand own(x);
  const MaskedOperand* const operands[] = {&own, &end, &weight};
  return as_masked_tensor(data, common_mask("lerp", operands, data.shape()));
}

void lerp_(MaskedTensor& x, const MaskedOperand& end, const MaskedOperand& weight) {
  check_in_place("lerp_", x, {&end, &weight});
  change("lerp_", x, [&](const Tensor& data) {
    return ops::lerp(data, Seen("lerp_", end), Seen("lerp_", weight));
  });
}

}  // namespace loup::masked
