#pragma once

#include <iosfwd>
#include <string>

#include "loup/tensor/tensor.h"

namespace loup {

/// `Tensor(` elements `)`, one cell width, as few decimals as
/// print every value exactly (at most 4), beyond 1000 elements only the ends of each dim.
LOUP_EXPORT std::string to_string(const Tensor& x);
LOUP_EXPORT std::ostream& operator<<(std::ostream& stream, const Tensor& x);

/// The text of `kind(…)` around the elements of x; where `mask` (of the same shape) is false, `--`.
/// `suffix` follows the elements, ", requires_grad=True" for instance.
LOUP_EXPORT std::string format_tensor(const char* kind, const Tensor& x, const Tensor* mask,
                                      const std::string& suffix);

}  // namespace loup
