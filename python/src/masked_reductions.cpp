#include <utility>

#include "loup/base/error.h"
#include "loup/masked/ops.h"
#include "loup/masked/poison.h"
#include "masked_define.h"

// Masked operators that make one element of many.

namespace loup::python {

using namespace nb::literals;

namespace {

/// None and absent() are all dims; an operator that takes no more than one wants an int.
Dims reduced_dims(const char* operation, bool takes_one_dim, nb::handle given) {
  if (is_absent(given) || given.is_none()) return {};
  if (takes_one_dim) return {integer_from(operation, given)};
  return dims_from(operation, given);
}

/// The arguments of a reduction, converted. The mask is borrowed where it is a loup tensor: copying
/// a handle would cost as much as checking it.
struct ReduceCall {
  ReduceCall(const char* name, bool takes_one_dim, nb::handle dim, nb::handle keep, nb::handle type,
             nb::handle given, nb::handle axis, nb::handle keeps)
      : dims(reduced_dims(name, takes_one_dim, either(name, "dim", dim, "axis", axis))),
        keepdim(keepdim_from(name, keep, keeps)),
        dtype(dtype_from(name, type)),
        mask(name, given) {}

  masked::ReduceOptions options() const {
    return {.mask = mask.copy(), .keepdim = keepdim, .dtype = dtype};
  }
  /// The same without copies of handles.
  ops::ReduceArguments arguments(double parameter = 0) const {
    return {.mask = mask.get(), .keepdim = keepdim, .dtype = dtype, .parameter = parameter};
  }

  Dims dims;
  bool keepdim;
  std::optional<DType> dtype;
  MaskArgument mask;
};

constexpr const char* dim_signature = ", dim: int | collections.abc.Sequence[int] | None = None";
constexpr const char* axis_signature =
    ", axis: int | collections.abc.Sequence[int] | None = None, keepdims: bool = False";
constexpr const char* options_signature =
    ", keepdim: bool = False, dtype: object = None, mask: object = None";

/// The correction that `unbiased` or `correction` stands for.
double correction_from(const char* operation, nb::handle unbiased, nb::handle correction) {
  if (!unbiased.is_none() && !correction.is_none()) {
    throw ValueError("{}: expected unbiased or correction, got both", operation);
  }
  if (!correction.is_none()) return real_from(operation, "correction", correction);
  return unbiased.is_none() || flag_from(operation, "unbiased", unbiased) ? 1 : 0;
}

}  // namespace

void define_masked(const MaskedScopes& scopes, const masked::Reduction& op) {
  define_everywhere(
      scopes, op, fmt::format("{}, *{}{}", dim_signature, options_signature, axis_signature), "{0}",
      [&op](nb::handle input, nb::handle dim, nb::handle keepdim, nb::handle dtype, nb::handle mask,
            nb::handle axis, nb::handle keepdims) {
        const ReduceCall call(op.name, op.takes_one_dim, dim, keepdim, dtype, mask, axis, keepdims);
        return with_masked_input(
            op.name, input, call.mask,
            [&](const MaskedTensor& x) { return op(x, call.dims, call.options()); },
            [&](const Tensor& x) { return ops::reduce(op, x, call.dims, call.arguments()); });
      },
      "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

void define_masked(const MaskedScopes& scopes, const masked::Deviation& op) {
  define_everywhere(
      scopes, op,
      fmt::format("{}, unbiased: bool | None = None, *, correction: float | None = None{}{}",
                  dim_signature, options_signature, axis_signature),
      "{0}",
      [&op](nb::handle input, nb::handle dim, nb::handle unbiased, nb::handle correction,
            nb::handle keepdim, nb::handle dtype, nb::handle mask, nb::handle axis,
            nb::handle keepdims) {
        const ReduceCall call(op.name, false, dim, keepdim, dtype, mask, axis, keepdims);
        const double corrects = correction_from(op.name, unbiased, correction);
        return with_masked_input(
            op.name, input, call.mask,
            [&](const MaskedTensor& x) {
              return op(x, call.dims,
                        {.correction = corrects,
                         .mask = call.mask.copy(),
                         .keepdim = call.keepdim,
                         .dtype = call.dtype});
            },
            [&](const Tensor& x) {
              return ops::reduce(op, x, call.dims, call.arguments(corrects));
            });
      },
      "dim"_a.none() = absent(), "unbiased"_a.none() = nb::none(), nb::kw_only(),
      "correction"_a.none() = nb::none(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

void define_masked(const MaskedScopes& scopes, const masked::Norm& op) {
  define_everywhere(
      scopes, op,
      fmt::format(", ord: float = 2.0{}, *{}{}", dim_signature, options_signature, axis_signature),
      "{0}",
      [&op](nb::handle input, nb::handle ord, nb::handle dim, nb::handle keepdim, nb::handle dtype,
            nb::handle mask, nb::handle axis, nb::handle keepdims) {
        const ReduceCall call(op.name, false, dim, keepdim, dtype, mask, axis, keepdims);
        const double order = real_from(op.name, "ord", ord);
        return with_masked_input(
            op.name, input, call.mask,
            [&](const MaskedTensor& x) { return op(x, order, call.dims, call.options()); },
            [&](const Tensor& x) { return ops::norm(x, order, call.dims, call.arguments()); });
      },
      "ord"_a.none() = 2.0, "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

void define_masked(const MaskedScopes& scopes, const masked::PairReduction& op) {
  define_everywhere(
      scopes, op,
      fmt::format("{}, *, keepdim: bool = False, mask: object = None{}", dim_signature,
                  axis_signature),
      op.takes_one_dim ? "typing.Any" : "tuple[{0}, {0}]",
      [&op](nb::handle input, nb::handle dim, nb::handle keepdim, nb::handle mask, nb::handle axis,
            nb::handle keepdims) {
        const ReduceCall call(op.name, op.takes_one_dim, dim, keepdim, nb::none(), mask, axis,
                              keepdims);
        if (op.takes_one_dim && call.dims.empty()) {  // of everything: without its place
          const masked::Reduction& whole =
              op.kernel == kernels::ReduceOp::argmax ? masked::amax : masked::amin;
          return with_input(op.name, input,
                            [&](const auto& x) { return whole(x, {}, call.options()); });
        }
        const masked::PairOptions options{.mask = call.mask.copy(), .keepdim = call.keepdim};
        return with_input(
            op.name, input, [&](const auto& x) { return op(x, call.dims, options); },
            [&op](auto pair) -> nb::object {
              static const nb::handle extreme = result_class("ValuesIndices");
              static const nb::handle both = result_class("MinMax");
              return (op.takes_one_dim ? extreme : both)(std::move(pair.first),
                                                         std::move(pair.second));
            });
      },
      "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "mask"_a.none() = nb::none(), "axis"_a.none() = absent(), "keepdims"_a.none() = absent());
}

Tensor mask_of(const masked::Reduction& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dims, {.mask = query.mask, .keepdim = query.keepdim});
}
Tensor mask_of(const masked::Deviation& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dims, {.mask = query.mask, .keepdim = query.keepdim});
}
Tensor mask_of(const masked::Norm& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dims, {.mask = query.mask, .keepdim = query.keepdim});
}
Tensor mask_of(const masked::PairReduction& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dims, {.mask = query.mask, .keepdim = query.keepdim});
}

}  // namespace loup::python
