#pragma once

#include <span>
#include <vector>

#include "loup/ops/index.h"
#include "loup/ops/lookup.h"

// What the items of an index mean: first a view, then, where there are tensors, a lookup in it.

namespace loup::ops {

using Items = std::vector<Index>;

/// The items with masks as the integers that they stand for (but 0-d ones) and the dims of the
/// ellipsis written out; it stays as a mark, because it comes between tensors.
/// IndexError when there are too many items or ellipses, or a mask has other sizes than its dims.
Items normalized(const Shape& shape, std::span<const Index> items);

bool has_tensors(std::span<const Index> items);

/// What slices and integers leave. Tensors leave their dims whole, and beside them new dims are
/// left to the lookup.
Layout view_of(const Layout& x, const Items& items);

/// The lookup in that view. ShapeError when the tensors do not broadcast together.
Lookup lookup_of(const char* operation, const Shape& view, const Items& items);

}  // namespace loup::ops
