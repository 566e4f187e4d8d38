#include "loup/masked/scatter.h"

#include "loup/masked/poison.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/gather.h"
#include "loup/ops/masking.h"
#include "loup/ops/shape.h"
#include "loup/ops/unary.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

/// The elements of a source, and where they count.
struct Source {
  Tensor data;
  Tensor mask;
};
Source source_of(const char* operation, const MaskedOperand& x, DType dtype) {
  const Seen seen(operation, x);
  const Tensor data = static_cast<const ops::Operand&>(seen).as_tensor(dtype);
  if (x.mask() != nullptr) return {data, *x.mask()};
  const Layout repeated{data.shape(), Dims::filled(data.ndim(), 0), 0};
  return {data, ones({}, DType::boolean).with_layout(repeated)};
}

/// What does not count adds nothing.
Tensor addend(const Source& source) { return ops::filled(source.data, source.mask, 0); }

}  // namespace

MaskedTensor scatter(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                     const MaskedOperand& source) {
  if (source.values().is_number()) {
    return as_masked_tensor(ops::scatter(x.get_data(), dim, index, source.values().number()),
                            ops::scatter(x.get_mask(), dim, index, Scalar(true)));
  }
  const Source from = source_of("scatter", source, x.dtype());
  return as_masked_tensor(ops::scatter(x.get_data(), dim, index, from.data),
                          ops::scatter(x.get_mask(), dim, index, from.mask));
}

MaskedTensor scatter_add(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                         const MaskedOperand& source) {
  const Source from = source_of("scatter_add", source, x.dtype());
  return as_masked_tensor(ops::scatter_add(zero_filled("scatter_add", x), dim, index, addend(from)),
                          ops::scatter_add(x.get_mask(), dim, index, from.mask));
}

MaskedTensor index_add(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                       const MaskedOperand& source, Scalar alpha) {
  Source from = source_of("index_add", source, x.dtype());
  // Before it is filled: an infinite alpha must not meet the zero of what does not count.
  if (alpha.to<double>() != 1) from.data = ops::to(ops::mul(from.data, alpha), x.dtype());
  return as_masked_tensor(ops::index_add(zero_filled("index_add", x), dim, index, addend(from)),
                          ops::index_add(x.get_mask(), dim, index, from.mask));
}

MaskedTensor index_copy(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                        const MaskedOperand& source) {
  const Source from = source_of("index_copy", source, x.dtype());
  return as_masked_tensor(ops::index_copy(x.get_data(), dim, index, from.data),
                          ops::index_copy(x.get_mask(), dim, index, from.mask));
}

MaskedTensor index_fill(const MaskedTensor& x, std::int64_t dim, const Tensor& index,
                        Scalar value) {
  return as_masked_tensor(ops::index_fill(x.get_data(), dim, index, value),
                          ops::index_fill(x.get_mask(), dim, index, Scalar(true)));
}

namespace {

void assign(const char* operation, MaskedTensor& x, const MaskedTensor& result) {
  x.assign_(operation, result.get_data(), result.get_mask());
}

}  // namespace

void scatter_(MaskedTensor& x, std::int64_t dim, const Tensor& index, const MaskedOperand& source) {
  assign("scatter_", x, scatter(x, dim, index, source));
}

void scatter_add_(MaskedTensor& x, std::int64_t dim, const Tensor& index,
                  const MaskedOperand& source) {
  assign("scatter_add_", x, scatter_add(x, dim, index, source));
}

void index_add_(MaskedTensor& x, std::int64_t dim, const Tensor& index, const MaskedOperand& source,
                Scalar alpha) {
  assign("index_add_", x, index_add(x, dim, index, source, alpha));
}

void index_copy_(MaskedTensor& x, std::int64_t dim, const Tensor& index,
                 const MaskedOperand& source) {
  assign("index_copy_", x, index_copy(x, dim, index, source));
}

void index_fill_(MaskedTensor& x, std::int64_t dim, const Tensor& index, Scalar value) {
  assign("index_fill_", x, index_fill(x, dim, index, value));
}

namespace {

void put(const char* operation, MaskedTensor& x, const MaskedOperand& source) {
  const Source from = source_of(operation, source, x.dtype());
  x.assign_(operation, ops::repeated(operation, from.data, x.shape()),
            ops::repeated(operation, from.mask, x.shape()));
}

}  // namespace

void copy_(MaskedTensor& x, const MaskedOperand& source) { put("copy_", x, source); }

void fill_(MaskedTensor& x, Scalar value) { put("fill_", x, value); }

MaskedTensor col2im(const MaskedTensor& x, const Dims& output_size, const Dims& kernel_size,
                    const ops::WindowOptions& options) {
  return as_masked_tensor(ops::col2im(zero_filled("col2im", x), output_size, kernel_size, options),
                          ops::col2im(x.get_mask(), output_size, kernel_size, options));
}

namespace {

/// A triangle keeps its elements and their mask; its zeros are false in what it makes of the places
/// that do not count.
template <class Triangle>
MaskedTensor with_zeros_beside(const MaskedTensor& x, const Triangle& triangle) {
  return as_masked_tensor(triangle(x.get_data()),
                          ops::logical_not(triangle(ops::logical_not(x.get_mask()))));
}

}  // namespace

MaskedTensor tril(const MaskedTensor& x, std::int64_t diagonal) {
  return with_zeros_beside(x, [&](const Tensor& t) { return ops::tril(t, diagonal); });
}

MaskedTensor triu(const MaskedTensor& x, std::int64_t diagonal) {
  return with_zeros_beside(x, [&](const Tensor& t) { return ops::triu(t, diagonal); });
}

Tensor nonzero(const MaskedTensor& x) { return ops::nonzero(zero_filled("nonzero", x.detach())); }

std::vector<Tensor> nonzero_tuple(const MaskedTensor& x) {
  return ops::nonzero_tuple(zero_filled("nonzero", x.detach()));
}

}  // namespace loup::masked
