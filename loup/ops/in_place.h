#pragma once

#include "loup/autograd/node.h"
#include "loup/tensor/tensor.h"

// What every operator that writes into its argument does before and after.

namespace loup::ops {

/// Whether the elements of `x` may be replaced by something computed from them and `others`.
///
/// ValueError when x is read-only, or repeats elements or may do so. While recording, StateError
/// when x is a leaf that requires grad or a view of one, when x or one of the others was changed
/// through another tensor (autograd::check_record), and when x is to become recorded although
/// tensors that share its memory, which would not know, exist. Leaves may be changed while nothing
/// is recorded.
LOUP_EXPORT void check_in_place(const char* operation, const Tensor& x,
                                const autograd::Inputs& others = {});

/// Called before they are replaced, and before views of x are made for that: checks, and counts the
/// change.
LOUP_EXPORT void prepare_in_place(const char* operation, Tensor& x,
                                  const autograd::Inputs& others = {});

/// Writes the elements of `result`, which has x's shape and was computed out of place, into x, and
/// x takes over its record: `replace_("exp_", x, exp(x))` is an in-place operator with the gradient
/// of the other one. Rules that saved x itself will refuse to run, because it has changed.
LOUP_EXPORT void replace_(const char* operation, Tensor& x, const Tensor& result);

}  // namespace loup::ops
