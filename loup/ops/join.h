#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Putting tensors together, and taking them apart. The parts are views.

namespace loup::ops {

/// Joins tensors along `dim`; the other sizes agree. The result has the dtype that holds all.
LOUP_EXPORT Tensor cat(std::span<const Tensor> tensors, std::int64_t dim = 0);
/// Joins tensors of one shape along a new dim.
LOUP_EXPORT Tensor stack(std::span<const Tensor> tensors, std::int64_t dim = 0);
/// Joins columns: along dim 1, or dim 0 where tensors have one dim.
LOUP_EXPORT Tensor hstack(std::span<const Tensor> tensors);
/// Joins rows: along dim 0; tensors of one dim are rows.
LOUP_EXPORT Tensor vstack(std::span<const Tensor> tensors);

/// Parts of `size` elements of one dim; the last may have fewer.
LOUP_EXPORT std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim = 0);
/// Parts of the given sizes, which add up to that of the dim.
LOUP_EXPORT std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes,
                                      std::int64_t dim = 0);
/// At most `chunks` parts of one size; the last may have fewer elements.
LOUP_EXPORT std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim = 0);
/// The elements of one dim, which disappears.
LOUP_EXPORT std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim = 0);

inline constexpr Function join_functions[] = {
    {"cat",
     "(tensors: collections.abc.Sequence[object], dim: int = 0, *, axis: int | None = None) -> "
     "Tensor",
     "Join tensors along one dim.", true, false, Masks::taken},
    {"stack",
     "(tensors: collections.abc.Sequence[object], dim: int = 0, *, axis: int | None = None) -> "
     "Tensor",
     "Join tensors of one shape along a new dim.", true, false, Masks::taken},
    {"hstack", "(tensors: collections.abc.Sequence[object]) -> Tensor",
     "Join tensors column by column.", true, false, Masks::taken},
    {"vstack", "(tensors: collections.abc.Sequence[object]) -> Tensor", "Join tensors row by row.",
     true, false, Masks::taken},
    {"split",
     "(input: object, split_size_or_sections: int | collections.abc.Sequence[int], dim: int = 0) "
     "-> tuple[Tensor, ...]",
     "Views of parts of one size, or of a list of sizes, of one dim.", true, false, Masks::alike},
    {"chunk", "(input: object, chunks: int, dim: int = 0) -> tuple[Tensor, ...]",
     "Views of at most so many parts of one dim.", true, false, Masks::alike},
    {"unbind", "(input: object, dim: int = 0) -> tuple[Tensor, ...]",
     "Views of the elements of one dim, which disappears.", true, false, Masks::alike},
};

}  // namespace loup::ops
