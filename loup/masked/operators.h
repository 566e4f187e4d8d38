#pragma once

#include <concepts>

#include "loup/masked/elementwise.h"

// C++ operators of masked tensors with masked tensors, tensors and numbers on either side.
// Comparisons give a masked tensor of bool.

namespace loup::masked {

inline MaskedTensor operator-(const MaskedTensor& x) { return apply_unary(ops::neg, x, {}); }
inline MaskedTensor operator~(const MaskedTensor& x) {
  return apply_unary(ops::bitwise_not, x, {});
}
inline MaskedTensor operator!(const MaskedTensor& x) {
  return apply_unary(ops::logical_not, x, {});
}

// Templates, so that a comparison is not ambiguous with itself turned around.
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator+(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::add, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator-(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::sub, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator*(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::mul, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator/(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::div, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator%(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::remainder, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator&(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::bitwise_and, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator|(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::bitwise_or, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator^(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::bitwise_xor, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator<(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::lt, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator<=(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::le, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator>(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::gt, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator>=(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::ge, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator==(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::eq, x, y);
}
template <std::convertible_to<MaskedOperand> Y>
MaskedTensor operator!=(const MaskedTensor& x, const Y& y) {
  return apply_binary(ops::ne, x, y);
}

// With the masked tensor on the right.
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator+(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::add, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator-(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::sub, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator*(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::mul, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator/(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::div, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator%(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::remainder, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator&(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::bitwise_and, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator|(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::bitwise_or, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator^(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::bitwise_xor, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator<(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::lt, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator<=(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::le, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator>(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::gt, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator>=(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::ge, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator==(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::eq, x, y);
}
template <std::convertible_to<ops::Operand> X>
MaskedTensor operator!=(const X& x, const MaskedTensor& y) {
  return apply_binary(ops::ne, x, y);
}

inline MaskedTensor& operator+=(MaskedTensor& x, const MaskedOperand& y) {
  return apply_binary_(ops::add, x, y), x;
}
inline MaskedTensor& operator-=(MaskedTensor& x, const MaskedOperand& y) {
  return apply_binary_(ops::sub, x, y), x;
}
inline MaskedTensor& operator*=(MaskedTensor& x, const MaskedOperand& y) {
  return apply_binary_(ops::mul, x, y), x;
}
inline MaskedTensor& operator/=(MaskedTensor& x, const MaskedOperand& y) {
  return apply_binary_(ops::div, x, y), x;
}

}  // namespace loup::masked
