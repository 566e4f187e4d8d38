#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "bindings.h"
#include "define.h"
#include "loup/masked/op.h"
#include "loup/masked/poison.h"

// How masked operators become Python functions and methods. Each family has its own source.

namespace loup::python {

// --- arguments ---

/// The default of an argument that has two spellings, so that one knows whether it was given.
inline nb::object absent() { return nb::ellipsis(); }
inline bool is_absent(nb::handle object) { return object.is(nb::handle(Py_Ellipsis)); }

/// The one of two spellings that was given, ours or NumPy's; absent() when none was.
nb::handle either(const char* operation, const char* ours, nb::handle first, const char* theirs,
                  nb::handle second);
/// None and absent() are false.
bool flag_from(const char* operation, const char* argument, nb::handle object);
bool keepdim_from(const char* operation, nb::handle keepdim, nb::handle keepdims);
/// A Python number or what can stand for one; arrays and bool are none.
bool is_number(nb::handle object);
double real_from(const char* operation, const char* argument, nb::handle object);
/// None means absent.
std::optional<Tensor> optional_tensor(const char* operation, nb::handle object);

/// A mask that was given, or None.
class MaskArgument : public TensorRef {
 public:
  MaskArgument(const char* operation, nb::handle object)
      : TensorRef(object.is_none() ? TensorRef() : TensorArgument(operation, object)) {}
  /// For options, which hold their mask.
  std::optional<Tensor> copy() const { return *this ? std::optional(**this) : std::nullopt; }
};

/// Calls `of_masked(x)` with a MaskedTensor, `of_tensor(x)` with anything that becomes a tensor, of
/// which `mask` says what counts.
template <class OfMasked, class OfTensor>
nb::object with_masked_input(const char* name, nb::handle input, const MaskArgument& mask,
                             const OfMasked& of_masked, const OfTensor& of_tensor) {
  return with_input(name, input, [&]<class X>(const X& x) {
    if constexpr (std::is_same_v<X, MaskedTensor>) {
      return of_masked(x);
    } else {
      return of_tensor(masked::Seen(name, x, mask.get()));
    }
  });
}

/// The mask of an operand that may be a MaskedTensor, ANDed with another one, which may be None.
std::optional<Tensor> combined_mask(const char* operation, nb::handle operand, nb::handle mask);

/// What output_mask() was asked, converted.
struct MaskQuery {
  Tensor x;
  Dims dims;
  bool keepdim;
  std::optional<Tensor> mask;  // of x itself, and the one that was given
  // Of operators with two operands.
  nb::handle input;
  nb::handle given_mask;
  nb::handle other;
  nb::handle input_mask;
  nb::handle other_mask;

  /// The only dim, for operators that take one.
  std::int64_t dim(const char* operation) const;
};

// --- definitions ---

/// Where an operator is added: two modules, and the classes of its input.
struct MaskedScopes {
  nb::module_& functions;  // loup.masked
  nb::module_& module;     // loup
};

/// Adds `f` to both modules and as a method to both classes. `rest` is the signature behind the
/// input, `result` the type of the result with {0} where the class of the input stands.
template <class Op, class F, class... Extra>
void define_everywhere(const MaskedScopes& scopes, const Op& op, const std::string& rest,
                       const char* result, const F& f, const Extra&... extra) {
  const auto signature = [&](const char* input, const char* own) {
    return fmt::format("def {}({}{}) -> {}", op.name, input, rest,
                       fmt::format(fmt::runtime(result), own));
  };
  const std::string function = signature("input: object", "typing.Any");
  for (nb::module_* const module : {&scopes.functions, &scopes.module}) {
    module->def(op.name, f, nb::arg("input").none(), extra..., nb::sig(function.c_str()),
                op.summary);
  }
  const std::string method = signature("self", "Tensor");
  nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>())
      .def(op.name, f, extra..., nb::sig(method.c_str()), op.summary);
  const std::string masked_method = signature("self", "MaskedTensor");
  nb::borrow<nb::class_<MaskedTensor>>(nb::type<MaskedTensor>())
      .def(op.name, f, extra..., nb::sig(masked_method.c_str()), op.summary);
}

// Adds an operator of a family wherever users look for it. (masked_reductions.cpp)
void define_masked(const MaskedScopes& scopes, const masked::Reduction& op);
void define_masked(const MaskedScopes& scopes, const masked::Deviation& op);
void define_masked(const MaskedScopes& scopes, const masked::Norm& op);
void define_masked(const MaskedScopes& scopes, const masked::PairReduction& op);
// (masked_lines.cpp)
void define_masked(const MaskedScopes& scopes, const masked::Normalization& op);
void define_masked(const MaskedScopes& scopes, const masked::Scan& op);
void define_masked(const MaskedScopes& scopes, const masked::NormDivision& op);
void define_masked(const MaskedScopes& scopes, const masked::LogAddExp& op);
// (masked_ranks.cpp)
void define_masked(const MaskedScopes& scopes, const masked::Median& op);
void define_masked(const MaskedScopes& scopes, const masked::Quantile& op);
void define_masked(const MaskedScopes& scopes, const masked::Histogram& op);
void define_masked(const MaskedScopes& scopes, const masked::Covariance& op);
void define_masked(const MaskedScopes& scopes, const masked::Correlation& op);
void define_masked(const MaskedScopes& scopes, const masked::WeightedMean& op);

// Where the outputs of an operator are masked, in the same sources.
Tensor mask_of(const masked::Reduction& op, const MaskQuery& query);
Tensor mask_of(const masked::Deviation& op, const MaskQuery& query);
Tensor mask_of(const masked::Norm& op, const MaskQuery& query);
Tensor mask_of(const masked::PairReduction& op, const MaskQuery& query);
Tensor mask_of(const masked::Normalization& op, const MaskQuery& query);
Tensor mask_of(const masked::Scan& op, const MaskQuery& query);
Tensor mask_of(const masked::NormDivision& op, const MaskQuery& query);
Tensor mask_of(const masked::LogAddExp& op, const MaskQuery& query);
Tensor mask_of(const masked::Median& op, const MaskQuery& query);
Tensor mask_of(const masked::Quantile& op, const MaskQuery& query);
Tensor mask_of(const masked::Histogram& op, const MaskQuery& query);
Tensor mask_of(const masked::Covariance& op, const MaskQuery& query);
Tensor mask_of(const masked::Correlation& op, const MaskQuery& query);
Tensor mask_of(const masked::WeightedMean& op, const MaskQuery& query);

}  // namespace loup::python
