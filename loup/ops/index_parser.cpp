#include "loup/ops/index_parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "loup/base/error.h"
#include "loup/ops/masking.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/views.h"

namespace loup::ops {

namespace {

bool is_mask(const Tensor& x) { return x.dtype() == DType::boolean; }

/// How many dims of x an item is about.
int consumed(const Index& item) {
  if (const Tensor* const tensor = std::get_if<Tensor>(&item)) {
    return is_mask(*tensor) ? tensor->ndim() : 1;
  }
  return std::holds_alternative<std::int64_t>(item) || std::holds_alternative<Slice>(item) ? 1 : 0;
}

void push_mask(Items& items, const Shape& shape, int dim, const Tensor& mask) {
  for (int i = 0; i < mask.ndim(); ++i) {
    if (mask.shape()[i] != shape[dim + i]) {
      throw IndexError("index: expected a mask of size {} for dim {}, got shape {}", shape[dim + i],
                       dim + i, mask.shape());
    }
  }
  for (Tensor& indices : nonzero_tuple(mask)) items.emplace_back(std::move(indices));
}

/// Places the dims of tensors among those that are kept: at the first tensor or integer, or in
/// front when they do not stand together.
class Placement {
 public:
  void kept(std::int64_t moves) {
    moves_.push_back(moves);
    separate();
  }
  void separate() { has_gap_ |= place_.has_value(); }
  void indexed() {
    if (place_ && has_gap_) is_apart_ = true;
    if (!place_) place_ = moves_.size();
  }
  int place() const { return is_apart_ ? 0 : place_.value_or(0); }
  /// The dims that are kept; -1 for new ones.
  const Dims& moves() const { return moves_; }

 private:
  Dims moves_;
  std::optional<int> place_;
  bool has_gap_ = false;
  bool is_apart_ = false;
};

}  // namespace

Items normalized(const Shape& shape, std::span<const Index> items) {
  int count = 0;
  int ellipses = 0;
  for (const Index& item : items) {
    count += consumed(item);
    ellipses += std::holds_alternative<Ellipsis>(item) ? 1 : 0;
  }
  if (ellipses > 1) throw IndexError("index: expected at most one Ellipsis, got {}", ellipses);
  if (count > shape.size()) {
    throw IndexError("index: expected at most {} indices, got {}", shape.size(), count);
  }
  Items result;
  int dim = 0;
  for (const Index& item : items) {
    const Tensor* const tensor = std::get_if<Tensor>(&item);
    if (tensor != nullptr && is_mask(*tensor) && tensor->ndim() > 0) {
      push_mask(result, shape, dim, *tensor);
    } else {
      result.push_back(item);
    }
    dim += consumed(item);
    if (!std::holds_alternative<Ellipsis>(item)) continue;
    for (; count < shape.size(); ++count, ++dim) result.emplace_back(Slice{});
  }
  for (; count < shape.size(); ++count) result.emplace_back(Slice{});
  return result;
}

bool has_tensors(std::span<const Index> items) {
  return std::ranges::any_of(items,
                             [](const Index& i) { return std::holds_alternative<Tensor>(i); });
}

Layout view_of(const Layout& x, const Items& items) {
  Layout result = x;
  int dim = 0;
  Dims new_dims;
  for (const Index& item : items) {
    if (const auto* const place = std::get_if<std::int64_t>(&item)) {
      result = select(result, dim, *place);
    } else if (const auto* const range = std::get_if<Slice>(&item)) {
      result = slice(result, dim++, range->start, range->stop, range->step);
    } else if (std::holds_alternative<NewDim>(item)) {
      new_dims.push_back(dim + new_dims.size());
    } else {
      dim += consumed(item);
    }
  }
  // Last, because with the dims that integers remove there might be too many on the way.
  if (!has_tensors(items)) {
    for (const std::int64_t place : new_dims) result = unsqueeze(result, place);
  }
  return result;
}

Lookup lookup_of(const char* operation, const Shape& view, const Items& items) {
  Lookup result{operation, {}, view, {}, {}, {}};
  std::vector<Tensor> indices;
  Placement placement;
  Shape found;  // of the tensors together
  int dim = 0;
  for (const Index& item : items) {
    if (const Tensor* const tensor = std::get_if<Tensor>(&item)) {
      placement.indexed();
      if (is_mask(*tensor)) {
        found = common_shape("index", found, {tensor->item<bool>() ? 1 : 0});
        continue;
      }
      check_index_dtype(operation, tensor->dtype());
      found = common_shape("index", found, tensor->shape());
      result.dims.push_back(dim++);
      indices.push_back(*tensor);
    } else if (std::holds_alternative<std::int64_t>(item)) {
      placement.indexed();
    } else if (std::holds_alternative<Slice>(item)) {
      placement.kept(dim++);
    } else if (std::holds_alternative<NewDim>(item)) {
      placement.kept(-1);
    } else {
      placement.separate();
    }
  }
  const int place = placement.place();
  const Dims& kept = placement.moves();
  for (int i = 0; i < kept.size(); ++i) {
    result.moves.push_back(kept[i]);
    result.shape.push_back(kept[i] < 0 ? 1 : view[static_cast<int>(kept[i])]);
  }
  for (int i = found.size(); i-- > 0;) {
    result.moves.insert(place, -1);
    result.shape.insert(place, found[i]);
  }
  set_indices(result, std::move(indices), found, place);
  return result;
}

}  // namespace loup::ops
