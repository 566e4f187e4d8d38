#include "loup/tensor/views.h"

#include <algorithm>
#include <array>
#include <utility>

#include "loup/base/error.h"
#include "loup/tensor/broadcast.h"

namespace loup {

Layout transpose(const Layout& x, std::int64_t a, std::int64_t b) {
  const int ndim = x.shape.size();
  const int first = normalize_dim("transpose", a, ndim);
  const int second = normalize_dim("transpose", b, ndim);
  Layout result = x;
  if (ndim == 0) return result;
  std::swap(result.shape[first], result.shape[second]);
  std::swap(result.strides[first], result.strides[second]);
  return result;
}

Layout permute(const Layout& x, const Dims& order) {
  const int ndim = x.shape.size();
  if (order.size() != ndim) {
    throw ShapeError("permute: expected an order of {} dims, got {}", ndim, order);
  }
  if (ndim > 0) dim_bits("permute", order, ndim);
  Layout result = x;
  for (int i = 0; i < ndim; ++i) {
    const int from = normalize_dim("permute", order[i], ndim);
    result.shape[i] = x.shape[from];
    result.strides[i] = x.strides[from];
  }
  return result;
}

Layout squeeze(const Layout& x, const Dims& dims) {
  const std::uint32_t chosen = dim_bits("squeeze", dims, x.shape.size());
  Layout result = x;
  for (int i = x.shape.size(); i-- > 0;) {
    if ((chosen >> static_cast<unsigned>(i) & 1U) == 0 || x.shape[i] != 1) continue;
    result.shape.erase(i);
    result.strides.erase(i);
  }
  return result;
}

Layout unsqueeze(const Layout& x, std::int64_t dim) {
  const int position = normalize_dim("unsqueeze", dim, x.shape.size() + 1);
  Layout result = x;
  const bool is_last = position == x.shape.size();
  result.strides.insert(position, is_last ? 1 : x.strides[position] * x.shape[position]);
  result.shape.insert(position, 1);
  return result;
}

Layout expand(const Layout& x, const Shape& shape) {
  Shape wanted = shape;
  const int missing = shape.size() - x.shape.size();
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] != -1) continue;
    if (i < missing) {
      throw ShapeError("expand: expected a size for each new dim, got {}", shape);
    }
    wanted[i] = x.shape[i - missing];
  }
  element_count(wanted);
  return broadcast("expand", "a shape", x, wanted);
}

Layout narrow(const Layout& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
  if (x.shape.empty()) throw ShapeError("narrow: expected a tensor with dims, got 0-d");
  const int d = normalize_dim("narrow", dim, x.shape.size());
  const std::int64_t size = x.shape[d];
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || length < 0 || first > size || length > size - first) {
    throw IndexError("narrow: expected a range inside of {} elements, got start {} and length {}",
                     size, start, length);
  }
  Layout result = x;
  result.shape[d] = length;
  result.offset += first * x.strides[d];
  return result;
}

Layout select(const Layout& x, std::int64_t dim, std::int64_t index) {
  if (x.shape.empty()) throw IndexError("select: expected a tensor with dims, got 0-d");
  const int d = normalize_dim("select", dim, x.shape.size());
  const std::int64_t size = x.shape[d];
  if (index < -size || index >= size) {
    throw IndexError("select: expected an index from {} to {} for dim {}, got {}", -size, size - 1,
                     d, index);
  }
  Layout result = x;
  result.offset += (index < 0 ? index + size : index) * x.strides[d];
  result.shape.erase(d);
  result.strides.erase(d);
  return result;
}

Layout slice(const Layout& x, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step) {
  if (x.shape.empty()) throw IndexError("slice: expected a tensor with dims, got 0-d");
  if (step <= 0) throw ValueError("slice: expected a positive step, got {}", step);
  const int d = normalize_dim("slice", dim, x.shape.size());
  const std::int64_t size = x.shape[d];
  const auto clip = [size](std::int64_t end) {
    return std::clamp<std::int64_t>(end < 0 ? end + size : end, 0, size);
  };
  const std::int64_t first = clip(start.value_or(0));
  const std::int64_t last = std::max(first, stop ? clip(*stop) : size);
  Layout result = x;
  result.offset += first * x.strides[d];
  result.shape[d] = (last - first) / step + ((last - first) % step != 0 ? 1 : 0);
  // A step beyond the end has no second element whose distance could matter.
  result.strides[d] = x.strides[d] * std::min(step, std::max<std::int64_t>(size, 1));
  return result;
}

Layout movedim(const Layout& x, const Dims& from, const Dims& to) {
  const int ndim = x.shape.size();
  if (from.size() != to.size()) {
    throw ShapeError("movedim: expected as many places as dims, got {} and {}", from, to);
  }
  if (from.empty() || ndim == 0) return x;
  const std::uint32_t moved = dim_bits("movedim", from, ndim);
  dim_bits("movedim", to, ndim);
  Dims order = Dims::filled(ndim, -1);
  for (int i = 0; i < from.size(); ++i) {
    order[normalize_dim("movedim", to[i], ndim)] = normalize_dim("movedim", from[i], ndim);
  }
  int next = 0;
  for (int i = 0; i < ndim; ++i) {
    if (order[i] >= 0) continue;
    while ((moved >> static_cast<unsigned>(next) & 1U) != 0) ++next;
    order[i] = next++;
  }
  return permute(x, order);
}

Layout diagonal(const Layout& x, std::int64_t offset, std::int64_t a, std::int64_t b) {
  const int ndim = x.shape.size();
  if (ndim < 2) throw ShapeError("diagonal: expected at least 2 dims, got shape {}", x.shape);
  const int first = normalize_dim("diagonal", a, ndim);
  const int second = normalize_dim("diagonal", b, ndim);
  if (first == second) {
    throw ShapeError("diagonal: expected two different dims, got {} and {}", a, b);
  }
  // Clipped, so that an offset beyond the ends cannot overflow.
  const std::int64_t above = std::clamp<std::int64_t>(offset, 0, x.shape[second]);
  const std::int64_t below = offset < 0 ? -std::max(offset, -x.shape[first]) : 0;
  const std::int64_t length = std::min(x.shape[first] - below, x.shape[second] - above);
  Layout result = x;
  if (length > 0) result.offset += below * x.strides[first] + above * x.strides[second];
  for (const int dim : {std::max(first, second), std::min(first, second)}) {
    result.shape.erase(dim);
    result.strides.erase(dim);
  }
  result.shape.push_back(length);
  result.strides.push_back(x.strides[first] + x.strides[second]);
  return result;
}

Layout unfold(const Layout& x, std::int64_t dim, std::int64_t size, std::int64_t step) {
  const int d = normalize_dim("unfold", dim, x.shape.size());
  const std::int64_t length = x.shape.empty() ? 1 : x.shape[d];
  if (size < 0 || size > length) {
    throw ValueError("unfold: expected a size from 0 to {}, got {}", length, size);
  }
  if (step <= 0) throw ValueError("unfold: expected a positive step, got {}", step);
  Layout result = x;
  result.shape.push_back(size);
  if (x.shape.empty()) {
    result.strides.push_back(1);
    return result;
  }
  result.strides.push_back(x.strides[d]);
  result.shape[d] = (length - size) / step + 1;
  // A step beyond the end has no second window whose distance could matter.
  result.strides[d] = x.strides[d] * std::min(step, std::max<std::int64_t>(length, 1));
  return result;
}

Layout flip(const Layout& x, const Dims& dims) {
  const std::uint32_t chosen = dim_bits("flip", dims, x.shape.size());
  Layout result = x;
  for (int i = 0; i < x.shape.size(); ++i) {
    if ((chosen >> static_cast<unsigned>(i) & 1U) == 0 || x.shape[i] == 0) continue;
    result.offset += (x.shape[i] - 1) * x.strides[i];
    result.strides[i] = -x.strides[i];
  }
  return result;
}

Shape resolve_shape(const char* operation, const Shape& x, const Shape& shape) {
  const std::int64_t count = element_count(x);
  Shape result = shape;
  int unknown = -1;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] != -1) continue;
    if (unknown >= 0) {
      throw ShapeError("{}: expected at most one size of -1, got {}", operation, shape);
    }
    unknown = i;
    result[i] = 1;
  }
  const std::int64_t known = element_count(result);
  const bool fits = unknown < 0 ? known == count : known != 0 && count % known == 0;
  if (!fits) {
    throw ShapeError("{}: expected a shape of {} elements, got {}", operation, count, shape);
  }
  if (unknown >= 0) result[unknown] = count / known;
  return result;
}

std::optional<Layout> view(const Layout& x, const Shape& shape) {
  Layout result = Layout::contiguous(resolve_shape("view", x.shape, shape));
  result.offset = x.offset;
  if (element_count(x.shape) == 0) return result;
  // Old dims that lie one inside the other in memory form runs, which may be cut anew; a new dim
  // must not straddle two of them. Innermost first.
  struct Run {
    std::int64_t size, step;
  };
  std::array<Run, max_ndim + 1> runs{};
  std::size_t count = 0;
  for (int i = x.shape.size(); i-- > 0;) {
    if (x.shape[i] == 1) continue;
    if (count > 0 && x.strides[i] == runs[count - 1].size * runs[count - 1].step) {
      runs[count - 1].size *= x.shape[i];
    } else {
      runs[count++] = {x.shape[i], x.strides[i]};
    }
  }
  std::size_t run = 0;
  std::int64_t covered = 1;
  for (int i = result.shape.size(); i-- > 0;) {
    if (result.shape[i] == 1) continue;
    if (covered == runs[run].size) {
      ++run;
      covered = 1;
    }
    result.strides[i] = covered * runs[run].step;
    covered *= result.shape[i];
    if (runs[run].size % covered != 0) return std::nullopt;
  }
  return result;
}

Shape flat_shape(const Shape& x, std::int64_t first, std::int64_t last) {
  if (x.empty()) return {1};
  const int from = normalize_dim("flatten", first, x.size());
  const int to = normalize_dim("flatten", last, x.size());
  if (from > to) {
    throw ShapeError("flatten: expected a first dim not after the last, got {} and {}", first,
                     last);
  }
  Shape result;
  for (int i = 0; i < from; ++i) result.push_back(x[i]);
  std::int64_t flat = 1;
  for (int i = from; i <= to; ++i) flat *= x[i];
  result.push_back(flat);
  for (int i = to + 1; i < x.size(); ++i) result.push_back(x[i]);
  return result;
}

Shape unflat_shape(const Shape& x, std::int64_t dim, const Shape& sizes) {
  if (x.empty()) throw ShapeError("unflatten: expected a tensor with dims, got 0-d");
  const int d = normalize_dim("unflatten", dim, x.size());
  const Shape resolved = resolve_shape("unflatten", {x[d]}, sizes);
  Shape result = x;
  result.erase(d);
  for (int i = resolved.size(); i-- > 0;) result.insert(d, resolved[i]);
  return result;
}

}  // namespace loup
