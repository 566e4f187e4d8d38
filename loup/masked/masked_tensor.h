#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include "loup/ops/index.h"
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
  /// The only element; ValueError when there is not exactly one, or it is masked.
  template <class T>
  T item() const {
    check_item();
    return data_.item<T>();
  }

  const Shape& shape() const { return data_.shape(); }
  DType dtype() const { return data_.dtype(); }
  int ndim() const { return data_.ndim(); }
  std::int64_t size() const { return data_.size(); }
  bool requires_grad() const { return data_.requires_grad(); }
  bool is_leaf() const;
  bool is_contiguous() const { return data_.is_contiguous() && mask_.is_contiguous(); }

  /// The same elements, cut off from the gradient record.
  MaskedTensor detach() const;
  /// Contiguous copies of data and mask.
  MaskedTensor clone() const;
  /// This one if it is_contiguous(), otherwise contiguous copies.
  MaskedTensor contiguous() const;
  /// The data converted, with a mask of their own; this one if they have the dtype.
  MaskedTensor to(DType dtype) const;

  /// x[items] = values: data and mask alike. Without a mask of theirs the values count. ValueError
  /// when data or mask are read-only or expanded, but for a mask that only this tensor has: then
  /// nothing is written.
  void index_put_(std::span<const ops::Index> items, const Tensor& values,
                  const std::optional<Tensor>& mask = {});
  /// Writes the elements of `result`, which has this shape, where the mask is true. The record of
  /// the data goes on through it; errors as for ops::replace_ and check_holds.
  void replace_(const char* operation, const Tensor& result);

  /// Writes the elements of `data`, converted, and of `mask`, both of this shape. The record goes
  /// on through the data. ValueError as for index_put_.
  void assign_(const char* operation, const Tensor& data, const Tensor& mask);

  /// Makes the data a leaf that collects gradients, or cuts them off the record. DTypeError unless
  /// their dtype is floating.
  void set_requires_grad(bool requires_grad);
  /// The gradient collected by a leaf, or by a tensor that was told to retain_grad(): the stored
  /// elements with a copy of the mask, and zeros where that is false. The zeros are written into
  /// the stored gradient, unless it is recorded or was asked for by a plain tensor: then it is a
  /// copy that has them.
  std::optional<MaskedTensor> grad() const;
  /// As autograd::retain_grad().
  void retain_grad();

 private:
  struct Shared {};
  MaskedTensor(Shared, const Tensor& data, const Tensor& mask);
  friend LOUP_EXPORT MaskedTensor as_masked_tensor(const Tensor& data, const Tensor& mask);

  void check_item() const;
  /// A mask that repeats elements, and that nobody else sees, is written out before it changes.
  void write_out_mask();

  Tensor data_;
  Tensor mask_;
  bool owns_grad_ = false;  // what collects gradients began to do so through this tensor
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
