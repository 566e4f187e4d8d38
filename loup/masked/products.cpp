#include "loup/masked/products.h"

#include <limits>
#include <vector>

#include "loup/base/error.h"
#include "loup/masked/ops.h"
#include "loup/masked/poison.h"
#include "loup/ops/copy.h"
#include "loup/ops/einsum.h"
#include "loup/ops/matmul.h"
#include "loup/ops/select.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

const MaskedOperand& checked(const char* operation, const MaskedOperand& x) {
  if (x.values().is_number()) {
    throw ValueError("{}: expected tensors, got a number", operation);
  }
  return x;
}

/// A factor as it enters a product: what does not count is 0.
struct Factor {
  Tensor values;
  Tensor counts;  // bool

  Factor(const char* operation, const MaskedOperand& x)
      : values(Seen(operation, checked(operation, x))), counts(ones({}, DType::boolean)) {
    if (x.mask() != nullptr) {
      counts = *x.mask();
      values = ops::filled(values, counts, 0);
    } else {
      counts = counts.with_layout({values.shape(), Dims::filled(values.ndim(), 0)});
    }
  }
  bool is_finite() const {
    return !is_floating(values.dtype()) || masked::all(ops::isfinite(values.detach())).item<bool>();
  }
};

/// A number for each element where `condition` is true: 1, otherwise 0.
Tensor indicator(const Tensor& condition) { return ops::to(condition, DType::f32); }

/// How a factor's elements act in products: each is of one kind.
struct Kinds {
  Tensor any, zero, positive, negative, positive_inf, negative_inf, nan;

  explicit Kinds(const Factor& factor) {
    const Tensor x = factor.values.detach();
    const Tensor is_infinite = ops::isinf(x);
    any = indicator(factor.counts);
    zero = indicator(ops::logical_and(factor.counts, ops::eq(x, 0)));
    positive = indicator(ops::gt(x, 0));
    negative = indicator(ops::lt(x, 0));
    positive_inf = indicator(ops::logical_and(is_infinite, ops::gt(x, 0)));
    negative_inf = indicator(ops::logical_and(is_infinite, ops::lt(x, 0)));
    nan = indicator(ops::isnan(x));
  }
};

/// A product of two factors that has infinities or NaN: 0 times those is NaN, and zeros of masked
/// elements must not do that. Finite parts are multiplied; how many products are inf, -inf and NaN
/// is counted by products of indicators.
template <class Product>
Tensor exact(const Product& product, const Factor& a, const Factor& b) {
  const auto finite = [](const Tensor& x) { return ops::where(ops::isfinite(x.detach()), x, 0); };
  const Tensor result = product(finite(a.values), finite(b.values));
  const Kinds p(a);
  const Kinds q(b);
  const auto has = [&](std::initializer_list<std::pair<const Tensor*, const Tensor*>> pairs) {
    std::optional<Tensor> total;
    for (const auto& [x, y] : pairs) {
      const Tensor found = product(*x, *y);
      total = total ? ops::add(*total, found) : found;
    }
    return ops::gt(*total, 0);
  };
  const Tensor inf_a = ops::add(p.positive_inf, p.negative_inf);
  const Tensor inf_b = ops::add(q.positive_inf, q.negative_inf);
  const Tensor is_nan =
      has({{&p.nan, &q.any}, {&p.any, &q.nan}, {&inf_a, &q.zero}, {&p.zero, &inf_b}});
  const Tensor rises = has({{&p.positive_inf, &q.positive},
                            {&p.negative_inf, &q.negative},
                            {&p.positive, &q.positive_inf},
                            {&p.negative, &q.negative_inf}});
  const Tensor falls = has({{&p.positive_inf, &q.negative},
                            {&p.negative_inf, &q.positive},
                            {&p.positive, &q.negative_inf},
                            {&p.negative, &q.positive_inf}});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor with_rises = ops::where(rises, infinity, result);
  const Tensor with_both = ops::where(falls, ops::where(rises, nan, -infinity), with_rises);
  return ops::where(is_nan, nan, with_both);
}

template <class Product>
MaskedTensor multiplied(const char* operation, const MaskedOperand& x, const MaskedOperand& y,
                        const Product& product) {
  const Factor a(operation, x);
  const Factor b(operation, y);
  const Tensor data =
      a.is_finite() && b.is_finite()
          ? product(a.values, b.values)
          : ops::to(exact(product, a, b), product(a.values.detach(), b.values.detach()).dtype());
  const Tensor pairs = product(indicator(a.counts), indicator(b.counts));
  return as_masked_tensor(data, ops::gt(pairs, 0));
}

}  // namespace

MaskedTensor matmul(const MaskedOperand& a, const MaskedOperand& b) {
  return multiplied("matmul", a, b, ops::matmul);
}
MaskedTensor mm(const MaskedOperand& a, const MaskedOperand& b) {
  return multiplied("mm", a, b, ops::mm);
}
MaskedTensor bmm(const MaskedOperand& a, const MaskedOperand& b) {
  return multiplied("bmm", a, b, ops::bmm);
}
MaskedTensor mv(const MaskedOperand& a, const MaskedOperand& x) {
  return multiplied("mv", a, x, ops::mv);
}
MaskedTensor dot(const MaskedOperand& x, const MaskedOperand& y) {
  return multiplied("dot", x, y, ops::dot);
}
MaskedTensor outer(const MaskedOperand& x, const MaskedOperand& y) {
  return multiplied("outer", x, y, ops::outer);
}

MaskedTensor linear(const MaskedOperand& x, const MaskedOperand& weight,
                    const std::optional<MaskedOperand>& bias) {
  const MaskedTensor product = multiplied(
      "linear", x, weight, [](const Tensor& a, const Tensor& b) { return ops::linear(a, b); });
  return bias ? apply_binary(ops::add, product, *bias) : product;
}

MaskedTensor einsum(std::string_view equation, std::span<const MaskedOperand> operands) {
  if (operands.size() == 2) {
    return multiplied("einsum", operands[0], operands[1], [&](const Tensor& a, const Tensor& b) {
      const Tensor pair[] = {a, b};
      return ops::einsum(equation, pair);
    });
  }
  std::vector<Tensor> values;
  std::vector<Tensor> counts;
  for (const MaskedOperand& x : operands) {
    const Factor factor("einsum", x);
    values.push_back(factor.values);
    counts.push_back(indicator(factor.counts));
  }
  return as_masked_tensor(ops::einsum(equation, values), ops::gt(ops::einsum(equation, counts), 0));
}

}  // namespace loup::masked
