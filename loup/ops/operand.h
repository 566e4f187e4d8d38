#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/scalar.h"
#include "loup/kernels/elementwise.h"
#include "loup/tensor/tensor_ref.h"

// What elementwise operators take, tensors and numbers, and how a kernel is run on them.

namespace loup::ops {

/// An argument of an elementwise operator: a tensor, or a number, which takes the dtype of the
/// tensors beside it unless it is of a higher kind (a float beside integers). Refers to the tensor
/// it is made of unless that is moved into it, so it is for arguments.
class LOUP_EXPORT Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(tensor), number_(false) {}
  Operand(Tensor&& tensor) : tensor_(std::move(tensor)), number_(false) {}
  Operand(Scalar number) : number_(number) {}
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  Operand(T number) : Operand(Scalar(number)) {}

  bool is_number() const { return !tensor_; }
  const Tensor& tensor() const { return *tensor_; }
  Scalar number() const { return number_; }
  /// The dtype of the tensor, or bool, int64 or float32 for a number.
  DType dtype() const { return is_number() ? number_.natural_dtype() : tensor().dtype(); }
  /// The shape of the tensor; a number has none.
  Shape shape() const { return is_number() ? Shape{} : tensor().shape(); }
  /// The tensor as it is, or the number as a 0-d tensor of `dtype`.
  Tensor as_tensor(DType dtype) const;
  bool is_recorded() const { return !is_number() && autograd::is_recorded(tensor()); }

 private:
  TensorRef tensor_;
  Scalar number_;
};

/// The dtype of a result of these operands. Tensors with dims decide; 0-d tensors and, after them,
/// numbers only matter where they are of a higher kind (bool, integer, floating).
LOUP_EXPORT DType result_type(std::span<const Operand* const> operands);

/// A number in the form that a kernel reads.
class NumberBytes {
 public:
  /// Valid while this lives.
  Array array(Scalar number, DType dtype, int ndim);

 private:
  alignas(8) std::byte bytes_[8];
};

/// Whether `dtype` has this number, floats aside.
bool fits(Scalar number, DType dtype);
/// DTypeError unless `x` can hold a result of `dtype` without losing its kind (bool, integer,
/// floating).
LOUP_EXPORT void check_holds(const char* operation, const Tensor& x, DType dtype);
/// ValueError when `x` is an integer beyond the range of `dtype`.
LOUP_EXPORT void check_fits(const char* operation, const Operand& x, DType dtype);

/// Runs a kernel on operands, broadcast to their common shape, into a new tensor of `dtype` that
/// lies in memory as they do.
LOUP_EXPORT Tensor run_elementwise(const char* operation, const kernels::ElementwiseKernel& kernel,
                                   DType dtype, std::span<const Operand* const> operands,
                                   const double* parameters = nullptr);

}  // namespace loup::ops
