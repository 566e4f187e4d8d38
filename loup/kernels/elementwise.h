#pragma once

#include <cstdint>
#include <span>

#include "loup/base/array.h"
#include "loup/base/dims.h"
#include "loup/base/dtype.h"
#include "loup/export.h"

namespace loup::kernels {

enum class UnaryOp : std::uint8_t {
  // arithmetic: unary_arithmetic.cpp
  abs,
  neg,
  sign,
  square,
  reciprocal,
  sqrt,
  rsqrt,
  ceil,
  floor,
  trunc,
  round,  // parameter: decimals
  frac,
  relu,
  deg2rad,
  rad2deg,
  nan_to_num,  // parameters: what NaN, inf and -inf become
  angle,
  bitwise_not,
  positive,
  // tests, which give bool: unary_arithmetic.cpp
  logical_not,
  isnan,
  isinf,
  isfinite,
  signbit,
  // unary_exponential.cpp
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sigmoid,
  logit,     // parameter: eps; x is first clamped to [eps, 1 - eps] unless it is negative
  softplus,  // parameters: beta, threshold
  silu,
  tanh,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  // unary_trigonometric.cpp
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinc,
  // unary_special.cpp
  erf,
  erfc,
  erfinv,
  gelu,
  gelu_tanh,
  lgamma,
  digamma,
  polygamma,  // parameter: which derivative of digamma
  i0,
  i1,
};

enum class BinaryOp : std::uint8_t {
  // binary_arithmetic.cpp
  add,
  sub,
  mul,
  div,           // floats only
  floor_divide,  // towards minus infinity
  trunc_divide,  // towards 0
  maximum,       // NaN wins
  minimum,
  fmax,  // NaN loses
  fmin,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  left_shift,
  right_shift,
  // comparisons, which give bool: compare.cpp
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
  isclose,  // parameters: rtol, atol, whether NaN equals NaN; in float64 for all but float32
  // power.cpp
  pow,
  // binary_special.cpp
  fmod,       // the sign of the dividend
  remainder,  // the sign of the divisor
  atan2,
  logaddexp,
  logaddexp2,
  nextafter,
};

enum class TernaryOp : std::uint8_t {
  clamp,  // x, low, high; NaN stays
  lerp,   // a, b, weight
};

/// What a kernel computes for `count` contiguous elements. `out` may be one of the inputs; other
/// overlaps do not occur. Nothing beyond `count` elements is written or read.
using ElementwiseRun = void (*)(const void* const* inputs, void* out, std::int64_t count,
                                const double* parameters);

struct ElementwiseKernel {
  ElementwiseRun run;
  DType inputs[4];        // what the kernel reads: one of the compute types, bool where it says so
  DType output;           // what it writes: a compute type, or bool
  std::int64_t cost = 1;  // in units of what loading and storing an element takes
};

/// The kernel of an operator for one compute type, for the best instruction set here; null when the
/// operator is not defined for it.
LOUP_EXPORT const ElementwiseKernel* find_unary(UnaryOp op, ComputeType type);
LOUP_EXPORT const ElementwiseKernel* find_binary(BinaryOp op, ComputeType type);
LOUP_EXPORT const ElementwiseKernel* find_ternary(TernaryOp op, ComputeType type);
/// Logical and bitwise operators, == and != of bool bytes as they are; null for others.
LOUP_EXPORT const ElementwiseKernel* find_boolean(BinaryOp op);
/// Operators that read half types as they are; null for those that compute in float32.
LOUP_EXPORT const ElementwiseKernel* find_half(BinaryOp op, DType dtype);
/// (a, b, bool, bool) -> log(exp(a) + exp(b)) of what is there; -inf of nothing. The bools say
/// whether a is there, and whether b is.
LOUP_EXPORT const ElementwiseKernel& present_logaddexp(ComputeType type);
/// (bool, a, b) -> a where true, b elsewhere, for elements of any dtype as they are.
LOUP_EXPORT const ElementwiseKernel& where_kernel(DType dtype);

/// Runs a kernel over arrays of any dtype and strides; elements are converted to what the kernel
/// reads and from what it writes, piece by piece in the first-level cache. Uses threads. `out` may
/// be one of the inputs, with the same strides; otherwise they do not overlap.
LOUP_EXPORT void elementwise(const ElementwiseKernel& kernel, const Shape& shape, const Array& out,
                             std::span<const Array> inputs, const double* parameters = nullptr);

// What each kernel file exports: the kernels of its operators, null for others.
const ElementwiseKernel* unary_arithmetic(UnaryOp op, ComputeType type);
const ElementwiseKernel* unary_exponential(UnaryOp op, ComputeType type);
const ElementwiseKernel* unary_trigonometric(UnaryOp op, ComputeType type);
const ElementwiseKernel* unary_special(UnaryOp op, ComputeType type);
const ElementwiseKernel* binary_arithmetic(BinaryOp op, ComputeType type);
const ElementwiseKernel* compare(BinaryOp op, ComputeType type);
const ElementwiseKernel* power(BinaryOp op, ComputeType type);
const ElementwiseKernel* binary_special(BinaryOp op, ComputeType type);

}  // namespace loup::kernels
