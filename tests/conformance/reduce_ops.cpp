#include "tests/conformance/reduce_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "tests/support/numbers.h"
#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup::test {

namespace {

using Expected = ReduceOp::Expected;
using Types = ReduceOp::Types;
using Call = ReduceOp::Call;
using Reals = Slice<long double>;
using Integers = Slice<std::int64_t>;
using Asked = std::optional<DType>;

// --- the dtype rules, written down once more ---

std::optional<Types> accumulated(DType input, Asked asked) {
  const DType result = asked.value_or(is_floating(input) ? input : DType::i64);
  // Elements of integers are added as they are.
  return Types{!is_floating(input) && result == DType::i64 ? input : result, result};
}
std::optional<Types> averaged(DType input, Asked asked) {
  if (asked && !is_floating(*asked)) return std::nullopt;
  if (asked) return Types{*asked, *asked};
  if (is_floating(input)) return Types{input, input};
  return Types{input, input == DType::i64 ? DType::f64 : DType::f32};
}
std::optional<Types> spread(DType input, Asked asked) {
  if (asked && !is_floating(*asked)) return std::nullopt;
  if (asked) return Types{*asked, *asked};
  return Types{input, is_floating(input) ? input : DType::f32};
}
std::optional<Types> exponential(DType input, Asked asked) {
  const DType cast = is_floating(input) ? input : DType::f32;
  return Types{cast, asked.value_or(cast)};
}
std::optional<Types> real(DType input, Asked asked) {
  if (!is_floating(input)) return std::nullopt;
  if (asked && promote(input, *asked) != *asked) return std::nullopt;
  return Types{asked.value_or(input), asked.value_or(input)};
}
std::optional<Types> kept(DType input, Asked asked) { return Types{input, asked.value_or(input)}; }
std::optional<Types> index(DType input, Asked asked) {
  return Types{input, asked.value_or(DType::i64)};
}
std::optional<Types> boolean(DType /*input*/, Asked asked) {
  return Types{DType::boolean, asked.value_or(DType::boolean)};
}
std::optional<Types> counted(DType /*input*/, Asked asked) {
  return Types{DType::boolean, asked.value_or(DType::i64)};
}

// --- the operators as loops ---

Expected sum(const Reals& x) {
  Expected result{0, 0};
  for (const long double value : x.values) {
    result.value += value;
    result.scale += std::abs(value);
  }
  return result;
}
Expected mean(const Reals& x) {
  const auto count = static_cast<long double>(x.values.size());
  const Expected total = sum(x);
  return {total.value / count, total.scale / count};
}
Expected prod(const Reals& x) {
  long double value = 1;
  for (const long double factor : x.values) value *= factor;
  return {value, std::abs(value)};
}
template <class T>
std::size_t first_extreme(const Slice<T>& x, bool is_largest) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < x.values.size(); ++i) {
    if (is_largest ? x.values[i] > x.values[found] : x.values[i] < x.values[found]) found = i;
  }
  return found;
}
Expected extreme(const Reals& x, bool is_largest) {
  if (x.values.empty()) return {is_largest ? -inf : inf, 0};
  return {x.values[first_extreme(x, is_largest)], 0};
}
/// Of nothing the least or largest number of the dtype, which int64 stands for here.
std::int64_t extreme_integer(const Integers& x, bool is_largest) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (x.values.empty()) return is_largest ? Limits::min() : Limits::max();
  return x.values[first_extreme(x, is_largest)];
}
template <class T>
std::int64_t place(const Slice<T>& x, bool is_largest) {
  return x.values.empty() ? 0 : x.places[first_extreme(x, is_largest)];
}
Expected log_sum_exp(const Reals& x) {
  const long double top = extreme(x, true).value;
  long double total = 0;
  for (const long double value : x.values) total += std::exp(value - top);
  const long double value = x.values.empty() ? -inf : top + std::log(total);
  return {value, std::max(1.0L, std::abs(value))};
}
Expected var(const Reals& x, long double correction) {
  const long double middle = mean(x).value;
  long double squares = 0;
  for (const long double value : x.values) squares += (value - middle) * (value - middle);
  const auto count = static_cast<long double>(x.values.size());
  const long double value = x.values.empty() ? nan : squares / std::max(count - correction, 0.0L);
  // Numbers beyond 2^53 are not exact in double, so their distance from the mean is not either.
  const long double blur = std::abs(middle) * 0x1p-52L;
  return {value, std::abs(value) + blur * (blur + std::sqrt(std::abs(value))) * 0x1p26L};
}
Expected norm(const Reals& x, long double ord) {
  if (x.values.empty()) return {ord < 0 ? inf : 0, 0};
  long double value = ord == -inf ? inf : 0;
  for (const long double element : x.values) {
    const long double size = std::abs(element);
    if (ord == inf) {
      value = std::max(value, size);
    } else if (ord == -inf) {
      value = std::min(value, size);
    } else if (ord == 0) {
      value += size != 0 ? 1 : 0;
    } else {
      value += std::pow(size, ord);
    }
  }
  if (std::isfinite(ord) && ord != 0) value = std::pow(value, 1 / ord);
  return {value, value};
}

// --- and as they are called ---

/// sum(x, dims, options) and its like, without a reference.
template <class Family, class Options>
ReduceOp over_dims(const std::string& name, const Family& op, Options options) {
  ReduceOp result;
  result.name = name;
  result.run = [&op, options](const Tensor& x, const std::optional<Tensor>& mask,
                              const Call& call) { return op(x, call.dims, options(mask, call)); };
  result.run_masked = [&op, options](const MaskedTensor& x, const Call& call) {
    return op(x, call.dims, options(std::nullopt, call));
  };
  result.output_mask = [&op, options](const Tensor& x, const std::optional<Tensor>& mask,
                                      const Call& call) {
    return op.output_mask(x, call.dims, options(mask, call));
  };
  return result;
}

ReduceOp make(const masked::Reduction& op) {
  return over_dims(op.name, op, [](const std::optional<Tensor>& mask, const Call& call) {
    return masked::ReduceOptions{.mask = mask, .keepdim = call.keepdim, .dtype = call.dtype};
  });
}

ReduceOp make(const std::string& name, const masked::Deviation& op, double correction) {
  ReduceOp result =
      over_dims(name, op, [correction](const std::optional<Tensor>& mask, const Call& call) {
        return masked::DeviationOptions{
            .correction = correction, .mask = mask, .keepdim = call.keepdim, .dtype = call.dtype};
      });
  result.types = spread;
  return result;
}

ReduceOp make_norm(const std::string& name, double ord) {
  const auto options = [](const std::optional<Tensor>& mask, const Call& call) {
    return masked::ReduceOptions{.mask = mask, .keepdim = call.keepdim, .dtype = call.dtype};
  };
  ReduceOp result;
  result.name = name;
  result.run = [=](const Tensor& x, const std::optional<Tensor>& mask, const Call& call) {
    return masked::norm(x, ord, call.dims, options(mask, call));
  };
  result.run_masked = [=](const MaskedTensor& x, const Call& call) {
    return masked::norm(x, ord, call.dims, options(std::nullopt, call));
  };
  result.output_mask = [=](const Tensor& x, const std::optional<Tensor>& mask, const Call& call) {
    return masked::norm.output_mask(x, call.dims, options(mask, call));
  };
  result.types = real;
  result.real = [ord](const Reals& x) { return norm(x, ord); };
  result.needs_elements = ord < 0 || std::isinf(ord);
  result.is_differentiable = ord != 0;
  result.is_smooth = std::isfinite(ord) && ord > 1;
  return result;
}

/// One of the two results of a pair.
ReduceOp make_part(const std::string& name, const masked::PairReduction& op, bool is_second) {
  const auto options = [](const std::optional<Tensor>& mask, const Call& call) {
    return masked::PairOptions{.mask = mask, .keepdim = call.keepdim};
  };
  ReduceOp result;
  result.name = name;
  result.run = [=, &op](const Tensor& x, const std::optional<Tensor>& mask, const Call& call) {
    const auto pair = op(x, call.dims, options(mask, call));
    return is_second ? pair.second : pair.first;
  };
  result.run_masked = [=, &op](const MaskedTensor& x, const Call& call) {
    const auto pair = op(x, call.dims, options(std::nullopt, call));
    return is_second ? pair.second : pair.first;
  };
  result.output_mask = [=, &op](const Tensor& x, const std::optional<Tensor>& mask,
                                const Call& call) {
    return op.output_mask(x, call.dims, options(mask, call));
  };
  result.takes_dtype = false;
  result.needs_elements = true;
  result.is_smooth = false;
  return result;
}

void add_extreme(ReduceOp& op, bool is_largest) {
  op.types = kept;
  op.real = [=](const Reals& x) { return extreme(x, is_largest); };
  op.integer = [=](const Integers& x) { return extreme_integer(x, is_largest); };
  op.needs_elements = true;
  op.is_smooth = false;
}
void add_place(ReduceOp& op, bool is_largest) {
  op.types = index;
  op.real = [=](const Reals& x) {
    return Expected{static_cast<long double>(place(x, is_largest)), 0};
  };
  op.integer = [=](const Integers& x) { return place(x, is_largest); };
  op.takes_one_dim = true;
  op.needs_elements = true;
  op.is_differentiable = false;
}

std::vector<ReduceOp> make_reduce_ops() {
  std::vector<ReduceOp> ops;
  const auto add = [&](ReduceOp op, const auto& describe) {
    describe(op);
    ops.push_back(std::move(op));
  };
  const auto wrapping = [](std::uint64_t start, auto combine) {
    return [=](const Integers& x) {
      std::uint64_t total = start;
      for (const std::int64_t value : x.values) {
        total = combine(total, static_cast<std::uint64_t>(value));
      }
      return static_cast<std::int64_t>(total);
    };
  };
  add(make(masked::sum), [&](ReduceOp& op) {
    op.types = accumulated;
    op.real = sum;
    op.keeps_errors = true;
    op.integer = wrapping(0, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  });
  add(make(masked::prod), [&](ReduceOp& op) {
    op.types = accumulated;
    op.real = prod;
    op.integer = wrapping(1, [](std::uint64_t a, std::uint64_t b) { return a * b; });
    op.multiplies = true;
  });
  add(make(masked::mean), [](ReduceOp& op) {
    op.types = averaged;
    op.real = mean;
    op.keeps_errors = true;
  });
  for (const bool is_largest : {true, false}) {
    add(make(is_largest ? masked::amax : masked::amin),
        [&](ReduceOp& op) { add_extreme(op, is_largest); });
    add(make(is_largest ? masked::argmax : masked::argmin),
        [&](ReduceOp& op) { add_place(op, is_largest); });
    const masked::PairReduction& pair = is_largest ? masked::max : masked::min;
    add(make_part(std::string(pair.name) + "_values", pair, false), [&](ReduceOp& op) {
      add_extreme(op, is_largest);
      op.takes_one_dim = true;
    });
    add(make_part(std::string(pair.name) + "_indices", pair, true),
        [&](ReduceOp& op) { add_place(op, is_largest); });
    add(make_part(is_largest ? "minmax_second" : "minmax_first", masked::minmax, is_largest),
        [&](ReduceOp& op) { add_extreme(op, is_largest); });
  }
  add(make(masked::logsumexp), [](ReduceOp& op) {
    op.types = exponential;
    op.real = log_sum_exp;
    op.has_fixed_bits = false;
  });
  add(make(masked::any), [](ReduceOp& op) {
    op.types = boolean;
    op.integer = [](const Integers& x) { return x.values.empty() ? 0 : extreme_integer(x, true); };
    op.is_differentiable = false;
  });
  add(make(masked::all), [](ReduceOp& op) {
    op.types = boolean;
    op.integer = [](const Integers& x) { return x.values.empty() ? 1 : extreme_integer(x, false); };
    op.is_differentiable = false;
  });
  add(make(masked::count), [](ReduceOp& op) {
    op.types = counted;
    op.integer = [](const Integers& x) { return std::ssize(x.values); };
    op.is_differentiable = false;
  });
  for (const double correction : {1.0, 0.0, 2.5}) {
    const std::string suffix = correction == 1 ? "" : correction == 0 ? "_biased" : "_corrected";
    ops.push_back(make("var" + suffix, masked::var, correction));
    ops.back().real = [=](const Reals& x) { return var(x, correction); };
    ops.push_back(make("std" + suffix, masked::std, correction));
    ops.back().real = [=](const Reals& x) {
      const Expected square = var(x, correction);
      return Expected{std::sqrt(square.value), std::sqrt(square.scale)};
    };
  }
  const std::pair<const char*, double> orders[] = {
      {"norm", 2},          {"norm_1", 1}, {"norm_0", 0},      {"norm_inf", inf},
      {"norm_least", -inf}, {"norm_3", 3}, {"norm_half", 0.5}, {"norm_minus_2", -2}};
  for (const auto& [name, ord] : orders) ops.push_back(make_norm(name, ord));
  return ops;
}

}  // namespace

const std::vector<ReduceOp>& reduce_ops() {
  static const std::vector<ReduceOp> ops = make_reduce_ops();
  return ops;
}

bool accepts(const ReduceOp& op, const Case& c) {
  const std::uint32_t reduced = dim_bits("reference", c.dims, c.shape.size());
  for (int i = 0; i < c.shape.size(); ++i) {
    const bool is_reduced = (reduced >> static_cast<unsigned>(i) & 1U) != 0;
    if (is_reduced && c.shape[i] == 0 && op.needs_elements) return false;
  }
  return op.types(c.dtype, c.cast).has_value();
}

void PrintTo(const ReduceOp& op, std::ostream* out) { *out << op.name; }

std::vector<Case> suiting(const ReduceOp& op, const std::vector<Case>& all) {
  std::vector<Case> cases;
  for (const Case& c : all) {
    if (op.takes_one_dim && c.dims.size() > 1) continue;
    cases.push_back(c);
    if (!op.takes_dtype) cases.back().cast = std::nullopt;
  }
  return cases;
}

Operands reduce_operands(const ReduceOp& op, const Case& c) {
  const Operands operands = make_operands(c);
  const std::optional<Types> types = op.types(c.dtype, c.cast);
  if (op.multiplies && types && is_floating(types->cast)) {
    fill_with_powers_of_two(operands.x, static_cast<std::uint64_t>(c.number));
  }
  return operands;
}

}  // namespace loup::test
