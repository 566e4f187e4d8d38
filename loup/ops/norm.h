#pragma once

#include "loup/ops/reduce.h"

namespace loup::ops {

/// (Σ |x|^ord)^(1/ord) of the elements that count; order 0 counts those other than 0, ±inf are the
/// largest and the least magnitude. DTypeError unless elements are floats; ShapeError where there
/// are none and the order has no norm of nothing.
LOUP_EXPORT Tensor norm(const Tensor& x, double ord, const Dims& dims,
                        const ReduceArguments& arguments = {});

}  // namespace loup::ops
