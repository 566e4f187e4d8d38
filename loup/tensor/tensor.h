#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "loup/base/array.h"
#include "loup/base/dims.h"
#include "loup/base/dtype.h"
#include "loup/base/scalar.h"
#include "loup/export.h"
#include "loup/memory/storage.h"
#include "loup/tensor/layout.h"

namespace loup {

namespace autograd {
class Node;
}

/// An n-dimensional array: a strided view of a shared storage. Copying a Tensor copies the handle,
/// not the elements.
///
/// Different tensors may be used from different threads; writing to elements that another thread
/// reads is the caller's to prevent.
class LOUP_EXPORT Tensor {
 public:
  /// Without elements: shape [0], float32.
  Tensor();
  /// A view of `storage`; ShapeError when an element would lie outside of it.
  Tensor(Storage storage, const Layout& layout, DType dtype);
  /// The same without a check.
  struct Unchecked {};
  Tensor(Unchecked /*tag*/, Storage storage, const Layout& layout, DType dtype)
      : storage_(std::move(storage)), layout_(layout), dtype_(dtype) {}

  const Shape& shape() const { return layout_.shape; }
  const Strides& strides() const { return layout_.strides; }
  const Layout& layout() const { return layout_; }
  DType dtype() const { return dtype_; }
  int ndim() const { return layout_.shape.size(); }
  /// Size of one dim, which may be counted from the back.
  std::int64_t size(std::int64_t dim) const;
  /// Number of elements.
  std::int64_t size() const;
  std::int64_t bytes() const { return size() * item_bytes(dtype_); }
  bool is_contiguous() const { return layout_.is_contiguous(); }
  const Storage& storage() const { return storage_; }
  /// What the elements are mapped from; null when they are in ordinary memory. Views keep it.
  const Mapping* mapping() const { return storage_.mapping(); }

  /// The only element; ValueError when there is not exactly one.
  template <class T>
  T item() const {
    return read<T>(only_element());
  }
  /// One element; IndexError when it is outside of the shape.
  template <class T>
  T at(const Dims& index) const {
    return read<T>(layout_.position("at", index));
  }
  /// Writes one element.
  void set(const Dims& index, Scalar value) const;

  /// The elements of a contiguous tensor. `data<const float>()` reads; `data<float>()` writes, so
  /// it needs writable storage and counts as a change. DTypeError when T is not the dtype.
  template <class T>
  std::span<T> data() const {
    check_span(dtype_of<std::remove_const_t<T>>(), !std::is_const_v<T>);
    return {reinterpret_cast<T*>(raw_data()), static_cast<std::size_t>(size())};
  }

  /// First byte of the first element: for kernels.
  std::byte* raw_data() const { return storage_.data() + layout_.offset * item_bytes(dtype_); }
  Array array() const { return {raw_data(), dtype_, layout_.strides}; }
  /// The same elements seen through another layout. No check: for the views of this library.
  Tensor with_layout(const Layout& layout) const { return {Unchecked{}, storage_, layout, dtype_}; }
  /// Throws a ValueError that names `operation` when the storage is read-only.
  void check_writable(const char* operation) const;
  /// The same; otherwise counts a change.
  void prepare_write(const char* operation) const;

  /// True when operations on this tensor are recorded for gradients.
  bool requires_grad() const { return node_ != nullptr; }
  const std::shared_ptr<autograd::Node>& node() const { return node_; }
  void set_node(std::shared_ptr<autograd::Node> node) {
    node_ = std::move(node);
    node_version_ = storage_.version();
  }
  /// True when the elements were changed after set_node(): the node does not tell how they came
  /// about any more.
  bool is_behind() const { return node_version_ != storage_.version(); }
  /// The same elements, cut off from the record.
  Tensor detach() const;

 private:
  std::int64_t only_element() const;
  void check_span(DType wanted, bool writes) const;
  template <class T>
  T read(std::int64_t position) const {
    return visit_dtype(dtype_, [&]<class Element>(std::type_identity<Element>) {
      return convert<T>(reinterpret_cast<const Element*>(storage_.data())[position]);
    });
  }

  Storage storage_;
  Layout layout_;
  DType dtype_ = DType::f32;
  std::shared_ptr<autograd::Node> node_;
  std::uint64_t node_version_ = 0;  // of the storage, when the node was set
};

}  // namespace loup
