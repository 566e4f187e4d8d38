#pragma once

#include <optional>

#include "loup/ops/elementwise.h"
#include "loup/ops/function.h"

// Elementwise operators of three operands, broadcast to their common shape.

namespace loup::ops {

/// `yes` where `condition` (of bool) is true, `no` elsewhere. The gradient reaches only the chosen
/// side; the other gets structural zeros.
LOUP_EXPORT Tensor where(const Tensor& condition, const Operand& yes, const Operand& no);
/// `x` moved into [low, high]; NaN stays, and where low is above high the result is high.
/// ValueError when both bounds are absent.
LOUP_EXPORT Tensor clamp(const Tensor& x, const std::optional<Operand>& low,
                         const std::optional<Operand>& high);
LOUP_EXPORT void clamp_(Tensor& x, const std::optional<Operand>& low,
                        const std::optional<Operand>& high);
/// a + weight (b - a); exactly b for a weight of 1.
LOUP_EXPORT Tensor lerp(const Tensor& a, const Operand& b, const Operand& weight);
LOUP_EXPORT void lerp_(Tensor& a, const Operand& b, const Operand& weight);

inline constexpr Function select_functions[] = {
    {"where", "(condition: object, input: object, other: object) -> Tensor",
     "Choose input where the condition is true, other elsewhere.", true, false, Masks::taken},
    {"clamp", "(input: object, min: object = None, max: object = None) -> Tensor",
     "Move the elements into [min, max]; NaN stays.", true, true, Masks::taken},
    {"clip", "(input: object, min: object = None, max: object = None) -> Tensor",
     "The same as clamp.", true, true, Masks::taken},
    {"lerp", "(input: object, end: object, weight: object) -> Tensor",
     "input + weight (end - input), exact at both ends.", true, true, Masks::taken},
};

}  // namespace loup::ops
