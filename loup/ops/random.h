#pragma once

#include <cstdint>
#include <optional>

#include "loup/ops/function.h"
#include "loup/ops/generator.h"
#include "loup/tensor/tensor.h"

// Random tensors. Element i, counted row-major, is a function of the generator's state and of i.

namespace loup::ops {

struct RandomOptions {
  std::optional<DType> dtype = {};
  Generator generator = default_generator();
};

/// Uniform in [0, 1), also in 16 bits: the float32 number rounded down. DTypeError unless the dtype
/// is floating; float32 by default.
LOUP_EXPORT Tensor rand(const Shape& shape, const RandomOptions& options = {});
/// Standard normal. Dtypes as for rand.
LOUP_EXPORT Tensor randn(const Shape& shape, const RandomOptions& options = {});
/// Normal. ValueError unless std >= 0.
LOUP_EXPORT Tensor normal(double mean, double std, const Shape& shape,
                          const RandomOptions& options = {});
/// Normal with mean and std broadcast to a common shape, of their common dtype unless another is
/// given. Gradients flow to both: an element is mean + std * z.
LOUP_EXPORT Tensor normal(const Tensor& mean, const Tensor& std, const RandomOptions& options = {});

/// The integers from `low` to `last`, both included.
struct IntegerRange {
  std::int64_t low;
  std::int64_t last;
};
/// Integers in `range`, each exactly equally likely: int64 unless another dtype is given.
/// ValueError when the range is empty or its numbers do not all exist in the dtype.
LOUP_EXPORT Tensor randint(const IntegerRange& range, const Shape& shape,
                           const RandomOptions& options = {});
/// Integers in [low, high).
LOUP_EXPORT Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
                           const RandomOptions& options = {});

/// 1 with the probability that stands in `p`, otherwise 0; of p's dtype unless another is given.
/// Probabilities count in steps of 2^-32. DTypeError unless p is floating, ValueError unless its
/// elements lie in [0, 1].
LOUP_EXPORT Tensor bernoulli(const Tensor& p, const RandomOptions& options = {});
LOUP_EXPORT Tensor bernoulli(double p, const Shape& shape, const RandomOptions& options = {});

/// With the shape of `x`, and its dtype unless another is given.
LOUP_EXPORT Tensor rand_like(const Tensor& x, const RandomOptions& options = {});
LOUP_EXPORT Tensor randn_like(const Tensor& x, const RandomOptions& options = {});
LOUP_EXPORT Tensor randint_like(const Tensor& x, const IntegerRange& range,
                                const RandomOptions& options = {});
LOUP_EXPORT Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high,
                                const RandomOptions& options = {});

/// Writes numbers uniform in [low, high) into the floating tensor `x`; low == high is allowed.
LOUP_EXPORT void uniform_(Tensor& x, double low = 0, double high = 1,
                          const Generator& generator = default_generator());
/// Writes normal numbers into the floating tensor `x`.
LOUP_EXPORT void normal_(Tensor& x, double mean = 0, double std = 1,
                         const Generator& generator = default_generator());
/// Writes 1 with probability p and 0 otherwise into `x`, which may have any dtype.
LOUP_EXPORT void bernoulli_(Tensor& x, double p = 0.5,
                            const Generator& generator = default_generator());
/// The same with probabilities that are broadcast to x's shape.
LOUP_EXPORT void bernoulli_(Tensor& x, const Tensor& p,
                            const Generator& generator = default_generator());

inline constexpr Function random_functions[] = {
    {"rand",
     "(*size: int | collections.abc.Sequence[int], dtype: object = None, requires_grad: bool = "
     "False, generator: Generator | None = None) -> Tensor",
     "Numbers uniform in [0, 1)."},
    {"randn",
     "(*size: int | collections.abc.Sequence[int], dtype: object = None, requires_grad: bool = "
     "False, generator: Generator | None = None) -> Tensor",
     "Standard normal numbers."},
    {"normal",
     "(mean: object = 0.0, std: object = 1.0, size: int | collections.abc.Sequence[int] | None = "
     "None, *, dtype: object = None, requires_grad: bool = False, generator: Generator | None = "
     "None) -> Tensor",
     "Normal numbers; mean and std may be tensors.", true},
    {"randint",
     "(low: int, high: int | None = None, size: int | collections.abc.Sequence[int] | None = None, "
     "*, dtype: object = None, generator: Generator | None = None) -> Tensor",
     "Integers in [low, high), or in [0, low): randint(10, (3,)) or randint(2, 10, (3,))."},
    {"rand_like",
     "(input: object, *, dtype: object = None, requires_grad: bool = False, generator: Generator | "
     "None = None) -> Tensor",
     "Numbers uniform in [0, 1) with the shape of input.", false, false, Masks::taken},
    {"randn_like",
     "(input: object, *, dtype: object = None, requires_grad: bool = False, generator: Generator | "
     "None = None) -> Tensor",
     "Standard normal numbers with the shape of input.", false, false, Masks::taken},
    {"randint_like",
     "(input: object, low: int, high: int | None = None, *, dtype: object = None, generator: "
     "Generator | None = None) -> Tensor",
     "Integers in [low, high) with the shape of input.", false, false, Masks::taken},
    {"bernoulli",
     "(input: object, p: float | None = None, *, dtype: object = None, generator: Generator | None "
     "= None) -> Tensor",
     "1 with the probabilities in input, or with probability p; otherwise 0.", false, false,
     Masks::taken},
    {"uniform_",
     "(input: object, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None) "
     "-> Tensor",
     "Write numbers uniform in [low, high) into the tensor.", false, false, Masks::taken},
    {"normal_",
     "(input: object, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) "
     "-> Tensor",
     "Write normal numbers into the tensor.", false, false, Masks::taken},
    {"bernoulli_",
     "(input: object, p: object = 0.5, *, generator: Generator | None = None) -> Tensor",
     "Write 1 with probability p and 0 otherwise into the tensor.", false, false, Masks::taken},
};

}  // namespace loup::ops
