#pragma once

#include <cstdint>
#include <vector>

#include "loup/masked/elementwise.h"
#include "loup/ops/windows.h"

// Elements written or added at places, and places found. Arguments and errors are those of the same
// names in ops. What is written counts where its source does; a number counts. A sum adds what
// counts, and counts where something did.

namespace loup::masked {

LOUP_EXPORT MaskedTensor scatter(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                                 const MaskedOperand& source);
LOUP_EXPORT MaskedTensor scatter_add(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                                     const MaskedOperand& source);
LOUP_EXPORT MaskedTensor index_add(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                                   const MaskedOperand& source, Scalar alpha = 1);
LOUP_EXPORT MaskedTensor index_copy(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                                    const MaskedOperand& source);
LOUP_EXPORT MaskedTensor index_fill(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                                    Scalar value);

LOUP_EXPORT void scatter_(MaskedTensor& x, std::int64_t dim, const Tensor& index,
                          const MaskedOperand& source);
LOUP_EXPORT void scatter_add_(MaskedTensor& x, std::int64_t dim, const Tensor& index,
                              const MaskedOperand& source);
LOUP_EXPORT void index_add_(MaskedTensor& x, std::int64_t dim, const Tensor& index,
                            const MaskedOperand& source, Scalar alpha = 1);
LOUP_EXPORT void index_copy_(MaskedTensor& x, std::int64_t dim, const Tensor& index,
                             const MaskedOperand& source);
LOUP_EXPORT void index_fill_(MaskedTensor& x, std::int64_t dim, const Tensor& index, Scalar value);

/// `x[…] = source`: data and mask, broadcast.
LOUP_EXPORT void copy_(MaskedTensor& x, const MaskedOperand& source);
/// `x[…] = value`: everything counts.
LOUP_EXPORT void fill_(MaskedTensor& x, Scalar value);

/// An element of an image counts where one of its places in the columns does.
LOUP_EXPORT MaskedTensor col2im(const MaskedTensor& x, const Dims& output_size,
                                const Dims& kernel_size, const ops::WindowOptions& options = {});

/// The other triangle holds zeros that count, as in `where(triangle, x, 0)`.
LOUP_EXPORT MaskedTensor tril(const MaskedTensor& x, std::int64_t diagonal = 0);
LOUP_EXPORT MaskedTensor triu(const MaskedTensor& x, std::int64_t diagonal = 0);

/// The places that count and are not 0.
LOUP_EXPORT Tensor nonzero(const MaskedTensor& x);
LOUP_EXPORT std::vector<Tensor> nonzero_tuple(const MaskedTensor& x);

}  // namespace loup::masked
