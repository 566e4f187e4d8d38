#include "loup/masked/log_add_exp.h"

#include <limits>

#include "loup/base/error.h"
#include "loup/masked/masks.h"
#include "loup/masked/poison.h"
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

/// log(exp(a) + exp(b)) of what is present.
Tensor log_add_exp(const char* name, const Tensor& a, const Tensor& b,
                   const LogAddExpOptions& options) {
  // Both or none: one pass less.
  const bool is_floating_pair = is_floating(a.dtype()) && is_floating(b.dtype());
  const bool is_one_mask = options.input_mask && options.other_mask &&
                           is_same_mask(*options.input_mask, *options.other_mask);
  if (is_floating_pair && a.shape() == b.shape() && is_one_mask) {
    return present(name, ops::logaddexp(a, b), options.input_mask);
  }
  return ops::logaddexp(present(name, a, options.input_mask), present(name, b, options.other_mask));
}

}  // namespace

Tensor LogAddExp::operator()(const Tensor& input, const Tensor& other,
                             const LogAddExpOptions& options) const {
  const Tensor result = log_add_exp(name, Seen(name, input, options.input_mask),
                                    Seen(name, other, options.other_mask), options);
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
