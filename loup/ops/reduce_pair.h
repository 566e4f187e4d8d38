#pragma once

#include <utility>

#include "loup/ops/reduce.h"

namespace loup::ops {

/// Both results of a kernel that has two: of argmax and argmin the element and its index among
/// those reduced, counted row-major; of minmax the least and the largest. Values are
/// differentiable: the element of an index gets the whole gradient.
LOUP_EXPORT std::pair<Tensor, Tensor> reduce_pair(const ReduceSpec& spec, const Tensor& x,
                                                  const Dims& dims,
                                                  const ReduceArguments& arguments = {});

}  // namespace loup::ops
