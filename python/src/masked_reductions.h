#pragma once

#include <string>

#include <fmt/core.h>

#include "bindings.h"
#include "loup/masked/reductions.h"
#include "masked_lines.h"

// How masked operators that make one element of many become Python functions and methods.

namespace loup::python {

inline bool flag_from(const char* operation, const char* argument, nb::handle object) {
  if (object.is_none() || object.ptr() == Py_False) return false;
  if (object.ptr() == Py_True) return true;
  throw_type_error("{}: expected {} as a bool, got {}", operation, argument, class_name(object));
}

/// None, or one int for an operator that takes no more.
inline Dims one_dim_from(const char* operation, nb::handle dim) {
  if (dim.is_none()) return {};
  return {integer_from(operation, dim)};
}

/// The arguments of a reduction, converted. The mask is borrowed where it is a loup tensor: copying
/// a handle would cost as much as checking it.
struct ReduceCall {
  ReduceCall(const char* name, bool takes_one_dim, nb::handle dim, nb::handle keep, nb::handle type,
             nb::handle counts, nb::handle axis, nb::handle keeps)
      : keepdim(flag_from(name, "keepdim", either(name, "keepdim", keep, "keepdims", keeps))),
        dtype(dtype_from(name, type)) {
    const nb::handle given = either(name, "dim", dim, "axis", axis);
    dims = takes_one_dim ? one_dim_from(name, given) : dims_from(name, given);
    if (!counts.is_none()) mask.emplace(name, counts);
  }

  std::optional<Tensor> mask_copy() const { return mask ? std::optional(**mask) : std::nullopt; }
  masked::ReduceOptions options() const {
    return {.mask = mask_copy(), .keepdim = keepdim, .dtype = dtype};
  }
  /// The same without copies of handles.
  ops::ReduceArguments arguments(double parameter = 0) const {
    return {.mask = mask ? &**mask : nullptr,
            .keepdim = keepdim,
            .dtype = dtype,
            .parameter = parameter};
  }

  Dims dims;
  bool keepdim;
  std::optional<DType> dtype;
  std::optional<TensorArgument> mask;
};

/// Calls `masked(x)` with a MaskedTensor, `plain(x)` with anything that becomes a tensor.
template <class Masked, class Plain>
nb::object call_reduction(const char* name, nb::handle input, const Masked& masked,
                          const Plain& plain) {
  if (const MaskedTensor* x = masked_tensor_in(input)) {
    return nb::cast(without_gil(x->size(), [&] { return masked(*x); }));
  }
  const TensorArgument x(name, input);
  return nb::cast(without_gil(x->size(), [&] { return plain(*x); }));
}

inline constexpr const char* dim_signature =
    "dim: int | collections.abc.Sequence[int] | None = None";
inline constexpr const char* axis_signature =
    "axis: int | collections.abc.Sequence[int] | None = None, keepdims: bool = False";

// Adds an operator to a module, or to a class as a method. `first` names the input where it is an
// argument; in a method it is self.

template <class Scope, class... First>
void define_masked(Scope& scope, const masked::Reduction& op, const char* input, const char* result,
                   First... first) {
  using namespace nb::literals;
  const std::string signature = fmt::format(
      "def {}({}, {}, *, keepdim: bool = False, dtype: object = None, mask: object = None, {}) -> "
      "{}",
      op.name, input, dim_signature, axis_signature, result);
  scope.def(
      op.name,
      [&op](nb::handle input_, nb::handle dim, nb::handle keepdim, nb::handle dtype,
            nb::handle mask, nb::handle axis, nb::handle keepdims) {
        const ReduceCall call(op.name, op.takes_one_dim, dim, keepdim, dtype, mask, axis, keepdims);
        return call_reduction(
            op.name, input_,
            [&](const MaskedTensor& x) { return op(x, call.dims, call.options()); },
            [&](const Tensor& x) { return ops::reduce(op, x, call.dims, call.arguments()); });
      },
      first..., "dim"_a.none() = nb::none(), nb::kw_only(), "keepdim"_a.none() = nb::none(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = nb::none(),
      "keepdims"_a.none() = nb::none(), nb::sig(signature.c_str()), op.summary);
}

/// The correction that `unbiased` or `correction` stands for.
inline double correction_from(const char* operation, nb::handle unbiased, nb::handle correction) {
  if (!unbiased.is_none() && !correction.is_none()) {
    throw ValueError("{}: expected unbiased or correction, got both", operation);
  }
  if (!correction.is_none()) return real_from(operation, "correction", correction);
  return unbiased.is_none() || flag_from(operation, "unbiased", unbiased) ? 1 : 0;
}

template <class Scope, class... First>
void define_masked(Scope& scope, const masked::Deviation& op, const char* input, const char* result,
                   First... first) {
  using namespace nb::literals;
  const std::string signature = fmt::format(
      "def {}({}, {}, unbiased: bool | None = None, *, correction: float | None = None, keepdim: "
      "bool = False, dtype: object = None, mask: object = None, {}) -> {}",
      op.name, input, dim_signature, axis_signature, result);
  scope.def(
      op.name,
      [&op](nb::handle input_, nb::handle dim, nb::handle unbiased, nb::handle correction,
            nb::handle keepdim, nb::handle dtype, nb::handle mask, nb::handle axis,
            nb::handle keepdims) {
        const ReduceCall call(op.name, false, dim, keepdim, dtype, mask, axis, keepdims);
        const double corrects = correction_from(op.name, unbiased, correction);
        return call_reduction(
            op.name, input_,
            [&](const MaskedTensor& x) {
              return op(x, call.dims,
                        {.correction = corrects,
                         .mask = call.mask_copy(),
                         .keepdim = call.keepdim,
                         .dtype = call.dtype});
            },
            [&](const Tensor& x) {
              return ops::reduce(op, x, call.dims, call.arguments(corrects));
            });
      },
      first..., "dim"_a.none() = nb::none(), "unbiased"_a.none() = nb::none(), nb::kw_only(),
      "correction"_a.none() = nb::none(), "keepdim"_a.none() = nb::none(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = nb::none(),
      "keepdims"_a.none() = nb::none(), nb::sig(signature.c_str()), op.summary);
}

template <class Scope, class... First>
void define_masked(Scope& scope, const masked::Norm& op, const char* input, const char* result,
                   First... first) {
  using namespace nb::literals;
  const std::string signature = fmt::format(
      "def {}({}, ord: float = 2.0, {}, *, keepdim: bool = False, dtype: object = None, mask: "
      "object = None, {}) -> {}",
      op.name, input, dim_signature, axis_signature, result);
  scope.def(
      op.name,
      [&op](nb::handle input_, nb::handle ord, nb::handle dim, nb::handle keepdim, nb::handle dtype,
            nb::handle mask, nb::handle axis, nb::handle keepdims) {
        const ReduceCall call(op.name, false, dim, keepdim, dtype, mask, axis, keepdims);
        const double order = real_from(op.name, "ord", ord);
        return call_reduction(
            op.name, input_,
            [&](const MaskedTensor& x) { return op(x, order, call.dims, call.options()); },
            [&](const Tensor& x) { return ops::norm(x, order, call.dims, call.arguments()); });
      },
      first..., "ord"_a.none() = 2.0, "dim"_a.none() = nb::none(), nb::kw_only(),
      "keepdim"_a.none() = nb::none(), "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(),
      "axis"_a.none() = nb::none(), "keepdims"_a.none() = nb::none(), nb::sig(signature.c_str()),
      op.summary);
}

template <class T>
nb::object tuple_of_pair(const std::pair<T, T>& pair) {
  return nb::make_tuple(nb::cast(pair.first), nb::cast(pair.second));
}

template <class Scope, class... First>
void define_masked(Scope& scope, const masked::PairReduction& op, const char* input,
                   const char* result, First... first) {
  using namespace nb::literals;
  const std::string signature = fmt::format(
      "def {}({}, {}, *, keepdim: bool = False, mask: object = None, {}) -> tuple[{}, {}]", op.name,
      input, dim_signature, axis_signature, result, result);
  scope.def(
      op.name,
      [&op](nb::handle input_, nb::handle dim, nb::handle keepdim, nb::handle mask, nb::handle axis,
            nb::handle keepdims) {
        const ReduceCall call(op.name, op.takes_one_dim, dim, keepdim, nb::none(), mask, axis,
                              keepdims);
        const masked::PairOptions options{.mask = call.mask_copy(), .keepdim = call.keepdim};
        if (const MaskedTensor* x = masked_tensor_in(input_)) {
          return tuple_of_pair(without_gil(x->size(), [&] { return op(*x, call.dims, options); }));
        }
        const TensorArgument x(op.name, input_);
        return tuple_of_pair(without_gil(x->size(), [&] { return op(*x, call.dims, options); }));
      },
      first..., "dim"_a.none() = nb::none(), nb::kw_only(), "keepdim"_a.none() = nb::none(),
      "mask"_a.none() = nb::none(), "axis"_a.none() = nb::none(), "keepdims"_a.none() = nb::none(),
      nb::sig(signature.c_str()), op.summary);
}

}  // namespace loup::python
