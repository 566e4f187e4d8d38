#pragma once

#include "bindings.h"

namespace loup::python {

/// x[key] as a view: None, Ellipsis, ints and slices with positive steps.
Tensor index(const Tensor& x, nb::handle key);

}  // namespace loup::python
