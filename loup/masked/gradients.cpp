#include "loup/masked/gradients.h"

#include <utility>

#include "loup/autograd/gradient.h"
#include "loup/autograd/node.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/logic.h"
#include "loup/ops/masking.h"
#include "loup/ops/unary.h"

namespace loup::masked {

using autograd::Gradient;
using autograd::RecordingScope;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

std::optional<Tensor> mask_of(const AnyTensor& x) {
  const MaskedTensor* const masked = std::get_if<MaskedTensor>(&x);
  return masked != nullptr ? std::optional(masked->get_mask()) : std::nullopt;
}

/// Whether a gradient is anything but 0 where the mask is false, for instance because it came
/// through get_data() and an operator without a mask.
bool reaches_hidden(const Tensor& gradient, const Tensor& mask) {
  const RecordingScope off(false);
  return ops::any(ops::logical_and(gradient, ops::logical_not(mask))).item<bool>();
}

/// A copy with 0 where the mask is false. A record keeps a mask of its own, for setitem may change
/// that of a tensor.
Tensor zeroed(const Tensor& gradient, const Tensor& mask) {
  return ops::filled(gradient, autograd::is_recorded(gradient) ? ops::clone(mask) : mask, 0);
}

/// The gradient itself if it is 0 where the mask is false, otherwise a copy that is.
Tensor with_zeros(const Tensor& gradient, const Tensor& mask) {
  return reaches_hidden(gradient, mask) ? zeroed(gradient, mask) : gradient;
}

/// The elements of `x`, as a tensor from which nothing flows where it or its gradient does not
/// count. The engine takes no masks of several roots; a record on top of each one has them.
Tensor root_of(const char* operation, const AnyTensor& x,
               const std::optional<AnyTensor>& gradient) {
  const Tensor& data = data_of(x);
  std::optional<Tensor> mask = mask_of(x);
  if (gradient && data_of(*gradient).shape() == data.shape()) {
    mask = autograd::both(mask, mask_of(*gradient));
  }
  if (!mask || !data.requires_grad()) return data;
  const RecordingScope on(true);
  Tensor root = data.detach();
  autograd::record(operation, root, {data}, {SavedTensor(*mask)},
                   [](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                     return {{g.value, autograd::both(g.mask, saved[0])}};
                   });
  return root;
}

struct Roots {
  std::vector<Tensor> tensors;
  std::vector<std::optional<Tensor>> gradients;
};

/// Whether numbers, shapes and dtypes fit is left to those who use them.
Roots roots_of(const char* operation, std::span<const AnyTensor> given,
               std::span<const std::optional<AnyTensor>> gradients) {
  Roots result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    result.tensors.push_back(
        root_of(operation, given[i], i < gradients.size() ? gradients[i] : std::nullopt));
  }
  for (const std::optional<AnyTensor>& gradient : gradients) {
    result.gradients.push_back(gradient ? std::optional(data_of(*gradient)) : std::nullopt);
  }
  return result;
}

}  // namespace

const Tensor& data_of(const AnyTensor& x) {
  const MaskedTensor* const masked = std::get_if<MaskedTensor>(&x);
  return masked != nullptr ? masked->get_data() : std::get<Tensor>(x);
}

void backward(const MaskedTensor& x, const autograd::BackwardOptions& options) {
  autograd::BackwardOptions combined = options;
  const bool fits = !options.mask ||
                    (options.mask->dtype() == DType::boolean && options.mask->shape() == x.shape());
  if (fits) combined.mask = autograd::both(x.get_mask(), options.mask);
  autograd::backward(x.get_data(), combined);
}

void backward(std::span<const AnyTensor> roots, std::span<const std::optional<AnyTensor>> gradients,
              const autograd::BackwardOptions& options) {
  const Roots found = roots_of("backward", roots, gradients);
  autograd::backward(found.tensors, found.gradients, options);
}

std::vector<std::optional<AnyTensor>> grad(const std::vector<AnyTensor>& outputs,
                                           const std::vector<AnyTensor>& inputs,
                                           const GradOptions& options) {
  Roots roots = roots_of("grad", outputs, options.gradients);
  std::vector<Tensor> wanted;
  for (const AnyTensor& input : inputs) wanted.push_back(data_of(input));
  auto found = autograd::grad(roots.tensors, wanted,
                              {.gradients = std::move(roots.gradients),
                               .retain_graph = options.retain_graph,
                               .create_graph = options.create_graph,
                               .allow_unused = options.allow_unused});
  const RecordingScope scope(options.create_graph);
  std::vector<std::optional<AnyTensor>> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<Tensor> mask = mask_of(inputs[i]);
    if (!found[i] || !mask) {
      result.emplace_back(std::move(found[i]));
      continue;
    }
    Tensor value = *std::exchange(found[i], std::nullopt);
    // Another input, listed twice or as get_data(), may have the same gradient.
    value = autograd::is_sole(value) ? autograd::materialize(Gradient{std::move(value), mask})
                                     : zeroed(value, *mask);
    result.emplace_back(as_masked_tensor(value, ops::clone(*mask)));
  }
  return result;
}

void set_grad(const MaskedTensor& x, const std::optional<AnyTensor>& gradient) {
  if (!gradient) return autograd::set_grad(x.get_data(), {});
  Tensor value = data_of(*gradient);
  if (const std::optional<Tensor> mask = mask_of(*gradient)) value = with_zeros(value, *mask);
  if (value.shape() == x.shape()) value = with_zeros(value, x.get_mask());
  autograd::set_grad(x.get_data(), value);
}

autograd::HookHandle register_hook(const MaskedTensor& x, MaskedHook hook) {
  const auto called = [hook = std::move(hook), mask = ops::clone(x.get_mask())](
                          const Tensor& gradient) -> std::optional<Tensor> {
    // The gradient flows on as it is, and others may hold it: zeros are not written into it.
    const std::optional<AnyTensor> result =
        hook(as_masked_tensor(with_zeros(gradient, mask), ops::clone(mask)));
    if (!result) return std::nullopt;
    const MaskedTensor* const masked = std::get_if<MaskedTensor>(&*result);
    return masked != nullptr ? masked->to_tensor(0) : data_of(*result);
  };
  return autograd::register_hook(x.get_data(), called);
}

std::optional<MaskedTensor> MaskedTensor::grad() const {
  std::optional<Tensor> collected = autograd::grad(data_);
  if (!collected) return std::nullopt;
  if (reaches_hidden(*collected, mask_)) {
    const bool is_ours = owns_grad_ && !collected->requires_grad();
    if (is_ours && collected->is_contiguous() && collected->storage().is_writable()) {
      ops::masked_fill_(*collected, ops::logical_not(mask_), 0);
    } else {
      collected = zeroed(*collected, mask_);
      if (is_ours) autograd::set_grad(data_, collected);
    }
  }
  return as_masked_tensor(*collected, ops::clone(mask_));
}

void MaskedTensor::retain_grad() {
  const bool is_retained = autograd::retains_grad(data_);
  autograd::retain_grad(data_);
  owns_grad_ |= !is_retained && autograd::retains_grad(data_);
}

}  // namespace loup::masked
