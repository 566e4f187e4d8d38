#pragma once

#include <cstdint>

#include "loup/masked/masked_tensor.h"
#include "loup/ops/random.h"
#include "loup/ops/sampling.h"

// Random numbers for masked tensors: the numbers that a tensor of the same shape would get, so they
// do not depend on the mask. Arguments and errors are those of the same names in ops.

namespace loup::masked {

/// With a copy of x's mask.
LOUP_EXPORT MaskedTensor rand_like(const MaskedTensor& x, const ops::RandomOptions& options = {});
LOUP_EXPORT MaskedTensor randn_like(const MaskedTensor& x, const ops::RandomOptions& options = {});
LOUP_EXPORT MaskedTensor randint_like(const MaskedTensor& x, const ops::IntegerRange& range,
                                      const ops::RandomOptions& options = {});

/// Only probabilities that count are looked at.
LOUP_EXPORT MaskedTensor bernoulli(const MaskedTensor& p, const ops::RandomOptions& options = {});
/// Weights that do not count are never drawn.
LOUP_EXPORT Tensor multinomial(const MaskedTensor& weights, std::int64_t count,
                               const ops::MultinomialOptions& options = {});

/// What was dropped is 0, and counts if it did.
LOUP_EXPORT MaskedTensor dropout(const MaskedTensor& x, double p = 0.5, bool training = true,
                                 const ops::Generator& generator = ops::default_generator());

// Only what counts changes.
LOUP_EXPORT void uniform_(MaskedTensor& x, double low = 0, double high = 1,
                          const ops::Generator& generator = ops::default_generator());
LOUP_EXPORT void normal_(MaskedTensor& x, double mean = 0, double std = 1,
                         const ops::Generator& generator = ops::default_generator());
LOUP_EXPORT void bernoulli_(MaskedTensor& x, double p = 0.5,
                            const ops::Generator& generator = ops::default_generator());
LOUP_EXPORT void bernoulli_(MaskedTensor& x, const Tensor& p,
                            const ops::Generator& generator = ops::default_generator());

}  // namespace loup::masked
