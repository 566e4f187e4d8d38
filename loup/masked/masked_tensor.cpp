#include "loup/masked/masked_tensor.h"

#include <ostream>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/ops/operand.h"
#include "loup/ops/select.h"
#include "loup/tensor/create.h"
#include "loup/tensor/print.h"

namespace loup::masked {

namespace {

Tensor leaf_copy(const Tensor& data, bool requires_grad) {
  Tensor copy = ops::clone(data.detach());
  autograd::set_requires_grad(copy, requires_grad);
  return copy;
}

}  // namespace

MaskedTensor::MaskedTensor(const Tensor& data, const Tensor& mask, bool requires_grad)
    : MaskedTensor(Shared{}, leaf_copy(data, requires_grad), ops::clone(mask)) {
  owns_grad_ = requires_grad;
}

MaskedTensor::MaskedTensor(Shared /*tag*/, const Tensor& data, const Tensor& mask)
    : data_(data), mask_(mask) {
  if (mask.dtype() != DType::boolean) {
    throw DTypeError("MaskedTensor: expected a mask of bool, got {}", mask.dtype());
  }
  if (mask.ndim() != data.ndim()) {
    throw ShapeError("MaskedTensor: expected a mask of {} dims, got shape {}", data.ndim(),
                     mask.shape());
  }
  if (mask.shape() != data.shape()) {
    throw ShapeError("MaskedTensor: expected a mask of shape {}, got {}", data.shape(),
                     mask.shape());
  }
}

Tensor MaskedTensor::to_tensor(Scalar fill) const { return ops::filled(data_, mask_, fill); }

void MaskedTensor::check_item() const {
  if (size() != 1) {
    throw ValueError("item: expected one element, got shape {}", shape());
  }
  if (!mask_.item<bool>()) {
    throw ValueError(
        "item: expected an element that counts, got a masked one; use to_tensor(fill)");
  }
}

bool MaskedTensor::is_leaf() const { return !data_.requires_grad() || data_.node()->is_leaf(); }

MaskedTensor MaskedTensor::detach() const { return {Shared{}, data_.detach(), mask_}; }

MaskedTensor MaskedTensor::clone() const {
  return {Shared{}, ops::clone(data_), ops::clone(mask_)};
}

MaskedTensor MaskedTensor::contiguous() const { return is_contiguous() ? *this : clone(); }

MaskedTensor MaskedTensor::to(DType dtype) const {
  if (dtype == data_.dtype()) return *this;
  return {Shared{}, ops::to(data_, dtype), ops::clone(mask_)};
}

void MaskedTensor::write_out_mask() {
  const bool repeats = mask_.storage().bytes() < static_cast<std::size_t>(mask_.size());
  if (repeats && mask_.storage().use_count() == 1) mask_ = ops::clone(mask_);
}

void MaskedTensor::index_put_(std::span<const ops::Index> items, const Tensor& values,
                              const std::optional<Tensor>& mask) {
  write_out_mask();
  ops::check_in_place("setitem", mask_);
  ops::index_put_(data_, items, values);
  ops::index_put_(mask_, items, mask.value_or(ones({}, DType::boolean)));
}

void MaskedTensor::replace_(const char* operation, const Tensor& result) {
  if (result.shape() != shape()) {
    throw ShapeError("{}: expected a result of shape {}, got {}", operation, shape(),
                     result.shape());
  }
  ops::check_holds(operation, data_, result.dtype());
  // The record keeps the mask of now, which setitem may change.
  const bool is_kept = autograd::is_recorded(data_) || autograd::is_recorded(result);
  const Tensor mask = is_kept ? ops::clone(mask_) : mask_;
  ops::replace_(operation, data_, ops::where(mask, ops::to(result, dtype()), data_));
}

void MaskedTensor::assign_(const char* operation, const Tensor& data, const Tensor& mask) {
  if (data.shape() != shape()) {
    throw ShapeError("{}: expected elements of shape {}, got {}", operation, shape(), data.shape());
  }
  // Other views of the same memory are read whole before it is written.
  const auto shares = [](const Tensor& from, const Tensor& to) {
    return from.storage() == to.storage();
  };
  Tensor values = ops::to(data, dtype());
  if (shares(values, data_)) values = ops::clone(values);
  const Tensor counts = shares(mask, mask_) || shares(mask, data_) ? ops::clone(mask) : mask;
  write_out_mask();
  // Both or neither: data are not written before the mask may be.
  ops::check_in_place(operation, mask_);
  ops::replace_(operation, data_, values);
  ops::replace_(operation, mask_, counts);
}

void MaskedTensor::set_requires_grad(bool requires_grad) {
  const bool was_recorded = data_.requires_grad();
  autograd::set_requires_grad(data_, requires_grad);
  if (requires_grad != was_recorded) owns_grad_ = requires_grad;
}

MaskedTensor masked_tensor(const Tensor& data, const Tensor& mask, bool requires_grad) {
  return {data, mask, requires_grad};
}

MaskedTensor as_masked_tensor(const Tensor& data, const Tensor& mask) {
  return {MaskedTensor::Shared{}, data, mask};
}

std::string to_string(const MaskedTensor& x) {
  return format_tensor("MaskedTensor", x.get_data(), &x.get_mask(),
                       x.requires_grad() ? ", requires_grad=True" : "");
}

std::ostream& operator<<(std::ostream& stream, const MaskedTensor& x) {
  return stream << to_string(x);
}

}  // namespace loup::masked
