#include <type_traits>

#include "loup/masked/masks.h"
#include "masked_define.h"

// Masked operators along lines, and logaddexp.

namespace loup::python {

using namespace nb::literals;

namespace {

/// dim or axis, of which one has to be there.
nb::handle required_dim(const char* operation, nb::handle dim, nb::handle axis) {
  const nb::handle given = either(operation, "dim", dim, "axis", axis);
  if (is_absent(given) || given.is_none()) {
    throw_type_error("{}: expected dim as an int, got None", operation);
  }
  return given;
}

/// An operator along one dim; `lines(op, x, dim, arguments)` computes it for a tensor, without
/// copies of handles.
template <class Op, class Lines>
void define_line(const MaskedScopes& scopes, const Op& op, const Lines& lines) {
  define_everywhere(
      scopes, op,
      ", dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int | None = "
      "None",
      "{0}",
      [&op, lines](nb::handle input, nb::handle dim, nb::handle dtype, nb::handle mask,
                   nb::handle axis) {
        const std::int64_t along = integer_from(op.name, required_dim(op.name, dim, axis));
        const std::optional<DType> type = dtype_from(op.name, dtype);
        const MaskArgument given(op.name, mask);
        return with_masked_input(
            op.name, input, given,
            [&](const MaskedTensor& x) {
              return op(x, along, {.mask = given.copy(), .dtype = type});
            },
            [&](const Tensor& x) {
              return lines(op, x, along, ops::LineArguments{.mask = given.get(), .dtype = type});
            });
      },
      "dim"_a.none() = absent(), nb::kw_only(), "dtype"_a.none() = nb::none(),
      "mask"_a.none() = nb::none(), "axis"_a.none() = absent());
}

/// `mask` stands for the masks of both operands.
masked::LogAddExpOptions log_add_exp_options(const masked::LogAddExp& op, nb::handle dtype,
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
nb::object call_log_add_exp(const masked::LogAddExp& op, nb::handle input, nb::handle other,
                            const masked::LogAddExpOptions& options) {
  if (masked_tensor_in(input) == nullptr && masked_tensor_in(other) == nullptr) {
    const TensorArgument x(op.name, input);
    const TensorArgument y(op.name, other);
    return nb::cast(without_gil(x->size() + y->size(), [&] { return op(*x, *y, options); }));
  }
  const MaskedTensor x = masked_from(op.name, input);
  const MaskedTensor y = masked_from(op.name, other);
  return nb::cast(without_gil(x.size() + y.size(), [&] { return op(x, y, options); }));
}

}  // namespace

void define_masked(const MaskedScopes& scopes, const masked::Normalization& op) {
  define_line(scopes, op, ops::softmax_lines);
}
void define_masked(const MaskedScopes& scopes, const masked::Scan& op) {
  define_line(scopes, op,
              [](const auto& spec, const Tensor& x, std::int64_t dim,
                 const ops::LineArguments& given) { return ops::scan(spec, x, dim, given); });
}

void define_masked(const MaskedScopes& scopes, const masked::NormDivision& op) {
  define_everywhere(
      scopes, op,
      ", ord: float, dim: int | collections.abc.Sequence[int] | None = None, *, eps: float = "
      "1e-12, dtype: object = None, mask: object = None, axis: int | "
      "collections.abc.Sequence[int] | None = None",
      "{0}",
      [&op](nb::handle input, nb::handle ord, nb::handle dim, nb::handle eps, nb::handle dtype,
            nb::handle mask, nb::handle axis) {
        const Dims dims = dims_from(op.name, required_dim(op.name, dim, axis));
        const double order = real_from(op.name, "ord", ord);
        const double least = real_from(op.name, "eps", eps);
        const std::optional<DType> type = dtype_from(op.name, dtype);
        const MaskArgument given(op.name, mask);
        return with_masked_input(
            op.name, input, given,
            [&](const MaskedTensor& x) {
              return op(x, order, dims, {.eps = least, .mask = given.copy(), .dtype = type});
            },
            [&](const Tensor& x) {
              return ops::normalize_lines(x, order, dims,
                                          {.eps = least, .mask = given.get(), .dtype = type});
            });
      },
      "ord"_a.none(), "dim"_a.none() = absent(), nb::kw_only(), "eps"_a = 1e-12,
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent());
}

/// Only where masks are meant: loup.logaddexp and the method of Tensor are the operator without.
void define_masked(const MaskedScopes& scopes, const masked::LogAddExp& op) {
  scopes.functions.def(
      op.name,
      [&op](nb::handle input, nb::handle other, nb::handle dtype, nb::handle input_mask,
            nb::handle other_mask, nb::handle mask, nb::handle input1, nb::handle input2) {
        return call_log_add_exp(op, either(op.name, "input", input, "input1", input1),
                                either(op.name, "other", other, "input2", input2),
                                log_add_exp_options(op, dtype, input_mask, other_mask, mask));
      },
      "input"_a.none() = absent(), "other"_a.none() = absent(), nb::kw_only(),
      "dtype"_a.none() = nb::none(), "input_mask"_a.none() = nb::none(),
      "other_mask"_a.none() = nb::none(), "mask"_a.none() = nb::none(),
      "input1"_a.none() = absent(), "input2"_a.none() = absent(),
      nb::sig("def logaddexp(input: object = None, other: object = None, *, dtype: object = None, "
              "input_mask: object = None, other_mask: object = None, mask: object = None, input1: "
              "object = None, input2: object = None) -> typing.Any"),
      op.summary);
  // The method is that of the elementwise operator: it counts where both operands do.
}

Tensor mask_of(const masked::Normalization& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dim(op.name), {.mask = query.mask, .dtype = {}});
}
Tensor mask_of(const masked::Scan& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dim(op.name), {.mask = query.mask, .dtype = {}});
}
Tensor mask_of(const masked::NormDivision& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dims, {.mask = query.mask, .dtype = {}});
}
Tensor mask_of(const masked::LogAddExp& op, const MaskQuery& query) {
  const MaskedTensor y = masked_from("output_mask", query.other);
  const auto mask_from = [&](nb::handle operand, nb::handle own) {
    return combined_mask("output_mask", operand,
                         query.given_mask.is_none() ? own : query.given_mask);
  };
  return op.output_mask(query.x, y.get_data(),
                        {.input_mask = mask_from(query.input, query.input_mask),
                         .other_mask = mask_from(query.other, query.other_mask),
                         .dtype = {}});
}

}  // namespace loup::python
