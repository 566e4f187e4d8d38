#include "loup/ops/operand.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "loup/base/error.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

namespace loup::ops {

using kernels::ElementwiseKernel;

namespace {

/// bool, integer, floating: dtypes of a higher kind decide.
int kind_of(DType dtype) { return is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 0; }

/// The order of dims in memory, outermost first, of the first operand that has every dim; nothing
/// when one of the operands is row-major anyway.
std::optional<Dims> memory_order(const Shape& shape, std::span<const Operand* const> operands) {
  const Tensor* model = nullptr;
  for (const Operand* const operand : operands) {
    if (operand->is_number() || operand->tensor().shape() != shape) continue;
    if (operand->tensor().is_contiguous()) return std::nullopt;
    if (model == nullptr) model = &operand->tensor();
  }
  if (model == nullptr) return std::nullopt;
  Dims order;
  for (int i = 0; i < shape.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(model->strides()[static_cast<int>(a)]) >
           std::abs(model->strides()[static_cast<int>(b)]);
  });
  return order;
}

/// An uninitialised tensor whose dims lie in memory in the given order.
Tensor empty_in_order(const Shape& shape, DType dtype, const std::optional<Dims>& order) {
  if (!order) return empty(shape, dtype);
  Shape inner;
  Dims back = *order;
  for (int i = 0; i < order->size(); ++i) {
    inner.push_back(shape[static_cast<int>((*order)[i])]);
    back[static_cast<int>((*order)[i])] = i;
  }
  const Tensor memory = empty(inner, dtype);
  return memory.with_layout(loup::permute(memory.layout(), back));
}

}  // namespace

bool fits(Scalar number, DType dtype) {
  if (is_floating(dtype) || is_floating(number.natural_dtype())) return true;
  const auto value = number.to<std::int64_t>();
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    return convert<std::int64_t>(convert<T>(value)) == value;
  });
}

Array NumberBytes::array(Scalar number, DType dtype, int ndim) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const T value = number.to<T>();
    std::memcpy(bytes_, &value, sizeof(T));
  });
  return {bytes_, dtype, Dims::filled(ndim, 0)};
}

void check_holds(const char* operation, const Tensor& x, DType dtype) {
  if (kind_of(dtype) > kind_of(x.dtype())) {
    throw DTypeError("{}: expected a tensor that can hold {}, got {}", operation, dtype, x.dtype());
  }
}

void check_fits(const char* operation, const Operand& x, DType dtype) {
  if (x.is_number() && !fits(x.number(), dtype)) {
    throw ValueError("{}: expected a number that fits {}, got {}", operation, dtype,
                     x.number().to<std::int64_t>());
  }
}

Tensor Operand::as_tensor(DType dtype) const {
  return is_number() ? full({}, number_, dtype) : tensor();
}

DType result_type(std::span<const Operand* const> operands) {
  // Of each class of operands the dtype that holds them all.
  std::optional<DType> with_dims;
  std::optional<DType> without_dims;
  std::optional<DType> numbers;
  for (const Operand* const x : operands) {
    auto& held = x->is_number() ? numbers : x->tensor().ndim() == 0 ? without_dims : with_dims;
    held = held ? promote(*held, x->dtype()) : x->dtype();
  }
  std::optional<DType> result;
  for (const auto& held : {with_dims, without_dims, numbers}) {
    if (!held) continue;
    if (!result) {
      result = held;
    } else if (kind_of(*held) > kind_of(*result)) {
      result = promote(*result, *held);
    }
  }
  return result.value_or(DType::f32);
}

Tensor run_elementwise(const char* operation, const ElementwiseKernel& kernel, DType dtype,
                       std::span<const Operand* const> operands, const double* parameters) {
  Shape shape = operands[0]->shape();
  for (const Operand* const operand : operands.subspan(1)) {
    if (!operand->is_number()) shape = common_shape(operation, shape, operand->tensor().shape());
  }
  Tensor out = empty_in_order(shape, dtype, memory_order(shape, operands));
  std::array<Array, 3> arrays;
  std::array<NumberBytes, 3> numbers;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = *operands[i];
    if (operand.is_number()) {
      arrays[i] = numbers[i].array(operand.number(), kernel.inputs[i], shape.size());
    } else if (operand.tensor().shape() == shape) {
      arrays[i] = operand.tensor().array();
    } else {
      const Tensor& x = operand.tensor();
      arrays[i] = x.with_layout(broadcast(operation, "operands", x.layout(), shape)).array();
    }
  }
  kernels::elementwise(kernel, shape, out.array(), std::span(arrays).first(operands.size()),
                       parameters);
  return out;
}

}  // namespace loup::ops
