#include "tests/conformance/line_ops.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/support/numbers.h"
#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup::test {

namespace {

using Values = std::vector<long double>;
using Counts = std::vector<bool>;
using ExpectedLine = LineOp::Expected;

/// Errors are measured by the largest result of the line.
ExpectedLine with_largest(Values values) {
  long double largest = 0;
  for (const long double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  Values scales(values.size(), largest);
  return {std::move(values), std::move(scales)};
}

ExpectedLine softmax(const Values& x, const Counts& counts, long double sign, bool is_log) {
  long double top = -inf;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (counts[i]) top = std::max(top, sign * x[i]);
  }
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (counts[i]) sum += std::exp(sign * x[i] - top);
  }
  Values result(x.size(), is_log ? -inf : 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!counts[i] || top == -inf) continue;
    const long double moved = sign * x[i] - top;
    result[i] = is_log ? moved - std::log(sum) : std::exp(moved) / sum;
  }
  return with_largest(std::move(result));
}

ExpectedLine normalize(const Values& x, const Counts& counts, long double ord) {
  long double norm = ord == -inf ? inf : 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double size = std::abs(x[i]);
    if (!counts[i]) continue;
    if (ord == inf) {
      norm = std::max(norm, size);
    } else if (ord == -inf) {
      norm = std::min(norm, size);
    } else if (ord == 0) {
      norm += size != 0 ? 1 : 0;
    } else {
      norm += std::pow(size, ord);
    }
  }
  if (std::isfinite(ord) && ord != 0) norm = std::pow(norm, 1 / ord);
  const long double divisor = std::max(norm, static_cast<long double>(1e-12));
  Values result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = counts[i] ? x[i] / divisor : 0;
  return with_largest(std::move(result));
}

ExpectedLine cumsum(const Values& x, const Counts& counts) {
  ExpectedLine result;
  long double sum = 0;
  long double magnitude = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (counts[i]) sum += x[i];
    if (counts[i]) magnitude += std::abs(x[i]);
    result.values.push_back(sum);
    result.scales.push_back(magnitude);
  }
  return result;
}

ExpectedLine cumprod(const Values& x, const Counts& counts) {
  ExpectedLine result;
  long double product = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (counts[i]) product *= x[i];
    result.values.push_back(product);
    result.scales.push_back(std::abs(product));
  }
  return result;
}

template <class Combine>
std::vector<std::int64_t> running(const std::vector<std::int64_t>& x, const Counts& counts,
                                  std::uint64_t value, Combine combine) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (counts[i]) value = combine(value, static_cast<std::uint64_t>(x[i]));
    result.push_back(static_cast<std::int64_t>(value));
  }
  return result;
}

/// softmax(x, dim) and its like as a LineOp without a reference.
template <class Op>
LineOp along_one_dim(const Op& op) {
  const auto dim = [](const Dims& dims) { return dims[0]; };
  LineOp result;
  result.name = op.name;
  result.takes_many_dims = false;
  result.call = [&op, dim](const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask,
                           std::optional<DType> dtype) {
    return op(x, dim(dims), {.mask = mask, .dtype = dtype});
  };
  result.call_masked = [&op, dim](const MaskedTensor& x, const Dims& dims,
                                  std::optional<DType> dtype) {
    return op(x, dim(dims), {.mask = {}, .dtype = dtype});
  };
  result.output_mask = [&op, dim](const Tensor& x, const Dims& dims,
                                  const std::optional<Tensor>& mask) {
    return op.output_mask(x, dim(dims), {.mask = mask, .dtype = {}});
  };
  return result;
}

LineOp softmax_op(const masked::Normalization& op, long double sign, bool is_log) {
  LineOp result = along_one_dim(op);
  result.real = [=](const Values& x, const Counts& counts) {
    return softmax(x, counts, sign, is_log);
  };
  return result;
}

LineOp normalize_op(double ord) {
  LineOp result;
  result.name = fmt::format("normalize_{}", ord);
  std::replace_if(
      result.name.begin(), result.name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  result.takes_many_dims = true;
  result.widens_only = true;
  result.call = [ord](const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask,
                      std::optional<DType> dtype) {
    return masked::normalize(x, ord, dims, {.mask = mask, .dtype = dtype});
  };
  result.call_masked = [ord](const MaskedTensor& x, const Dims& dims, std::optional<DType> dtype) {
    return masked::normalize(x, ord, dims, {.mask = {}, .dtype = dtype});
  };
  result.output_mask = [](const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask) {
    return masked::normalize.output_mask(x, dims, {.mask = mask, .dtype = {}});
  };
  result.real = [ord](const Values& x, const Counts& counts) { return normalize(x, counts, ord); };
  return result;
}

std::vector<LineOp> make_line_ops() {
  std::vector<LineOp> ops = {softmax_op(masked::softmax, 1, false),
                             softmax_op(masked::log_softmax, 1, true),
                             softmax_op(masked::softmin, -1, false)};
  LineOp sums = along_one_dim(masked::cumsum);
  sums.real = cumsum;
  sums.integer = [](const std::vector<std::int64_t>& x, const Counts& counts) {
    return running(x, counts, 0, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  };
  LineOp products = along_one_dim(masked::cumprod);
  products.real = cumprod;
  products.integer = [](const std::vector<std::int64_t>& x, const Counts& counts) {
    return running(x, counts, 1, [](std::uint64_t a, std::uint64_t b) { return a * b; });
  };
  ops.push_back(sums);
  ops.push_back(products);
  for (const double ord : {2.0, 1.0, 0.0, inf, -inf, 3.0, 0.5, -1.0, -2.0}) {
    ops.push_back(normalize_op(ord));
  }
  return ops;
}

}  // namespace

const std::vector<LineOp>& line_ops() {
  static const std::vector<LineOp> ops = make_line_ops();
  return ops;
}

bool accepts(const LineOp& op, const Case& c) {
  if (op.integer) return true;
  if (!is_floating(c.cast.value_or(c.dtype))) return false;
  return !op.widens_only || !c.cast || !is_floating(c.dtype) ||
         promote(c.dtype, *c.cast) == *c.cast;
}

DType line_dtype(const Case& c) {
  return c.cast.value_or(is_floating(c.dtype) ? c.dtype : DType::i64);
}

Operands line_operands(const LineOp& op, const Case& c) {
  const Operands operands = make_operands(c);
  if (op.name != "cumprod" || !is_floating(line_dtype(c))) return operands;
  fill_with_powers_of_two(operands.x, static_cast<std::uint64_t>(c.number));
  return operands;
}

std::vector<Case> suiting(const LineOp& op, const std::vector<Case>& all) {
  if (op.takes_many_dims) return all;
  std::vector<Case> cases;
  for (const Case& c : all) {
    if (c.dims.size() == 1) cases.push_back(c);
  }
  return cases;
}

}  // namespace loup::test
