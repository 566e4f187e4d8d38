#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loup/masked/elementwise.h"
#include "loup/ops/copy.h"
#include "loup/ops/gather.h"
#include "loup/ops/index.h"
#include "loup/ops/join.h"
#include "loup/ops/shape.h"
#include "loup/ops/views.h"
#include "loup/ops/windows.h"

// What moves elements does to the mask what it does to the data. Arguments and errors are those of
// the same names in ops; what is a view there is one here, and shares both.

namespace loup::masked {

/// What a move made of the data and of the mask of `x`. Where it had to copy one of the two, the
/// other is a copy as well: what is written there reaches both of x or neither.
inline MaskedTensor joined(const MaskedTensor& x, const Tensor& data, const Tensor& mask) {
  const bool shows_data = data.storage() == x.get_data().storage();
  const bool shows_mask = mask.storage() == x.get_mask().storage();
  if (shows_data == shows_mask) return as_masked_tensor(data, mask);
  return as_masked_tensor(shows_data ? ops::clone(data) : data,
                          shows_mask ? ops::clone(mask) : mask);
}

/// Data and mask, both seen through `move`.
template <class Move>
MaskedTensor alike(const MaskedTensor& x, const Move& move) {
  return joined(x, move(x.get_data()), move(x.get_mask()));
}
/// The same for a move that gives several parts.
template <class Move>
std::vector<MaskedTensor> parts_alike(const MaskedTensor& x, const Move& move) {
  const std::vector<Tensor> data = move(x.get_data());
  const std::vector<Tensor> masks = move(x.get_mask());
  std::vector<MaskedTensor> parts;
  parts.reserve(data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    parts.push_back(as_masked_tensor(data[i], masks[i]));
  return parts;
}

inline MaskedTensor transpose(const MaskedTensor& x, std::int64_t a, std::int64_t b) {
  return alike(x, [&](const Tensor& t) { return ops::transpose(t, a, b); });
}
inline MaskedTensor t(const MaskedTensor& x) { return alike(x, ops::t); }
inline MaskedTensor permute(const MaskedTensor& x, const Dims& order) {
  return alike(x, [&](const Tensor& t) { return ops::permute(t, order); });
}
inline MaskedTensor squeeze(const MaskedTensor& x, const Dims& dims = {}) {
  return alike(x, [&](const Tensor& t) { return ops::squeeze(t, dims); });
}
inline MaskedTensor unsqueeze(const MaskedTensor& x, std::int64_t dim) {
  return alike(x, [&](const Tensor& t) { return ops::unsqueeze(t, dim); });
}
inline MaskedTensor narrow(const MaskedTensor& x, std::int64_t dim, std::int64_t start,
                           std::int64_t length) {
  return alike(x, [&](const Tensor& t) { return ops::narrow(t, dim, start, length); });
}
inline MaskedTensor select(const MaskedTensor& x, std::int64_t dim, std::int64_t index) {
  return alike(x, [&](const Tensor& t) { return ops::select(t, dim, index); });
}
inline MaskedTensor slice(const MaskedTensor& x, std::int64_t dim,
                          std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                          std::int64_t step = 1) {
  return alike(x, [&](const Tensor& t) { return ops::slice(t, dim, start, stop, step); });
}
inline MaskedTensor expand(const MaskedTensor& x, const Shape& shape) {
  return alike(x, [&](const Tensor& t) { return ops::expand(t, shape); });
}
inline MaskedTensor broadcast_to(const MaskedTensor& x, const Shape& shape) {
  return alike(x, [&](const Tensor& t) { return ops::broadcast_to(t, shape); });
}
inline MaskedTensor view(const MaskedTensor& x, const Shape& shape) {
  return alike(x, [&](const Tensor& t) { return ops::view(t, shape); });
}
inline MaskedTensor reshape(const MaskedTensor& x, const Shape& shape) {
  return alike(x, [&](const Tensor& t) { return ops::reshape(t, shape); });
}
inline MaskedTensor flatten(const MaskedTensor& x, std::int64_t first = 0, std::int64_t last = -1) {
  return alike(x, [&](const Tensor& t) { return ops::flatten(t, first, last); });
}
inline MaskedTensor ravel(const MaskedTensor& x) { return alike(x, ops::ravel); }
inline MaskedTensor unflatten(const MaskedTensor& x, std::int64_t dim, const Shape& sizes) {
  return alike(x, [&](const Tensor& t) { return ops::unflatten(t, dim, sizes); });
}
inline MaskedTensor movedim(const MaskedTensor& x, const Dims& from, const Dims& to) {
  return alike(x, [&](const Tensor& t) { return ops::movedim(t, from, to); });
}
inline MaskedTensor swapaxes(const MaskedTensor& x, std::int64_t a, std::int64_t b) {
  return transpose(x, a, b);
}
inline MaskedTensor diagonal(const MaskedTensor& x, std::int64_t offset = 0, std::int64_t dim1 = 0,
                             std::int64_t dim2 = 1) {
  return alike(x, [&](const Tensor& t) { return ops::diagonal(t, offset, dim1, dim2); });
}
inline MaskedTensor unfold(const MaskedTensor& x, std::int64_t dim, std::int64_t size,
                           std::int64_t step) {
  return alike(x, [&](const Tensor& t) { return ops::unfold(t, dim, size, step); });
}
/// The padding does not count.
inline MaskedTensor im2col(const MaskedTensor& x, const Dims& kernel_size,
                           const ops::WindowOptions& options = {}) {
  return alike(x, [&](const Tensor& t) { return ops::im2col(t, kernel_size, options); });
}
inline MaskedTensor flip(const MaskedTensor& x, const Dims& dims = {}) {
  return alike(x, [&](const Tensor& t) { return ops::flip(t, dims); });
}
inline MaskedTensor roll(const MaskedTensor& x, const Dims& shifts, const Dims& dims = {}) {
  return alike(x, [&](const Tensor& t) { return ops::roll(t, shifts, dims); });
}
inline MaskedTensor repeat(const MaskedTensor& x, const Dims& repeats) {
  return alike(x, [&](const Tensor& t) { return ops::repeat(t, repeats); });
}
inline MaskedTensor tile(const MaskedTensor& x, const Dims& repeats) {
  return alike(x, [&](const Tensor& t) { return ops::tile(t, repeats); });
}
inline MaskedTensor repeat_interleave(const MaskedTensor& x, std::int64_t repeats,
                                      std::optional<std::int64_t> dim = {}) {
  return alike(x, [&](const Tensor& t) { return ops::repeat_interleave(t, repeats, dim); });
}
inline MaskedTensor index_select(const MaskedTensor& x, std::int64_t dim, const Tensor& index) {
  return alike(x, [&](const Tensor& t) { return ops::index_select(t, dim, index); });
}
inline MaskedTensor gather(const MaskedTensor& x, std::int64_t dim, const Tensor& index) {
  return alike(x, [&](const Tensor& t) { return ops::gather(t, dim, index); });
}
inline MaskedTensor take_along_dim(const MaskedTensor& x, const Tensor& indices,
                                   std::optional<std::int64_t> dim = {}) {
  return alike(x, [&](const Tensor& t) { return ops::take_along_dim(t, indices, dim); });
}
inline MaskedTensor index(const MaskedTensor& x, std::span<const ops::Index> items) {
  return alike(x, [&](const Tensor& t) { return ops::index(t, items); });
}
inline std::vector<MaskedTensor> split(const MaskedTensor& x, std::int64_t size,
                                       std::int64_t dim = 0) {
  return parts_alike(x, [&](const Tensor& t) { return ops::split(t, size, dim); });
}
inline std::vector<MaskedTensor> split(const MaskedTensor& x, std::span<const std::int64_t> sizes,
                                       std::int64_t dim = 0) {
  return parts_alike(x, [&](const Tensor& t) { return ops::split(t, sizes, dim); });
}
inline std::vector<MaskedTensor> chunk(const MaskedTensor& x, std::int64_t chunks,
                                       std::int64_t dim = 0) {
  return parts_alike(x, [&](const Tensor& t) { return ops::chunk(t, chunks, dim); });
}
inline std::vector<MaskedTensor> unbind(const MaskedTensor& x, std::int64_t dim = 0) {
  return parts_alike(x, [&](const Tensor& t) { return ops::unbind(t, dim); });
}

/// Data and masks of several, joined in the same way.
template <class Join>
MaskedTensor joined_alike(std::span<const MaskedTensor> tensors, const Join& join) {
  std::vector<Tensor> data;
  std::vector<Tensor> masks;
  for (const MaskedTensor& x : tensors) {
    data.push_back(x.get_data());
    masks.push_back(x.get_mask());
  }
  return as_masked_tensor(join(data), join(masks));
}
inline MaskedTensor cat(std::span<const MaskedTensor> tensors, std::int64_t dim = 0) {
  return joined_alike(tensors, [&](std::span<const Tensor> t) { return ops::cat(t, dim); });
}
inline MaskedTensor stack(std::span<const MaskedTensor> tensors, std::int64_t dim = 0) {
  return joined_alike(tensors, [&](std::span<const Tensor> t) { return ops::stack(t, dim); });
}
inline MaskedTensor hstack(std::span<const MaskedTensor> tensors) {
  return joined_alike(tensors, ops::hstack);
}
inline MaskedTensor vstack(std::span<const MaskedTensor> tensors) {
  return joined_alike(tensors, ops::vstack);
}

}  // namespace loup::masked
