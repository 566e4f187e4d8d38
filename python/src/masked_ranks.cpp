#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string_view.h>

#include "loup/base/error.h"
#include "loup/ops/median.h"
#include "masked_define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

/// One place, or several.
struct Places {
  explicit Places(nb::handle q) {
    if (is_number(q)) {
      values.push_back(real_from("quantile", "q", q));
      is_one = true;
    } else if (nb::isinstance<nb::list>(q) || nb::isinstance<nb::tuple>(q)) {
      // Numbers as they are: a tensor of them would be of float32.
      for (const nb::handle each : nb::borrow<nb::sequence>(q)) {
        values.push_back(real_from("quantile", "q", each));
      }
    } else {
      const TensorArgument x("quantile", q);
      if (x->ndim() > 1) {
        throw ShapeError("quantile: expected q as a number or a vector, got shape {}", x->shape());
      }
      is_one = x->ndim() == 0;
      for (std::int64_t i = 0; i < x->size(); ++i) {
        values.push_back(x->at<double>(is_one ? Dims() : Dims(i)));
      }
    }
  }

  std::vector<double> values;
  bool is_one = false;
};

/// (hist, bin_edges), with names.
nb::object named_histogram(const masked::BinCounts& counts) {
  static const nb::handle type = result_class("Histogram");
  return type(counts.counts, counts.edges);
}

std::optional<std::pair<double, double>> range_from(nb::handle range) {
  if (range.is_none()) return std::nullopt;
  if (!nb::isinstance<nb::sequence>(range) || nb::len(range) != 2) {
    throw_type_error("histogram: expected range as a pair of numbers, got {}", class_name(range));
  }
  return std::pair(real_from("histogram", "range", nb::object(range[0])),
                   real_from("histogram", "range", nb::object(range[1])));
}

masked::Bins bins_from(nb::handle bins) {
  if (is_number(bins)) return integer_from("histogram", bins);
  return as_tensor("histogram", bins);
}

}  // namespace

void define_masked(const MaskedScopes& scopes, const masked::Median& op) {
  define_everywhere(
      scopes, op,
      ", dim: int = -1, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: "
      "int = -1, keepdims: bool = False",
      "{0}",
      [&op](nb::handle input, nb::handle dim, nb::handle keepdim, nb::handle dtype, nb::handle mask,
            nb::handle axis, nb::handle keepdims) {
        const nb::handle given = either(op.name, "dim", dim, "axis", axis);
        const std::int64_t along = is_absent(given) ? -1 : integer_from(op.name, given);
        const bool keeps = keepdim_from(op.name, keepdim, keepdims);
        const std::optional<DType> type = dtype_from(op.name, dtype);
        const MaskArgument counts(op.name, mask);
        return with_masked_input(
            op.name, input, counts,
            [&](const MaskedTensor& x) {
              return op(x, along, {.mask = counts.copy(), .keepdim = keeps, .dtype = type});
            },
            [&](const Tensor& x) {
              return ops::median_along(x, along,
                                       {.mask = counts.get(), .keepdim = keeps, .dtype = type});
            });
      },
      "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

void define_masked(const MaskedScopes& scopes, const masked::Quantile& op) {
  define_everywhere(
      scopes, op,
      ", q: object, dim: int | None = None, *, keepdim: bool = False, interpolation: str = "
      "'linear', dtype: object = None, mask: object = None, axis: int | None = None, keepdims: "
      "bool "
      "= False",
      "{0}",
      [&op](nb::handle input, nb::handle q, nb::handle dim, nb::handle keepdim,
            std::string_view interpolation, nb::handle dtype, nb::handle mask, nb::handle axis,
            nb::handle keepdims) {
        const Places places(q);
        const nb::handle given = either(op.name, "dim", dim, "axis", axis);
        std::optional<std::int64_t> along;
        if (!is_absent(given) && !given.is_none()) along = integer_from(op.name, given);
        const masked::QuantileOptions options{.mask = optional_tensor(op.name, mask),
                                              .keepdim = keepdim_from(op.name, keepdim, keepdims),
                                              .interpolation = ops::interpolation_of(interpolation),
                                              .dtype = dtype_from(op.name, dtype)};
        return with_input(op.name, input, [&](const auto& x) {
          return places.is_one ? op(x, places.values[0], along, options)
                               : op(x, places.values, along, options);
        });
      },
      "q"_a, "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "interpolation"_a = "linear", "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(),
      "axis"_a.none() = absent(), "keepdims"_a.none() = absent());
}

void define_masked(const MaskedScopes& scopes, const masked::Histogram& op) {
  define_everywhere(
      scopes, op,
      ", bins: object = 10, *, range: tuple[float, float] | None = None, density: bool = False, "
      "weight: object = None, mask: object = None",
      "tuple[typing.Any, typing.Any]",
      [&op](nb::handle input, nb::handle bins, nb::handle range, nb::handle density,
            nb::handle weight, nb::handle mask) {
        const masked::Bins cut = bins_from(bins);
        const masked::HistogramOptions options{.range = range_from(range),
                                               .density = flag_from(op.name, "density", density),
                                               .weight = optional_tensor(op.name, weight),
                                               .mask = optional_tensor(op.name, mask)};
        return with_input(
            op.name, input, [&](const auto& x) { return op(x, cut, options); }, named_histogram);
      },
      "bins"_a = 10, nb::kw_only(), "range"_a.none() = nb::none(), "density"_a = false,
      "weight"_a.none() = nb::none(), "mask"_a.none() = nb::none());
}

void define_masked(const MaskedScopes& scopes, const masked::Covariance& op) {
  define_everywhere(
      scopes, op,
      ", *, correction: float = 1, fweights: object = None, aweights: object = None, mask: object "
      "= "
      "None",
      "{0}",
      [&op](nb::handle input, nb::handle correction, nb::handle fweights, nb::handle aweights,
            nb::handle mask) {
        const masked::CovarianceOptions options{
            .correction = real_from(op.name, "correction", correction),
            .fweights = optional_tensor(op.name, fweights),
            .aweights = optional_tensor(op.name, aweights),
            .mask = optional_tensor(op.name, mask)};
        return with_input(op.name, input, [&](const auto& x) { return op(x, options); });
      },
      nb::kw_only(), "correction"_a = 1, "fweights"_a.none() = nb::none(),
      "aweights"_a.none() = nb::none(), "mask"_a.none() = nb::none());
}

void define_masked(const MaskedScopes& scopes, const masked::Correlation& op) {
  define_everywhere(
      scopes, op, ", *, mask: object = None", "{0}",
      [&op](nb::handle input, nb::handle mask) {
        const masked::CorrelationOptions options{.mask = optional_tensor(op.name, mask)};
        return with_input(op.name, input, [&](const auto& x) { return op(x, options); });
      },
      nb::kw_only(), "mask"_a.none() = nb::none());
}

void define_masked(const MaskedScopes& scopes, const masked::WeightedMean& op) {
  define_everywhere(
      scopes, op,
      ", weight: object, dim: int | collections.abc.Sequence[int] | None = None, *, keepdim: bool "
      "= "
      "False, dtype: object = None, mask: object = None, axis: int | collections.abc.Sequence[int] "
      "| None = None, keepdims: bool = False",
      "{0}",
      [&op](nb::handle input, nb::handle weight, nb::handle dim, nb::handle keepdim,
            nb::handle dtype, nb::handle mask, nb::handle axis, nb::handle keepdims) {
        const nb::handle given = either(op.name, "dim", dim, "axis", axis);
        const Dims dims = is_absent(given) ? Dims() : dims_from(op.name, given);
        const TensorArgument weights(op.name, weight);
        const masked::WeightedMeanOptions options{
            .mask = optional_tensor(op.name, mask),
            .keepdim = keepdim_from(op.name, keepdim, keepdims),
            .dtype = dtype_from(op.name, dtype)};
        return with_input(op.name, input,
                          [&](const auto& x) { return op(x, *weights, dims, options); });
      },
      "weight"_a, "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

Tensor mask_of(const masked::Median& op, const MaskQuery& query) {
  const std::int64_t dim = query.dims.empty() ? -1 : query.dim(op.name);
  return op.output_mask(query.x, dim, {.mask = query.mask, .keepdim = query.keepdim, .dtype = {}});
}
Tensor mask_of(const masked::Quantile& op, const MaskQuery& query) {
  std::optional<std::int64_t> dim;
  if (!query.dims.empty()) dim = query.dim(op.name);
  return op.output_mask(
      query.x, dim,
      {.mask = query.mask, .keepdim = query.keepdim, .interpolation = {}, .dtype = {}});
}
Tensor mask_of(const masked::Histogram& op, const MaskQuery& /*query*/) {
  throw ValueError("output_mask: expected an operator whose result has a mask, got '{}'", op.name);
}
Tensor mask_of(const masked::Covariance& op, const MaskQuery& query) {
  return op.output_mask(query.x,
                        {.correction = 1, .fweights = {}, .aweights = {}, .mask = query.mask});
}
Tensor mask_of(const masked::Correlation& op, const MaskQuery& query) {
  return op.output_mask(query.x, {.mask = query.mask});
}
Tensor mask_of(const masked::WeightedMean& op, const MaskQuery& query) {
  return op.output_mask(query.x, query.dims,
                        {.mask = query.mask, .keepdim = query.keepdim, .dtype = {}});
}

}  // namespace loup::python
