#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Dims moved, cut and repeated. What says "view" shares its elements with x.

namespace loup::ops {

/// A view with dims `from` at the places `to`; the others keep their order.
LOUP_EXPORT Tensor movedim(const Tensor& x, const Dims& from, const Dims& to);
/// A view with two dims swapped: NumPy's name of transpose.
LOUP_EXPORT Tensor swapaxes(const Tensor& x, std::int64_t a, std::int64_t b);
/// A view with `dim` cut into `sizes`, one of which may be -1; a copy where a view is impossible.
LOUP_EXPORT Tensor unflatten(const Tensor& x, std::int64_t dim, const Shape& sizes);
/// A view of the diagonal of two dims, `offset` above the main one, as the last dim.
LOUP_EXPORT Tensor diagonal(const Tensor& x, std::int64_t offset = 0, std::int64_t dim1 = 0,
                            std::int64_t dim2 = 1);

/// The elements of the given dims in reverse order; of all dims when `dims` is empty.
LOUP_EXPORT Tensor flip(const Tensor& x, const Dims& dims = {});
/// The elements moved by shifts[i] along dims[i]; those that leave at one end enter at the other.
/// Without dims the tensor is moved as if it were flat.
LOUP_EXPORT Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims = {});

/// `x` side by side with itself repeats[i] times along dim i. There are at least as many repeats as
/// dims; more make new dims in front.
LOUP_EXPORT Tensor repeat(const Tensor& x, const Dims& repeats);
/// The same; missing repeats in front are 1.
LOUP_EXPORT Tensor tile(const Tensor& x, const Dims& repeats);
/// Every element `repeats` times in a row along `dim`; without a dim, of the flat tensor.
LOUP_EXPORT Tensor repeat_interleave(const Tensor& x, std::int64_t repeats,
                                     std::optional<std::int64_t> dim = {});

/// The last two dims with zeros above (tril) or below (triu) the diagonal `diagonal` places above
/// the main one.
LOUP_EXPORT Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
LOUP_EXPORT Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

/// How meshgrid orders its first two dims: as a matrix (row, column) or as a plane (x, y).
enum class Indexing : std::uint8_t { ij, xy };
/// Views that repeat each of the 1-d (or 0-d) tensors over the grid of all of them.
LOUP_EXPORT std::vector<Tensor> meshgrid(std::span<const Tensor> tensors,
                                         Indexing indexing = Indexing::ij);

inline constexpr Function shape_functions[] = {
    {"movedim",
     "(input: object, source: int | collections.abc.Sequence[int], destination: int | "
     "collections.abc.Sequence[int]) -> Tensor",
     "A view with dims moved to other places.", true, false, Masks::alike},
    {"swapaxes", "(input: object, axis0: int, axis1: int) -> Tensor",
     "A view with two dims swapped.", true, false, Masks::alike},
    {"unflatten", "(input: object, dim: int, sizes: collections.abc.Sequence[int]) -> Tensor",
     "Cut a dim into several.", true, false, Masks::alike},
    {"diagonal", "(input: object, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor",
     "A view of the diagonal of two dims, as the last dim.", true, false, Masks::alike},
    {"flip",
     "(input: object, dims: int | collections.abc.Sequence[int] | None = None, *, axis: int | "
     "collections.abc.Sequence[int] | None = None) -> Tensor",
     "Reverse the order of the elements along dims.", true, false, Masks::alike},
    {"roll",
     "(input: object, shifts: int | collections.abc.Sequence[int], dims: int | "
     "collections.abc.Sequence[int] | None = None, *, axis: int | collections.abc.Sequence[int] | "
     "None = None) -> Tensor",
     "Move the elements along dims; what leaves at one end enters at the other.", true, false,
     Masks::alike},
    {"repeat", "(input: object, *repeats: int | collections.abc.Sequence[int]) -> Tensor",
     "Put copies of a tensor side by side.", true, false, Masks::alike},
    {"tile", "(input: object, *dims: int | collections.abc.Sequence[int]) -> Tensor",
     "Put copies of a tensor side by side; missing repeats are 1.", true, false, Masks::alike},
    {"repeat_interleave",
     "(input: object, repeats: int, dim: int | None = None, *, axis: int | None = None) -> Tensor",
     "Repeat every element, in a row.", true, false, Masks::alike},
    {"tril", "(input: object, diagonal: int = 0) -> Tensor",
     "The lower triangle of the last two dims; zeros above.", true, false, Masks::taken},
    {"triu", "(input: object, diagonal: int = 0) -> Tensor",
     "The upper triangle of the last two dims; zeros below.", true, false, Masks::taken},
    {"meshgrid", "(*tensors: object, indexing: str = 'ij') -> tuple[Tensor, ...]",
     "Views of vectors repeated over the grid of all of them.", true},
};

}  // namespace loup::ops
