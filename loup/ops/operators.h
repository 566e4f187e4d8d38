#pragma once

#include "loup/ops/binary.h"
#include "loup/ops/unary.h"

// C++ operators of tensors and numbers. Comparisons give a tensor of bool.

namespace loup {

inline Tensor operator+(const Tensor& x, const ops::Operand& y) { return ops::add(x, y); }
inline Tensor operator-(const Tensor& x, const ops::Operand& y) { return ops::sub(x, y); }
inline Tensor operator*(const Tensor& x, const ops::Operand& y) { return ops::mul(x, y); }
inline Tensor operator/(const Tensor& x, const ops::Operand& y) { return ops::div(x, y); }
inline Tensor operator%(const Tensor& x, const ops::Operand& y) { return ops::remainder(x, y); }
inline Tensor operator+(Scalar x, const Tensor& y) { return ops::add(x, y); }
inline Tensor operator-(Scalar x, const Tensor& y) { return ops::sub(x, y); }
inline Tensor operator*(Scalar x, const Tensor& y) { return ops::mul(x, y); }
inline Tensor operator/(Scalar x, const Tensor& y) { return ops::div(x, y); }
inline Tensor operator%(Scalar x, const Tensor& y) { return ops::remainder(x, y); }

inline Tensor operator-(const Tensor& x) { return ops::neg(x); }
inline Tensor operator~(const Tensor& x) { return ops::bitwise_not(x); }
inline Tensor operator!(const Tensor& x) { return ops::logical_not(x); }
inline Tensor operator&(const Tensor& x, const ops::Operand& y) { return ops::bitwise_and(x, y); }
inline Tensor operator|(const Tensor& x, const ops::Operand& y) { return ops::bitwise_or(x, y); }
inline Tensor operator^(const Tensor& x, const ops::Operand& y) { return ops::bitwise_xor(x, y); }

inline Tensor operator<(const Tensor& x, const ops::Operand& y) { return ops::lt(x, y); }
inline Tensor operator<=(const Tensor& x, const ops::Operand& y) { return ops::le(x, y); }
inline Tensor operator>(const Tensor& x, const ops::Operand& y) { return ops::gt(x, y); }
inline Tensor operator>=(const Tensor& x, const ops::Operand& y) { return ops::ge(x, y); }
inline Tensor operator==(const Tensor& x, const ops::Operand& y) { return ops::eq(x, y); }
inline Tensor operator!=(const Tensor& x, const ops::Operand& y) { return ops::ne(x, y); }

inline Tensor& operator+=(Tensor& x, const ops::Operand& y) { return ops::add.in_place(x, y), x; }
inline Tensor& operator-=(Tensor& x, const ops::Operand& y) { return ops::sub.in_place(x, y), x; }
inline Tensor& operator*=(Tensor& x, const ops::Operand& y) { return ops::mul.in_place(x, y), x; }
inline Tensor& operator/=(Tensor& x, const ops::Operand& y) { return ops::div.in_place(x, y), x; }

}  // namespace loup
