#include "masked_ranks.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nanobind/stl/string_view.h>

#include "loup/base/error.h"

namespace loup::python {

using namespace nb::literals;

namespace {

// --- arguments ---

/// The default of an argument that has two spellings, so that one knows whether it was given.
nb::object absent() { return nb::ellipsis(); }
bool is_absent(nb::handle object) { return object.is(nb::ellipsis()); }

/// The one of two spellings that was given; absent() when none was.
nb::handle either(const char* operation, const char* ours, nb::handle first, const char* theirs,
                  nb::handle second) {
  if (is_absent(second)) return first;
  if (!is_absent(first)) {
    throw_type_error("{}: expected {} or {}, got both", operation, ours, theirs);
  }
  return second;
}

bool flag_from(const char* operation, const char* argument, nb::handle object) {
  if (is_absent(object) || object.is_none() || object.ptr() == Py_False) return false;
  if (object.ptr() == Py_True) return true;
  throw_type_error("{}: expected {} as a bool, got {}", operation, argument, class_name(object));
}

bool keepdim_from(const char* operation, nb::handle keepdim, nb::handle keepdims) {
  return flag_from(operation, "keepdim",
                   either(operation, "keepdim", keepdim, "keepdims", keepdims));
}

/// None means absent.
std::optional<Tensor> tensor_from(const char* operation, nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return as_tensor(operation, object);
}

/// Arrays have __index__, too.
bool is_number(nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyBool_Check(o)) return false;
  return PyFloat_Check(o) || (PyIndex_Check(o) != 0 && PySequence_Check(o) == 0);
}

double real_from(const char* operation, const char* argument, nb::handle object) {
  if (!is_number(object)) {
    throw_type_error("{}: expected {} as a number, got {}", operation, argument,
                     class_name(object));
  }
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

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

// --- definitions ---

/// Calls `call(x)` with a MaskedTensor or with anything that becomes a tensor.
template <class Call>
nb::object with_input(const char* operation, nb::handle input, const Call& call) {
  if (const MaskedTensor* x = masked_tensor_in(input)) {
    return nb::cast(without_gil(x->size(), [&] { return call(*x); }));
  }
  const TensorArgument x(operation, input);
  return nb::cast(without_gil(x->size(), [&] { return call(*x); }));
}

/// Adds `f` to the modules and as a method to both classes. `rest` is the signature behind the
/// input.
template <class Op, class F, class... Extra>
void define_all(const RankScopes& scopes, const Op& op, const char* rest, const char* result,
                const F& f, const Extra&... extra) {
  const bool is_tensor = result == nullptr;
  const auto signature = [&](const char* input, const char* own) {
    return fmt::format("def {}({}{}) -> {}", op.name, input, rest, is_tensor ? own : result);
  };
  const std::string function = signature("input: object", "typing.Any");
  scopes.functions.def(op.name, f, "input"_a.none(), extra..., nb::sig(function.c_str()),
                       op.summary);
  scopes.module.def(op.name, f, "input"_a.none(), extra..., nb::sig(function.c_str()), op.summary);
  const std::string method = signature("self", "Tensor");
  nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>())
      .def(op.name, f, extra..., nb::sig(method.c_str()), op.summary);
  const std::string masked_method = signature("self", "MaskedTensor");
  nb::borrow<nb::class_<MaskedTensor>>(nb::type<MaskedTensor>())
      .def(op.name, f, extra..., nb::sig(masked_method.c_str()), op.summary);
}

/// (hist, bin_edges), with names.
nb::object named(const masked::BinCounts& counts) {
  static const nb::handle type =
      nb::module_::import_("collections")
          .attr("namedtuple")("Histogram", nb::make_tuple("hist", "bin_edges"))
          .release();
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

void define_rank(const RankScopes& scopes, const masked::Median& op) {
  define_all(
      scopes, op,
      ", dim: int = -1, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: "
      "int = -1, keepdims: bool = False",
      nullptr,
      [&op](nb::handle input, nb::handle dim, nb::handle keepdim, nb::handle dtype, nb::handle mask,
            nb::handle axis, nb::handle keepdims) {
        const nb::handle given = either(op.name, "dim", dim, "axis", axis);
        const std::int64_t along = is_absent(given) ? -1 : integer_from(op.name, given);
        const masked::MedianOptions options{.mask = tensor_from(op.name, mask),
                                            .keepdim = keepdim_from(op.name, keepdim, keepdims),
                                            .dtype = dtype_from(op.name, dtype)};
        return with_input(op.name, input, [&](const auto& x) { return op(x, along, options); });
      },
      "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

void define_rank(const RankScopes& scopes, const masked::Quantile& op) {
  define_all(
      scopes, op,
      ", q: object, dim: int | None = None, *, keepdim: bool = False, interpolation: str = "
      "'linear', dtype: object = None, mask: object = None, axis: int | None = None, keepdims: "
      "bool "
      "= False",
      nullptr,
      [&op](nb::handle input, nb::handle q, nb::handle dim, nb::handle keepdim,
            std::string_view interpolation, nb::handle dtype, nb::handle mask, nb::handle axis,
            nb::handle keepdims) {
        const Places places(q);
        const nb::handle given = either(op.name, "dim", dim, "axis", axis);
        std::optional<std::int64_t> along;
        if (!is_absent(given) && !given.is_none()) along = integer_from(op.name, given);
        const masked::QuantileOptions options{.mask = tensor_from(op.name, mask),
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

void define_rank(const RankScopes& scopes, const masked::Histogram& op) {
  define_all(
      scopes, op,
      ", bins: object = 10, *, range: tuple[float, float] | None = None, density: bool = False, "
      "weight: object = None, mask: object = None",
      "tuple[Tensor, Tensor]",
      [&op](nb::handle input, nb::handle bins, nb::handle range, nb::handle density,
            nb::handle weight, nb::handle mask) {
        const masked::Bins cut = bins_from(bins);
        const masked::HistogramOptions options{.range = range_from(range),
                                               .density = flag_from(op.name, "density", density),
                                               .weight = tensor_from(op.name, weight),
                                               .mask = tensor_from(op.name, mask)};
        if (const MaskedTensor* x = masked_tensor_in(input)) {
          return named(without_gil(x->size(), [&] { return op(*x, cut, options); }));
        }
        const TensorArgument x(op.name, input);
        return named(without_gil(x->size(), [&] { return op(*x, cut, options); }));
      },
      "bins"_a = 10, nb::kw_only(), "range"_a.none() = nb::none(), "density"_a = false,
      "weight"_a.none() = nb::none(), "mask"_a.none() = nb::none());
}

void define_rank(const RankScopes& scopes, const masked::Covariance& op) {
  define_all(
      scopes, op,
      ", *, correction: float = 1, fweights: object = None, aweights: object = None, mask: object "
      "= "
      "None",
      nullptr,
      [&op](nb::handle input, nb::handle correction, nb::handle fweights, nb::handle aweights,
            nb::handle mask) {
        const masked::CovarianceOptions options{
            .correction = real_from(op.name, "correction", correction),
            .fweights = tensor_from(op.name, fweights),
            .aweights = tensor_from(op.name, aweights),
            .mask = tensor_from(op.name, mask)};
        return with_input(op.name, input, [&](const auto& x) { return op(x, options); });
      },
      nb::kw_only(), "correction"_a = 1, "fweights"_a.none() = nb::none(),
      "aweights"_a.none() = nb::none(), "mask"_a.none() = nb::none());
}

void define_rank(const RankScopes& scopes, const masked::Correlation& op) {
  define_all(
      scopes, op, ", *, mask: object = None", nullptr,
      [&op](nb::handle input, nb::handle mask) {
        const masked::CorrelationOptions options{.mask = tensor_from(op.name, mask)};
        return with_input(op.name, input, [&](const auto& x) { return op(x, options); });
      },
      nb::kw_only(), "mask"_a.none() = nb::none());
}

void define_rank(const RankScopes& scopes, const masked::WeightedMean& op) {
  define_all(
      scopes, op,
      ", weight: object, dim: int | collections.abc.Sequence[int] | None = None, *, keepdim: bool "
      "= "
      "False, dtype: object = None, mask: object = None, axis: int | collections.abc.Sequence[int] "
      "| None = None, keepdims: bool = False",
      nullptr,
      [&op](nb::handle input, nb::handle weight, nb::handle dim, nb::handle keepdim,
            nb::handle dtype, nb::handle mask, nb::handle axis, nb::handle keepdims) {
        const nb::handle given = either(op.name, "dim", dim, "axis", axis);
        const Dims dims = is_absent(given) ? Dims() : dims_from(op.name, given);
        const TensorArgument weights(op.name, weight);
        const masked::WeightedMeanOptions options{
            .mask = tensor_from(op.name, mask),
            .keepdim = keepdim_from(op.name, keepdim, keepdims),
            .dtype = dtype_from(op.name, dtype)};
        return with_input(op.name, input,
                          [&](const auto& x) { return op(x, *weights, dims, options); });
      },
      "weight"_a, "dim"_a.none() = absent(), nb::kw_only(), "keepdim"_a.none() = absent(),
      "dtype"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "axis"_a.none() = absent(),
      "keepdims"_a.none() = absent());
}

// --- output_mask ---

namespace {

std::int64_t one_dim(const char* operation, const Dims& dims) {
  if (dims.size() != 1) {
    throw_type_error("output_mask: expected dim as an int for {}, got {} dims", operation,
                     dims.size());
  }
  return dims[0];
}

}  // namespace

Tensor rank_mask(const masked::Median& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask) {
  const std::int64_t dim = dims.empty() ? -1 : one_dim(op.name, dims);
  return op.output_mask(x, dim, {.mask = mask, .keepdim = keepdim, .dtype = {}});
}

Tensor rank_mask(const masked::Quantile& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask) {
  std::optional<std::int64_t> dim;
  if (!dims.empty()) dim = one_dim(op.name, dims);
  return op.output_mask(x, dim,
                        {.mask = mask, .keepdim = keepdim, .interpolation = {}, .dtype = {}});
}

Tensor rank_mask(const masked::Histogram& op, const Tensor& /*x*/, const Dims& /*dims*/,
                 bool /*keepdim*/, const std::optional<Tensor>& /*mask*/) {
  throw ValueError("output_mask: expected an operator whose result has a mask, got '{}'", op.name);
}

Tensor rank_mask(const masked::Covariance& op, const Tensor& x, const Dims& /*dims*/,
                 bool /*keepdim*/, const std::optional<Tensor>& mask) {
  return op.output_mask(x, {.correction = 1, .fweights = {}, .aweights = {}, .mask = mask});
}

Tensor rank_mask(const masked::Correlation& op, const Tensor& x, const Dims& /*dims*/,
                 bool /*keepdim*/, const std::optional<Tensor>& mask) {
  return op.output_mask(x, {.mask = mask});
}

Tensor rank_mask(const masked::WeightedMean& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask) {
  return op.output_mask(x, dims, {.mask = mask, .keepdim = keepdim, .dtype = {}});
}

}  // namespace loup::python
