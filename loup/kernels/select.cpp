#include "loup/kernels/copy.h"
#include "loup/kernels/elementwise.h"

namespace loup::kernels {

void select(const Shape& shape, const Array& to, const Array& mask, const Array& yes,
            const Array& no) {
  const Array inputs[] = {mask, yes, no};
  elementwise(where_kernel(to.dtype), shape, to, inputs);
}

void add(const Shape& shape, const Array& to, const Array& a, const Array& b) {
  const Array inputs[] = {a, b};
  const ElementwiseKernel* const kernel = to.dtype == DType::boolean
                                              ? find_boolean(BinaryOp::logical_or)
                                              : find_binary(BinaryOp::add, compute_type(to.dtype));
  elementwise(*kernel, shape, to, inputs);
}

void logical_and(const Shape& shape, const Array& to, const Array& a, const Array& b) {
  const Array inputs[] = {a, b};
  elementwise(*find_boolean(BinaryOp::logical_and), shape, to, inputs);
}

}  // namespace loup::kernels
