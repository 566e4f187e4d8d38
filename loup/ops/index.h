#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <variant>

#include "loup/tensor/tensor.h"

// Indexing as in Python and NumPy: x[…, 1:3, None, i, mask].

namespace loup::ops {

/// None: a new dim of size 1.
struct NewDim {};
/// …: as many whole dims as are left.
struct Ellipsis {};
/// start:stop:step, with a positive step.
struct Slice {
  std::optional<std::int64_t> start = {};
  std::optional<std::int64_t> stop = {};
  std::int64_t step = 1;
};
/// One item of an index. A tensor of integers chooses elements of one dim; one of bool chooses the
/// true elements of as many dims as it has.
using Index = std::variant<std::int64_t, Slice, Tensor, NewDim, Ellipsis>;

inline constexpr NewDim new_dim{};
inline constexpr Ellipsis ellipsis{};

/// x[items], by NumPy's rules: a view where there are no tensors, otherwise a copy. Tensors are
/// broadcast together; their dims stand where the first of them stood, or in front where something
/// other than tensors and integers is between them.
/// IndexError when an index is out of range or a mask has other sizes, DTypeError when a tensor is
/// neither of integers nor of bool.
LOUP_EXPORT Tensor index(const Tensor& x, std::span<const Index> items);
/// x[items] = values, which are broadcast and converted. Where several go to one element the last
/// one stays; with `accumulate` all are added, in order. Errors as for index() and
/// prepare_in_place().
LOUP_EXPORT void index_put_(Tensor& x, std::span<const Index> items, const Tensor& values,
                            bool accumulate = false);

inline Tensor index(const Tensor& x, std::initializer_list<Index> items) {
  return index(x, std::span<const Index>(items.begin(), items.size()));
}
inline void index_put_(Tensor& x, std::initializer_list<Index> items, const Tensor& values,
                       bool accumulate = false) {
  index_put_(x, std::span<const Index>(items.begin(), items.size()), values, accumulate);
}

}  // namespace loup::ops
