#include "loup/masked/log_add_exp.h"

#include <limits>

#include "loup/base/error.h"
#include "loup/masked/masks.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/select.h"

namespace loup::masked {

namespace {

/// What adds nothing where it does not count.
Tensor present(const char* operation, const Tensor& x, const std::optional<Tensor>& mask) {
  if (!is_floating(x.dtype())) {
    throw DTypeError("{}: expected floating elements, got {}", operation, x.dtype());
  }
  if (!mask) return x;
  return ops::where(whole_mask(operation, x, mask), x, -std::numeric_limits<double>::infinity());
}

}  // namespace

Tensor LogAddExp::operator()(const Tensor& input, const Tensor& other,
                             const LogAddExpOptions& options) const {
  const Tensor result = ops::logaddexp(present(name, input, options.input_mask),
                                       present(name, other, options.other_mask));
  return ops::contiguous(ops::to(result, options.dtype.value_or(result.dtype())));
}

MaskedTensor LogAddExp::operator()(const MaskedTensor& input, const MaskedTensor& other,
                                   const LogAddExpOptions& options) const {
  const LogAddExpOptions both{.input_mask = combined_mask(name, input, options.input_mask),
                              .other_mask = combined_mask(name, other, options.other_mask),
                              .dtype = options.dtype};
  return as_masked_tensor((*this)(input.get_data(), other.get_data(), both),
                          output_mask(input.get_data(), other.get_data(), both));
}

Tensor LogAddExp::output_mask(const Tensor& input, const Tensor& other,
                              const LogAddExpOptions& options) const {
  return ops::logical_or(whole_mask(name, input, options.input_mask),
                         whole_mask(name, other, options.other_mask));
}

}  // namespace loup::masked
