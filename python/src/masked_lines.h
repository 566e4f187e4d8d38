#pragma once

#include <string>

#include <fmt/core.h>

#include "bindings.h"
#include "loup/masked/lines.h"

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

/// Calls `op(x, arguments…, options)` on a MaskedTensor or on anything that becomes a tensor.
template <class Op, class... Args>
nb::object call_line_op(const Op& op, nb::handle input, const masked::LineOptions& options,
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
void define_line_op(Scope& scope, const Op& op, const char* input, const char* result,
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

}  // namespace loup::python
