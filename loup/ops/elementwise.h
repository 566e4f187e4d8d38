#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "loup/autograd/node.h"
#include "loup/kernels/elementwise.h"
#include "loup/ops/operand.h"
#include "loup/tensor/tensor.h"

// Families of elementwise operators: a family fixes the signature, an operator is a constexpr value
// of it that can be called. The operators are listed in ops/unary.h and ops/binary.h.

namespace loup::ops {

/// How the dtype of a result follows from that of the operands.
enum class ResultKind : std::uint8_t {
  numeric,     // the same; bool is refused
  arithmetic,  // the same
  floating,    // floats the same, integers and bool give float32
  integral,    // the same; floats are refused
  boolean,
};

/// What a backward rule may ask about the call it belongs to.
class ElementwiseCall {
 public:
  ElementwiseCall(const autograd::Saved& saved, const double* parameters)
      : saved_(saved), parameters_(parameters) {}
  /// Input i, broadcast as it was in the call.
  const Tensor& input(std::size_t i = 0) const { return saved_[i]; }
  Tensor output() const { return saved_.output(); }
  bool needs(std::size_t i) const { return saved_.needs(i); }
  double parameter(std::size_t i) const { return parameters_[i]; }

 private:
  const autograd::Saved& saved_;
  const double* parameters_;
};

/// What a rule reads, so that nothing else is kept alive.
enum class Saves : std::uint8_t { nothing, inputs, output, both };

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// As a parameter: the largest number of the dtype.
inline constexpr double largest_number = std::numeric_limits<double>::max();

/// A named number that changes what an operator does, with its default.
struct Parameter {
  const char* name = nullptr;
  double value = 0;
  std::array<const char*, 2> choices = {};  // words that stand for 0 and 1
  bool is_integer = false;
  double least = -infinity;
};
inline constexpr std::size_t most_parameters = 3;

/// `exp(x)`, `round(x, 2)`: the same shape, element by element.
struct LOUP_EXPORT Unary {
  static constexpr const char* family = "unary";
  /// From the gradient of the output to that of the input. Masks travel on by themselves.
  using Rule = Tensor (*)(const ElementwiseCall& call, const Tensor& gradient);

  const char* name;
  const char* summary;
  kernels::UnaryOp kernel;
  ResultKind result = ResultKind::floating;
  Rule backward = nullptr;  // null: not differentiable
  Saves saves = Saves::inputs;
  std::array<Parameter, most_parameters> parameters = {};
  std::array<const char*, 2> aliases = {};
  bool is_in_place = true;  // name_() exists

  template <std::convertible_to<double>... Values>
  Tensor operator()(const Tensor& x, Values... values) const {
    const double given[] = {static_cast<double>(values)..., 0};
    return run(x, {given, sizeof...(values)});
  }
  /// Writes the result into x. DTypeError when x cannot hold it.
  template <std::convertible_to<double>... Values>
  void in_place(Tensor& x, Values... values) const {
    const double given[] = {static_cast<double>(values)..., 0};
    run_in_place(x, {given, sizeof...(values)});
  }

  /// The same for what consists of tensors: `apply_unary` beside the type of x says how.
  template <class X, std::convertible_to<double>... Values>
  auto operator()(const X& x, Values... values) const
      -> decltype(apply_unary(*this, x, std::span<const double>())) {
    const double given[] = {static_cast<double>(values)..., 0};
    return apply_unary(*this, x, std::span<const double>(given, sizeof...(values)));
  }
  template <class X, std::convertible_to<double>... Values>
  auto in_place(X& x, Values... values) const
      -> decltype(apply_unary_(*this, x, std::span<const double>())) {
    const double given[] = {static_cast<double>(values)..., 0};
    apply_unary_(*this, x, std::span<const double>(given, sizeof...(values)));
  }

  Tensor run(const Tensor& x, std::span<const double> values) const;
  void run_in_place(Tensor& x, std::span<const double> values) const;
  DType result_dtype(DType x) const;
};

/// `add(x, y)`: two operands, broadcast to their common shape.
struct LOUP_EXPORT Binary {
  static constexpr const char* family = "binary";
  /// From the gradient of the output to those of the inputs; entries that are not needed may be
  /// left empty. Gradients are summed over repeated dims and converted afterwards.
  using Rule = std::array<Tensor, 2> (*)(const ElementwiseCall& call, const Tensor& gradient);

  const char* name;
  const char* summary;
  kernels::BinaryOp kernel;
  ResultKind result = ResultKind::arithmetic;
  Rule backward = nullptr;
  Saves saves = Saves::inputs;
  std::array<const char*, 2> aliases = {};
  bool is_in_place = true;
  const char* symbol = nullptr;  // of the operator in Python, without underscores: "add"

  Tensor operator()(const Operand& x, const Operand& y) const;
  void in_place(Tensor& x, const Operand& y) const;
  /// The same for what consists of tensors: `apply_binary` beside the type of x or y says how.
  template <class X, class Y>
  auto operator()(const X& x, const Y& y) const -> decltype(apply_binary(*this, x, y)) {
    return apply_binary(*this, x, y);
  }
  template <class X, class Y>
  auto in_place(X& x, const Y& y) const -> decltype(apply_binary_(*this, x, y)) {
    apply_binary_(*this, x, y);
  }
  /// The dtype in which operands are brought together, before `result` is applied.
  DType compute_dtype(const Operand& x, const Operand& y) const;
};

/// An operand as the rule of a recorded call sees it: floating, and broadcast to `shape`.
LOUP_EXPORT Tensor as_input(const char* operation, const Operand& x, DType dtype,
                            const Shape& shape);

/// `x` seen with `shape`: missing dims and dims of size 1 repeat. The gradient is summed.
LOUP_EXPORT Tensor repeated(const char* operation, const Tensor& x, const Shape& shape);

}  // namespace loup::ops
