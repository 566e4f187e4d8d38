#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/cases.h"

namespace loup::test {

/// The elements of one slice that count, and their positions among all of it.
template <class T>
struct Slice {
  std::vector<T> values;
  std::vector<std::int64_t> places;
};

/// A masked operator that makes one element of many, and how a naive loop computes it.
struct ReduceOp {
  /// What a slice should become, and the magnitude that rounding errors are measured by: 0 for
  /// results that are exact.
  struct Expected {
    long double value, scale;
  };
  /// What elements are converted to before anything else, and what the result is.
  struct Types {
    DType cast, result;
  };
  struct Call {
    Dims dims;
    bool keepdim = false;
    std::optional<DType> dtype = {};
  };

  std::string name;
  std::function<Tensor(const Tensor& x, const std::optional<Tensor>& mask, const Call& call)> run;
  std::function<MaskedTensor(const MaskedTensor& x, const Call& call)> run_masked;
  std::function<Tensor(const Tensor& x, const std::optional<Tensor>& mask, const Call& call)>
      output_mask;
  /// Absent: the operator refuses these dtypes.
  std::function<std::optional<Types>(DType input, std::optional<DType> asked)> types;
  /// For elements that are converted to floats, and for integers and bool. Integers without a loop
  /// of their own are taken as reals.
  std::function<Expected(const Slice<long double>&)> real;
  std::function<std::int64_t(const Slice<std::int64_t>&)> integer = nullptr;
  bool takes_one_dim = false;
  bool takes_dtype = true;
  bool needs_elements = false;
  bool is_differentiable = true;
  bool is_smooth = true;       // its gradient has a gradient by the input
  bool has_fixed_bits = true;  // the same on every instruction set
  bool keeps_errors = false;   // sums of doubles are better than double
  bool multiplies = false;     // elements must be powers of two, or products are infinite
};

/// For messages of GoogleTest.
void PrintTo(const ReduceOp& op, std::ostream* out);

/// All of them; norm and var once for each of some orders and corrections.
const std::vector<ReduceOp>& reduce_ops();

/// Whether the operator takes the dtypes and sizes of a case.
bool accepts(const ReduceOp& op, const Case& c);
/// The cases of `all` that suit the signature.
std::vector<Case> suiting(const ReduceOp& op, const std::vector<Case>& all);
Operands reduce_operands(const ReduceOp& op, const Case& c);

}  // namespace loup::test
