#pragma once

#include <string>
#include <type_traits>

#include <fmt/core.h>

#include "bindings.h"
#include "loup/masked/lines.h"
#include "loup/masked/log_add_exp.h"
#include "loup/masked/masks.h"

// How masked operators that work along lines become Python functions and methods.

namespace loup::python {

/// The one of two spellings of an argument that was given: NumPy's or ours.
inline nb::handle either(const char* operation, const char* ours, nb::handle first,
                         const char* theirs, nb::handle second) {
  if (second.is_none()) return first;
  if (!first.is_none()) {
    throw_type_error("{}: expected {} or {}, got both", operation, ours, theirs);
  }
  return second;
}

/// dim or axis, of which one has to be there.
inline nb::handle required_dim(const char* operation, nb::handle dim, nb::handle axis) {
  const nb::handle given = either(operation, "dim", dim, "axis", axis);
  if (given.is_none()) throw_type_error("{}: expected dim as an int, got None", operation);
  return given;
}

/// The arguments that all of them take, converted. The mask is borrowed where it is a loup tensor.
struct LineCall {
  LineCall(const char* name, nb::handle type, nb::handle counts) : dtype(dtype_from(name, type)) {
    if (!counts.is_none()) mask.emplace(name, counts);
  }
  masked::LineOptions options() const {
    return {.mask = mask ? std::optional(**mask) : std::nullopt, .dtype = dtype};
  }

  std::optional<DType> dtype;
  std::optional<TensorArgument> mask;
};

inline double real_from(const char* operation, const char* argument, nb::handle object) {
  if (PyBool_Check(object.ptr()) ||
      (!PyFloat_Check(object.ptr()) && !PyIndex_Check(object.ptr()))) {
    throw_type_error("{}: expected {} as a number, got {}", operation, argument,
                     class_name(object));
  }
  return PyFloat_AsDouble(object.ptr());
}

/// Calls `op(x, arguments…, options)` on a MaskedTensor or on anything that becomes a tensor.
template <class Op, class Options, class... Args>
nb::object call_line_op(const Op& op, nb::handle input, const Options& options,
                        const Args&... args) {
  if (const MaskedTensor* x = masked_tensor_in(input)) {
    return nb::cast(without_gil(x->size(), [&] { return op(*x, args..., options); }));
  }
  const TensorArgument x(op.name, input);
  return nb::cast(without_gil(x->size(), [&] { return op(*x, args..., options); }));
}

/// Adds an operator along one dim to a module, or to a class as a method. `first` names the input
/// where it is an argument; in a method it is self.
template <class Scope, class Op, class... First>
  requires std::is_same_v<Op, masked::Normalization> || std::is_same_v<Op, masked::Scan>
void define_masked(Scope& scope, const Op& op, const char* input, const char* result,
                   First... first) {
  const std::string signature = fmt::format(
      "def {}({}, dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int "
      "| None = None) -> {}",
      op.name, input, result);
  scope.def(
      op.name,
      [&op](nb::handle x, nb::handle dim, nb::handle dtype, nb::handle mask, nb::handle axis) {
        const std::int64_t along = integer_from(op.name, required_dim(op.name, dim, axis));
        const LineCall call(op.name, dtype, mask);
        return call_line_op(op, x, call.options(), along);
      },
      first..., nb::arg("dim").none() = nb::none(), nb::kw_only(),
      nb::arg("dtype").none() = nb::none(), nb::arg("mask").none() = nb::none(),
      nb::arg("axis").none() = nb::none(), nb::sig(signature.c_str()), op.summary);
}

/// normalize(), whose dim may be several.
template <class Scope, class... First>
void define_masked(Scope& scope, const masked::NormDivision& op, const char* input,
                   const char* result, First... first) {
  const std::string signature = fmt::format(
      "def {}({}, ord: float, dim: int | collections.abc.Sequence[int] | None = None, *, eps: "
      "float = 1e-12, dtype: object = None, mask: object = None, axis: int | "
      "collections.abc.Sequence[int] | None = None) -> {}",
      op.name, input, result);
  scope.def(
      op.name,
      [&op](nb::handle x, nb::handle ord, nb::handle dim, nb::handle eps, nb::handle dtype,
            nb::handle mask, nb::handle axis) {
        const Dims dims = dims_from(op.name, required_dim(op.name, dim, axis));
        const LineCall call(op.name, dtype, mask);
        const masked::NormalizeOptions options{.eps = real_from(op.name, "eps", eps),
                                               .mask = call.options().mask,
                                               .dtype = call.dtype};
        return call_line_op(op, x, options, real_from(op.name, "ord", ord), dims);
      },
      first..., nb::arg("ord").none(), nb::arg("dim").none() = nb::none(), nb::kw_only(),
      nb::arg("eps") = 1e-12, nb::arg("dtype").none() = nb::none(),
      nb::arg("mask").none() = nb::none(), nb::arg("axis").none() = nb::none(),
      nb::sig(signature.c_str()), op.summary);
}

/// `mask` stands for the masks of both operands.
inline masked::LogAddExpOptions log_add_exp_options(const masked::LogAddExp& op, nb::handle dtype,
                                                    nb::handle input_mask, nb::handle other_mask,
                                                    nb::handle mask) {
  if (!mask.is_none() && (!input_mask.is_none() || !other_mask.is_none())) {
    throw_type_error("{}: expected mask, or input_mask and other_mask, got both", op.name);
  }
  const auto mask_from = [&](nb::handle own) -> std::optional<Tensor> {
    const nb::handle given = mask.is_none() ? own : mask;
    if (given.is_none()) return std::nullopt;
    return as_tensor(op.name, given);
  };
  return {.input_mask = mask_from(input_mask),
          .other_mask = mask_from(other_mask),
          .dtype = dtype_from(op.name, dtype)};
}

/// A MaskedTensor when one of the operands is.
inline nb::object call_log_add_exp(const masked::LogAddExp& op, nb::handle input, nb::handle other,
                                   const masked::LogAddExpOptions& options) {
  const MaskedTensor* const a = masked_tensor_in(input);
  const MaskedTensor* const b = masked_tensor_in(other);
  if (a == nullptr && b == nullptr) {
    const TensorArgument x(op.name, input);
    const TensorArgument y(op.name, other);
    return nb::cast(without_gil(x->size() + y->size(), [&] { return op(*x, *y, options); }));
  }
  const auto masked = [&](const MaskedTensor* own, nb::handle object) {
    return own != nullptr ? *own : masked::all_valid(as_tensor(op.name, object));
  };
  const MaskedTensor x = masked(a, input);
  const MaskedTensor y = masked(b, other);
  return nb::cast(without_gil(x.size() + y.size(), [&] { return op(x, y, options); }));
}

/// To the module with all names that operands may be given by, to a class as a method.
template <class Scope, class... First>
void define_masked(Scope& scope, const masked::LogAddExp& op, const char* /*input*/,
                   const char* /*result*/, First... /*first*/) {
  using namespace nb::literals;
  if constexpr (std::is_same_v<Scope, nb::module_>) {
    scope.def(
        op.name,
        [&op](nb::handle input, nb::handle other, nb::handle dtype, nb::handle input_mask,
              nb::handle other_mask, nb::handle mask, nb::handle input1, nb::handle input2) {
          return call_log_add_exp(op, either(op.name, "input", input, "input1", input1),
                                  either(op.name, "other", other, "input2", input2),
                                  log_add_exp_options(op, dtype, input_mask, other_mask, mask));
        },
        "input"_a.none() = nb::none(), "other"_a.none() = nb::none(), nb::kw_only(),
        "dtype"_a.none() = nb::none(), "input_mask"_a.none() = nb::none(),
        "other_mask"_a.none() = nb::none(), "mask"_a.none() = nb::none(),
        "input1"_a.none() = nb::none(), "input2"_a.none() = nb::none(),
        nb::sig("def logaddexp(input: object = None, other: object = None, *, dtype: object = "
                "None, input_mask: object = None, other_mask: object = None, mask: object = None, "
                "input1: object = None, input2: object = None) -> typing.Any"),
        op.summary);
  } else {
    scope.def(
        op.name,
        [&op](nb::handle input, nb::handle other, nb::handle dtype, nb::handle other_mask) {
          return call_log_add_exp(
              op, input, other, log_add_exp_options(op, dtype, nb::none(), other_mask, nb::none()));
        },
        "other"_a, nb::kw_only(), "dtype"_a.none() = nb::none(), "other_mask"_a.none() = nb::none(),
        nb::sig("def logaddexp(self, other: object, *, dtype: object = None, other_mask: object = "
                "None) -> MaskedTensor"),
        op.summary);
  }
}

}  // namespace loup::python
