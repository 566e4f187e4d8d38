#include "loup/masked/products.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/masked/ops.h"
#include "loup/masked/poison.h"
#include "loup/ops/contract.h"
#include "loup/ops/copy.h"
#include "loup/ops/einsum.h"
#include "loup/ops/matmul.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

// Zeros stand for what does not count while all factors are finite: then these are the products of
// tensors. Where a factor, or a gradient that comes back, has inf or NaN, 0 times that would be
// NaN; there the pairs that count are multiplied one by one (ops/contract.h).

namespace loup::masked {

using autograd::Gradient;

namespace {

const Tensor& tensor_of(const char* operation, const MaskedOperand& x) {
  if (x.values().is_number()) {
    throw ValueError("{}: expected tensors, got a number", operation);
  }
  return x.values().tensor();
}

/// Whether all elements are finite that count.
bool is_finite(const Tensor& x, const std::optional<Tensor>& mask = {}) {
  if (!is_floating(x.dtype())) return true;
  return masked::all(ops::isfinite(x.detach()), {}, {.mask = mask}).item<bool>();
}

/// A number for each element where `condition` is true: 1, otherwise 0.
Tensor indicator(const Tensor& condition) { return ops::to(condition, DType::f32); }

/// What enters a product: 0 where it does not count.
struct Factor {
  Tensor values;
  Tensor counts;  // bool
};

/// A factor all of which counts.
Factor whole(const Tensor& x) {
  return {x, ones({}, DType::boolean).with_layout({x.shape(), Dims::filled(x.ndim(), 0)})};
}

Factor factor_of(const char* operation, const MaskedOperand& x) {
  const Tensor values = Seen(operation, tensor_of(operation, x), x.mask());
  if (x.mask() == nullptr) return whole(values);
  return {ops::filled(values, *x.mask(), 0), *x.mask()};
}

// --- pairs that count, one by one ---

/// A product of two as an equation: letters and at most one `...` for each.
struct Equation {
  std::string left, right, output;
};

bool has(const std::string& text, char c) { return text.find(c) != std::string::npos; }

/// The letters of both factors by what becomes of them, each of them once.
struct Roles {
  std::string batch, summed;       // of both
  std::string left, left_alone;    // of the left one: kept, summed
  std::string right, right_alone;  // of the right one

  Roles(const std::string& a, const std::string& b, const std::string& kept) {
    std::string known = ".";
    for (const char c : a + b) {
      if (has(known, c)) continue;
      known += c;
      if (has(a, c) && has(b, c)) {
        (has(kept, c) ? batch : summed) += c;
      } else if (has(a, c)) {
        (has(kept, c) ? left : left_alone) += c;
      } else {
        (has(kept, c) ? right : right_alone) += c;
      }
    }
  }
};

/// How long the dims of letters are.
using Lengths = std::map<char, std::int64_t>;

Shape shape_of(const std::string& letters, const Lengths& lengths) {
  Shape shape;
  for (const char c : letters) shape.push_back(lengths.at(c));
  return shape;
}

/// A factor as matrices, one for each element of `...` and `batch`; notes how long its dims are.
Factor as_matrices(const Factor& x, const std::string& text, const std::string& batch,
                   const std::string& rows, const std::string& cols, Lengths& lengths) {
  const std::string order = batch + rows + cols;
  const auto arranged = [&](const Tensor& t) {
    const Tensor moved = ops::einsum(text + "->..." + order, std::span(&t, 1));
    Shape shape = moved.shape();
    for (std::size_t i = order.size(); i-- > 0;) {
      lengths[order[i]] = shape[shape.size() - 1];
      shape.erase(shape.size() - 1);
    }
    for (const std::int64_t size : shape_of(batch, lengths)) shape.push_back(size);
    shape.push_back(element_count(shape_of(rows, lengths)));
    shape.push_back(element_count(shape_of(cols, lengths)));
    return ops::reshape(moved, shape);
  };
  return {arranged(x.values), ops::gt(arranged(indicator(x.counts)), 0)};
}

/// Matrices of which only products are added that count in both.
Tensor multiplied_by_pairs(const char* operation, const Factor& a, const Factor& b) {
  const auto mask_of = [](const Factor& x) {
    return masked::all(x.counts).item<bool>() ? std::nullopt : std::optional(x.counts);
  };
  if (a.values.size(-1) != 1) {
    return ops::contract(operation, a.values, mask_of(a), b.values, mask_of(b));
  }
  // Nothing is added up: one call for all elements is quicker than one for each matrix.
  return ops::filled(ops::mul(a.values, b.values), ops::logical_and(a.counts, b.counts), 0);
}

/// The product of two factors that hold anything. Letters of one of them alone are summed last:
/// their sum times an infinity is not the sum of the products.
Tensor exact(const char* operation, const Equation& equation, Factor a, Factor b) {
  const Roles roles(equation.left, equation.right, equation.output);
  const DType dtype = promote(a.values.dtype(), b.values.dtype());
  a.values = ops::to(a.values, dtype);
  b.values = ops::to(b.values, dtype);
  Lengths lengths;
  a = as_matrices(a, equation.left, roles.batch, roles.left + roles.left_alone, roles.summed,
                  lengths);
  b = as_matrices(b, equation.right, roles.batch, roles.summed, roles.right + roles.right_alone,
                  lengths);
  Tensor c = multiplied_by_pairs(operation, a, b);
  Shape shape = c.shape();
  shape.erase(c.ndim() - 1);
  shape.erase(c.ndim() - 2);
  if (!roles.left_alone.empty() || !roles.right_alone.empty()) {
    const auto count = [&](const std::string& text) {
      return element_count(shape_of(text, lengths));
    };
    c = ops::reshape(c, {element_count(shape), count(roles.left), count(roles.left_alone),
                         count(roles.right), count(roles.right_alone)});
    c = ops::reduce(ops::sum_spec, c, {2, 4});
  }
  for (const std::int64_t size : shape_of(roles.left + roles.right, lengths)) shape.push_back(size);
  c = ops::reshape(c, shape);
  const std::string order = "..." + roles.batch + roles.left + roles.right;
  return ops::contiguous(ops::einsum(order + "->" + equation.output, std::span(&c, 1)));
}

// --- products of finite factors whose gradient may be anything ---

/// The gradient of factor i, 0 or 1. The product is linear in it, so its values do not matter.
Tensor gradient_of(std::size_t i, const char* operation, const Equation& equation,
                   std::array<Factor, 2> factors, const Gradient& g) {
  const bool records = autograd::is_recording();
  const autograd::RecordingScope scope(true);
  Tensor& wanted = factors[i].values;
  wanted = zeros_like(wanted);
  autograd::set_requires_grad(wanted, true);
  Tensor c = exact(operation, equation, factors[0], factors[1]);
  if (g.mask) c = ops::filled(c, *g.mask, 0);
  return *autograd::grad({c}, {wanted}, {.gradients = {g.value}, .create_graph = records})[0];
}

/// The same, and where there was something to add.
Gradient exact_gradient(std::size_t i, const char* operation, const Equation& equation,
                        const std::array<Factor, 2>& factors, const Gradient& g) {
  const auto [a, b] = factors;
  const Tensor live = indicator(g.mask.value_or(whole(g.value).counts));
  const Tensor pairs = gradient_of(
      i, operation, equation, {whole(indicator(a.counts)), whole(indicator(b.counts))}, {live, {}});
  return {gradient_of(i, operation, equation, factors, g),
          autograd::both(ops::gt(pairs.detach(), 0), factors[i].counts)};
}

/// The product of two finite factors with a record that is right for any gradient.
Tensor guarded(const char* operation, const Equation& equation, const Tensor& product,
               const Factor& a, const Factor& b) {
  if (!autograd::is_recorded(product)) return product;
  std::vector<autograd::SavedTensor> saved;
  for (const Tensor& x : {a.values, b.values, a.counts, b.counts}) saved.emplace_back(x);
  const auto rule = [operation, equation](const autograd::Saved& kept, const Gradient& g) {
    std::vector<Gradient> back(3);
    if (is_finite(g.value, g.mask)) {
      back[2] = g;  // on to the record of the product itself
      return back;
    }
    const std::array<Factor, 2> factors = {{{kept[0], kept[2]}, {kept[1], kept[3]}}};
    for (std::size_t i = 0; i < 2; ++i) {
      if (kept.needs(i)) back[i] = exact_gradient(i, operation, equation, factors, g);
    }
    return back;
  };
  Tensor result = product.detach();
  autograd::record(operation, result, {a.values, b.values, product}, std::move(saved), rule);
  return result;
}

template <class Product>
MaskedTensor multiplied(const char* operation, const Equation& equation, const MaskedOperand& x,
                        const MaskedOperand& y, const Product& product) {
  const Factor a = factor_of(operation, x);
  const Factor b = factor_of(operation, y);
  const auto pairs = [&] { return ops::gt(product(indicator(a.counts), indicator(b.counts)), 0); };
  if (is_finite(a.values) && is_finite(b.values)) {
    const Tensor data = product(a.values, b.values);
    return as_masked_tensor(guarded(operation, equation, data, a, b), pairs());
  }
  const Tensor mask = pairs();  // first, because it checks the shapes
  return as_masked_tensor(exact(operation, equation, a, b), mask);
}

Equation matmul_equation(const MaskedOperand& a, const MaskedOperand& b) {
  const bool has_rows = a.values().shape().size() > 1;
  const bool has_cols = b.values().shape().size() > 1;
  return {has_rows ? "...ij" : "j", has_cols ? "...jk" : "j",
          std::string("...") + (has_rows ? "i" : "") + (has_cols ? "k" : "")};
}

}  // namespace

MaskedTensor matmul(const MaskedOperand& a, const MaskedOperand& b) {
  return multiplied("matmul", matmul_equation(a, b), a, b, ops::matmul);
}
MaskedTensor mm(const MaskedOperand& a, const MaskedOperand& b) {
  return multiplied("mm", matmul_equation(a, b), a, b, ops::mm);
}
MaskedTensor bmm(const MaskedOperand& a, const MaskedOperand& b) {
  return multiplied("bmm", matmul_equation(a, b), a, b, ops::bmm);
}
MaskedTensor mv(const MaskedOperand& a, const MaskedOperand& x) {
  return multiplied("mv", matmul_equation(a, x), a, x, ops::mv);
}
MaskedTensor dot(const MaskedOperand& x, const MaskedOperand& y) {
  return multiplied("dot", matmul_equation(x, y), x, y, ops::dot);
}
MaskedTensor outer(const MaskedOperand& x, const MaskedOperand& y) {
  return multiplied("outer", {"i", "j", "ij"}, x, y, ops::outer);
}

MaskedTensor linear(const MaskedOperand& x, const MaskedOperand& weight,
                    const std::optional<MaskedOperand>& bias) {
  const bool has_rows = weight.values().shape().size() > 1;
  const Equation equation{"...j", has_rows ? "kj" : "j", has_rows ? "...k" : "..."};
  const MaskedTensor product =
      multiplied("linear", equation, x, weight,
                 [](const Tensor& a, const Tensor& b) { return ops::linear(a, b); });
  return bias ? apply_binary(ops::add, product, *bias) : product;
}

MaskedTensor einsum(std::string_view equation, std::span<const MaskedOperand> operands) {
  std::vector<Tensor> values;
  for (const MaskedOperand& x : operands) values.push_back(tensor_of("einsum", x));
  const ops::EinsumParts parts = ops::einsum_parts(equation, values);
  if (operands.size() == 1) {
    const Factor x = factor_of("einsum", operands[0]);
    const Tensor counts = indicator(x.counts);
    return as_masked_tensor(ops::einsum(equation, std::span(&x.values, 1)),
                            ops::gt(ops::einsum(equation, std::span(&counts, 1)), 0));
  }
  const auto converted = [&](std::size_t i) {
    return MaskedOperand(ops::Operand(ops::to(values[i], parts.dtype)), operands[i].mask());
  };
  Equation step{"", "", parts.operands[0]};
  std::optional<MaskedTensor> result;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    step = {step.output, parts.operands[i], parts.output};
    if (i + 1 < operands.size()) {
      std::string kept = parts.output;
      for (const std::string& later : std::span(parts.operands).subspan(i + 1)) kept += later;
      const Roles roles(step.left, step.right, kept);
      step.output = (has(kept, '.') ? "..." : "") + roles.batch + roles.left + roles.right;
    }
    const auto product = [&](const Tensor& a, const Tensor& b) {
      const Tensor pair[] = {a, b};
      return ops::einsum(step.left + "," + step.right + "->" + step.output, pair);
    };
    result = multiplied("einsum", step, result ? MaskedOperand(*result) : converted(0),
                        converted(i), product);
  }
  return *result;
}

}  // namespace loup::masked
