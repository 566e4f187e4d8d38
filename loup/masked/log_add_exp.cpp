#include "loup/masked/log_add_exp.h"

#include "loup/masked/masks.h"
#include "loup/masked/poison.h"
#include "loup/ops/binary.h"
#include "loup/ops/log_add_exp.h"

namespace loup::masked {

Tensor LogAddExp::operator()(const Tensor& input, const Tensor& other,
                             const LogAddExpOptions& options) const {
  const auto pointer = [](const std::optional<Tensor>& x) { return x ? &*x : nullptr; };
  return ops::log_add_exp_of(name, Seen(name, input, options.input_mask),
                             pointer(options.input_mask), Seen(name, other, options.other_mask),
                             pointer(options.other_mask), options.dtype);
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
