#include "loup/ops/matmul.h"

#include "loup/base/error.h"
#include "loup/ops/binary.h"
#include "loup/ops/contract.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"

namespace loup::ops {

namespace {

DType product_type(const char* operation, const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  if (dtype == DType::boolean) {
    throw DTypeError("{}: expected numbers, got bool; convert with to(loup.int32)", operation);
  }
  return dtype;
}

void check_ndim(const char* operation, const Tensor& a, int a_ndim, const Tensor& b, int b_ndim) {
  if (a.ndim() != a_ndim || b.ndim() != b_ndim) {
    throw ShapeError("{}: expected tensors of {} and {} dims, got shapes {} and {}", operation,
                     a_ndim, b_ndim, a.shape(), b.shape());
  }
}

/// Matrices of any dtypes, with the errors of `operation`; shapes as the user knows them.
Tensor multiply(const char* operation, const Tensor& a, const Tensor& b, const Shape& a_shape,
                const Shape& b_shape) {
  const DType dtype = product_type(operation, a, b);
  if (a.size(-1) != b.size(-2)) {
    throw ShapeError(
        "{}: expected as many columns of the first as rows of the second, got shapes {} and {}",
        operation, a_shape, b_shape);
  }
  return contract(operation, to(a, dtype), {}, to(b, dtype), {});
}

Tensor matmul_as(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    throw ShapeError(
        "{}: expected tensors of 1 dim or more, got shapes {} and {}; multiply by a "
        "number with *",
        operation, a.shape(), b.shape());
  }
  const Tensor left = a.ndim() == 1 ? unsqueeze(a, 0) : a;
  const Tensor right = b.ndim() == 1 ? unsqueeze(b, 1) : b;
  Tensor c = multiply(operation, left, right, a.shape(), b.shape());
  if (b.ndim() == 1) c = squeeze(c, -1);
  if (a.ndim() == 1) c = squeeze(c, b.ndim() == 1 ? -1 : -2);
  return c;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) { return matmul_as("matmul", a, b); }

Tensor mm(const Tensor& a, const Tensor& b) {
  check_ndim("mm", a, 2, b, 2);
  return matmul_as("mm", a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  check_ndim("bmm", a, 3, b, 3);
  if (a.size(0) != b.size(0)) {
    throw ShapeError("bmm: expected batches of one size, got shapes {} and {}", a.shape(),
                     b.shape());
  }
  return matmul_as("bmm", a, b);
}

Tensor mv(const Tensor& a, const Tensor& x) {
  check_ndim("mv", a, 2, x, 1);
  return matmul_as("mv", a, x);
}

Tensor dot(const Tensor& x, const Tensor& y) {
  check_ndim("dot", x, 1, y, 1);
  if (x.size() != y.size()) {
    throw ShapeError("dot: expected vectors of one length, got {} and {}", x.size(), y.size());
  }
  return matmul_as("dot", x, y);
}

Tensor outer(const Tensor& x, const Tensor& y) {
  check_ndim("outer", x, 1, y, 1);
  const DType dtype = product_type("outer", x, y);
  return mul(unsqueeze(to(x, dtype), 1), unsqueeze(to(y, dtype), 0));
}

Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  if (weight.ndim() != 1 && weight.ndim() != 2) {
    throw ShapeError("linear: expected a weight of 1 or 2 dims, got shape {}", weight.shape());
  }
  if (x.ndim() == 0 || x.size(-1) != weight.size(-1)) {
    throw ShapeError(
        "linear: expected an input whose last dim is that of the weight, {}, got "
        "shapes {} and {}",
        weight.size(-1), x.shape(), weight.shape());
  }
  Tensor y = matmul_as("linear", x, weight.ndim() == 2 ? transpose(weight, 0, 1) : weight);
  if (!bias) return y;
  if (bias->ndim() > 1 ||
      (bias->ndim() == 1 && (weight.ndim() == 1 || bias->size(0) != weight.size(0)))) {
    throw ShapeError("linear: expected a bias for {} outputs, got shape {}",
                     weight.ndim() == 2 ? weight.size(0) : 1, bias->shape());
  }
  return add(y, *bias);
}

}  // namespace loup::ops
