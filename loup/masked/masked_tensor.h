#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "loup/tensor/tensor.h"

namespace loup::masked {

/// Data and a mask of the same shape that tells which elements count (true = counts).
///
/// Copying a MaskedTensor copies handles, not elements.
class LOUP_EXPORT MaskedTensor {
 public:
  /// Copies `data` and `mask`. With `requires_grad` the data become a leaf that collects gradients.
  /// DTypeError unless the mask is bool, ShapeError unless both have one shape.
  MaskedTensor(const Tensor& data, const Tensor& mask, bool requires_grad = false);

  const Tensor& get_data() const { return data_; }
  const Tensor& get_mask() const { return mask_; }
  /// The data with `fill` where the mask is false.
  Tensor to_tensor(Scalar fill) const;

  const Shape& shape() const { return data_.shape(); }
  DType dtype() const { return data_.dtype(); }
  int ndim() const { return data_.ndim(); }
  std::int64_t size() const { return data_.size(); }
  bool requires_grad() const { return data_.requires_grad(); }
  /// The gradient collected by a leaf, with the leaf's mask and zeros where that is false.
  std::optional<MaskedTensor> grad() const;

 private:
  struct Shared {};
  MaskedTensor(Shared, const Tensor& data, const Tensor& mask);
  friend LOUP_EXPORT MaskedTensor as_masked_tensor(const Tensor& data, const Tensor& mask);

  Tensor data_;
  Tensor mask_;
};

/// Copies, as the constructor.
LOUP_EXPORT MaskedTensor masked_tensor(const Tensor& data, const Tensor& mask,
                                       bool requires_grad = false);
/// Shares the elements of both and keeps the gradient record of `data`.
LOUP_EXPORT MaskedTensor as_masked_tensor(const Tensor& data, const Tensor& mask);

/// `MaskedTensor(` elements `)`, `--` where the mask is false.
LOUP_EXPORT std::string to_string(const MaskedTensor& x);
LOUP_EXPORT std::ostream& operator<<(std::ostream& stream, const MaskedTensor& x);

}  // namespace loup::masked

namespace loup {
using masked::as_masked_tensor;
using masked::masked_tensor;
using masked::MaskedTensor;
}  // namespace loup
