#pragma once

#include <optional>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Products of matrices and vectors. Operands of different dtypes are converted to the one that
// holds both, as elementwise operators do; bool is refused. Half types are added in float32 and
// rounded once, integers wrap. Results are the same bits for any number of threads.

namespace loup::ops {

/// Matrix products over the last two dims; the dims before them are a batch and broadcast. A vector
/// is a row on the left and a column on the right, and its dim disappears from the result.
LOUP_EXPORT Tensor matmul(const Tensor& a, const Tensor& b);

/// matmul of two matrices.
LOUP_EXPORT Tensor mm(const Tensor& a, const Tensor& b);
/// matmul of two batches [batch, m, k] and [batch, k, n], which do not broadcast.
LOUP_EXPORT Tensor bmm(const Tensor& a, const Tensor& b);
/// matmul of a matrix and a vector.
LOUP_EXPORT Tensor mv(const Tensor& a, const Tensor& x);
/// The sum of the products of two vectors' elements.
LOUP_EXPORT Tensor dot(const Tensor& x, const Tensor& y);
/// The matrix of all products of two vectors' elements.
LOUP_EXPORT Tensor outer(const Tensor& x, const Tensor& y);

/// x · weightᵀ + bias: x[…, in], weight[out, in] or [in], bias[out] or [].
LOUP_EXPORT Tensor linear(const Tensor& x, const Tensor& weight,
                          const std::optional<Tensor>& bias = {});

inline constexpr Function matmul_functions[] = {
    {"matmul", "(input: object, other: object) -> Tensor",
     "The product of matrices or vectors; leading dims are a batch and broadcast.", true, false,
     Masks::taken},
    {"mm", "(input: object, mat2: object) -> Tensor", "The product of two matrices.", true, false,
     Masks::taken},
    {"bmm", "(input: object, mat2: object) -> Tensor", "The products of two batches of matrices.",
     true, false, Masks::taken},
    {"mv", "(input: object, vec: object) -> Tensor", "The product of a matrix and a vector.", true,
     false, Masks::taken},
    {"dot", "(input: object, tensor: object) -> Tensor",
     "The sum of the products of two vectors' elements.", true, false, Masks::taken},
    {"outer", "(input: object, vec2: object) -> Tensor",
     "The matrix of all products of two vectors' elements.", true, false, Masks::taken},
    {"linear", "(input: object, weight: object, bias: object = None) -> Tensor",
     "The last dim multiplied by the transpose of a weight matrix, plus a bias.", true, false,
     Masks::taken},
};

}  // namespace loup::ops
