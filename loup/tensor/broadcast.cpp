#include "loup/tensor/broadcast.h"

#include <algorithm>

#include "loup/base/error.h"

namespace loup {

Layout broadcast(const char* operation, const char* what, const Layout& layout,
                 const Shape& shape) {
  const int missing = shape.size() - layout.shape.size();
  Layout result{shape, Dims::filled(shape.size(), 0), layout.offset};
  bool fits = missing >= 0;
  for (int i = std::max(missing, 0); fits && i < shape.size(); ++i) {
    const std::int64_t size = layout.shape[i - missing];
    if (size == shape[i]) {
      result.strides[i] = size == 1 ? 0 : layout.strides[i - missing];
    } else {
      fits = size == 1;
    }
  }
  if (!fits) {
    throw ShapeError("{}: expected {} broadcastable to {}, got shape {}", operation, what, shape,
                     layout.shape);
  }
  return result;
}

Shape common_shape(const char* operation, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const int missing = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = result[i + missing];
    if (size == 1) {
      size = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != size) {
      throw ShapeError("{}: expected shapes that broadcast together, got {} and {}", operation, a,
                       b);
    }
  }
  return result;
}

}  // namespace loup
