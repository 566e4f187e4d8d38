#pragma once

#include <memory>
#include <utility>

#include "loup/tensor/tensor.h"

namespace loup {

/// An argument: a tensor that somebody else holds, one of its own, or none. Copying a handle costs
/// as much as reducing a short row, and so does making room for one by std::optional, which clears
/// it.
class TensorRef {
 public:
  TensorRef() : tensor_(nullptr) {}
  TensorRef(const Tensor& tensor) : tensor_(&tensor) {}
  TensorRef(Tensor&& tensor) : tensor_(std::construct_at(&own_.tensor, std::move(tensor))) {}
  TensorRef(const TensorRef& other)
      : tensor_(other.is_own() ? std::construct_at(&own_.tensor, other.own_.tensor)
                               : other.tensor_) {}
  TensorRef(TensorRef&& other) noexcept
      : tensor_(other.is_own() ? std::construct_at(&own_.tensor, std::move(other.own_.tensor))
                               : other.tensor_) {}
  TensorRef& operator=(TensorRef other) noexcept {
    if (other.tensor_ == &own_.tensor) return *this;  // what would go is what it refers to
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
    return *this;
  }
  ~TensorRef() {
    if (is_own()) std::destroy_at(&own_.tensor);
  }

  explicit operator bool() const { return tensor_ != nullptr; }
  /// Null when there is none.
  const Tensor* get() const { return tensor_; }
  const Tensor& operator*() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }

 private:
  bool is_own() const { return tensor_ == &own_.tensor; }

  /// Room for a tensor, which nobody makes or clears.
  union Room {
    Room() {}
    ~Room() {}
    Tensor tensor;
  };

  Room own_;
  const Tensor* tensor_;
};

}  // namespace loup
