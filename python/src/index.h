#pragma once

#include "bindings.h"

namespace loup::python {

/// x[key]: None, Ellipsis, ints, slices with positive steps, and what becomes a tensor of ints or
/// bool.
Tensor index(const Tensor& x, nb::handle key);
/// x[key] = value.
void set_index(Tensor& x, nb::handle key, nb::handle value);

/// The same of data and mask. A value that is no MaskedTensor counts.
MaskedTensor index(const MaskedTensor& x, nb::handle key);
void set_index(MaskedTensor& x, nb::handle key, nb::handle value);

}  // namespace loup::python
