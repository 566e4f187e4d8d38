#include "loup/ops/join.h"

#include <algorithm>

#include <fmt/format.h>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

void require_some(const char* operation, std::span<const Tensor> tensors) {
  if (tensors.empty()) throw ValueError("{}: expected at least one tensor, got none", operation);
}

/// The shape of the joined tensors.
Shape joined_shape(const char* operation, std::span<const Tensor> tensors, int dim) {
  Shape result = tensors.front().shape();
  result[dim] = 0;
  for (const Tensor& x : tensors) {
    bool fits = x.ndim() == result.size();
    for (int i = 0; fits && i < result.size(); ++i) fits = i == dim || x.shape()[i] == result[i];
    if (!fits) {
      throw ShapeError("{}: expected shapes that agree but for dim {}, got {} and {}", operation,
                       dim, tensors.front().shape(), x.shape());
    }
    result[dim] += x.shape()[dim];
  }
  return result;
}

/// What the gradient of each part is taken from, and converted to.
struct JoinedPart {
  std::int64_t start, length;
  DType dtype;
};

Gradient gradient_part(const Gradient& g, int dim, const JoinedPart& part) {
  Gradient result{to(narrow(g.value, dim, part.start, part.length), part.dtype), {}};
  if (g.mask) result.mask = narrow(*g.mask, dim, part.start, part.length);
  return result;
}

Tensor join(const char* operation, std::span<const Tensor> tensors, std::int64_t wanted_dim) {
  require_some(operation, tensors);
  if (tensors.front().ndim() == 0) {
    throw ShapeError("{}: expected tensors with dims, got a 0-d tensor", operation);
  }
  const int dim = normalize_dim(operation, wanted_dim, tensors.front().ndim());
  const Shape shape = joined_shape(operation, tensors, dim);
  DType dtype = tensors.front().dtype();
  for (const Tensor& x : tensors) dtype = promote(dtype, x.dtype());
  Tensor result = empty(shape, dtype);
  std::vector<JoinedPart> parts;
  std::int64_t start = 0;
  bool is_recorded = false;
  for (const Tensor& x : tensors) {
    const JoinedPart part{start, x.shape()[dim], x.dtype()};
    const Tensor place =
        result.with_layout(loup::narrow(result.layout(), dim, part.start, part.length));
    kernels::copy(x.shape(), place.array(), x.array());
    is_recorded |= autograd::is_recorded(x);
    parts.push_back(part);
    start += part.length;
  }
  if (is_recorded) {
    autograd::record(operation, result, std::vector<Tensor>(tensors.begin(), tensors.end()), {},
                     [=](const Saved& saved, const Gradient& g) {
                       std::vector<Gradient> gradients(parts.size());
                       for (std::size_t i = 0; i < parts.size(); ++i) {
                         if (saved.needs(i)) gradients[i] = gradient_part(g, dim, parts[i]);
                       }
                       return gradients;
                     });
  }
  return result;
}

int dim_to_split(const char* operation, const Tensor& x, std::int64_t dim) {
  if (x.ndim() == 0) throw ShapeError("{}: expected a tensor with dims, got 0-d", operation);
  return normalize_dim(operation, dim, x.ndim());
}

std::vector<Tensor> split_evenly(const Tensor& x, std::int64_t size, int dim) {
  const std::int64_t total = x.shape()[dim];
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  do {
    const std::int64_t length = std::min(size, total - start);
    parts.push_back(narrow(x, dim, start, length));
    start += length;
  } while (start < total);
  return parts;
}

}  // namespace

Tensor cat(std::span<const Tensor> tensors, std::int64_t dim) { return join("cat", tensors, dim); }

Tensor stack(std::span<const Tensor> tensors, std::int64_t dim) {
  require_some("stack", tensors);
  const int place = normalize_dim("stack", dim, tensors.front().ndim() + 1);
  std::vector<Tensor> slices;
  for (const Tensor& x : tensors) {
    if (x.shape() != tensors.front().shape()) {
      throw ShapeError("stack: expected tensors of one shape, got {} and {}",
                       tensors.front().shape(), x.shape());
    }
    slices.push_back(unsqueeze(x, place));
  }
  return join("stack", slices, place);
}

Tensor hstack(std::span<const Tensor> tensors) {
  std::vector<Tensor> columns;
  for (const Tensor& x : tensors) columns.push_back(x.ndim() == 0 ? unsqueeze(x, 0) : x);
  return join("hstack", columns, !columns.empty() && columns.front().ndim() > 1 ? 1 : 0);
}

Tensor vstack(std::span<const Tensor> tensors) {
  std::vector<Tensor> rows;
  for (const Tensor& x : tensors) {
    const Tensor line = x.ndim() == 0 ? unsqueeze(x, 0) : x;
    rows.push_back(line.ndim() == 1 ? unsqueeze(line, 0) : line);
  }
  return join("vstack", rows, 0);
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim) {
  const int d = dim_to_split("split", x, dim);
  if (size < 0 || (size == 0 && x.shape()[d] != 0)) {
    throw ValueError("split: expected parts of at least 1 element, got {}", size);
  }
  return split_evenly(x, size, d);
}

std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, std::int64_t dim) {
  const int d = dim_to_split("split", x, dim);
  std::int64_t rest = x.shape()[d];
  std::vector<Tensor> parts;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw ValueError("split: expected sizes of at least 0, got {}", size);
    if (size <= rest) parts.push_back(narrow(x, d, x.shape()[d] - rest, size));
    rest = size <= rest ? rest - size : -1;
    if (rest < 0) break;
  }
  if (rest != 0) {
    throw ValueError("split: expected sizes that add up to {}, got [{}]", x.shape()[d],
                     fmt::join(sizes, ", "));
  }
  return parts;
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim) {
  const int d = dim_to_split("chunk", x, dim);
  if (chunks < 1) throw ValueError("chunk: expected at least 1 chunk, got {}", chunks);
  const std::int64_t total = x.shape()[d];
  if (total == 0) return std::vector<Tensor>(static_cast<std::size_t>(chunks), narrow(x, d, 0, 0));
  return split_evenly(x, total / chunks + (total % chunks != 0 ? 1 : 0), d);
}

std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim) {
  const int d = dim_to_split("unbind", x, dim);
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < x.shape()[d]; ++i) parts.push_back(select(x, d, i));
  return parts;
}

}  // namespace loup::ops
