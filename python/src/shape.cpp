#include "loup/ops/shape.h"

#include <string>

#include <nanobind/stl/string.h>

#include "arguments.h"
#include "define.h"
#include "loup/base/error.h"
#include "loup/masked/scatter.h"

namespace loup::python {

using namespace nb::literals;

namespace {

ops::Indexing indexing_from(const std::string& word) {
  if (word == "ij") return ops::Indexing::ij;
  if (word == "xy") return ops::Indexing::xy;
  throw ValueError("meshgrid: expected indexing 'ij' or 'xy', got '{}'", word);
}

nb::tuple meshgrid(const nb::args& vectors, const std::string& indexing) {
  const bool is_one_list = vectors.size() == 1 && (nb::isinstance<nb::list>(vectors[0]) ||
                                                   nb::isinstance<nb::tuple>(vectors[0]));
  const std::vector<Tensor> tensors =
      tensors_from("meshgrid", is_one_list ? nb::handle(vectors[0]) : nb::handle(vectors));
  return tuple_of(ops::meshgrid(tensors, indexing_from(indexing)));
}

void bind_dims(nb::module_& m) {
  define_alike(
      m, "movedim",
      [](nb::handle input, nb::handle source, nb::handle destination) {
        const TensorArgument x("movedim", input);
        return ops::movedim(*x, dims_from("movedim", source), dims_from("movedim", destination));
      },
      "source"_a, "destination"_a);
  define_alike(
      m, "swapaxes",
      [](nb::handle input, nb::handle first, nb::handle second) {
        const TensorArgument x("swapaxes", input);
        return ops::swapaxes(*x, integer_from("swapaxes", first), integer_from("swapaxes", second));
      },
      "axis0"_a, "axis1"_a);
  define_alike(
      m, "unflatten",
      [](nb::handle input, nb::handle dim, nb::handle sizes) {
        const TensorArgument x("unflatten", input);
        return ops::unflatten(*x, integer_from("unflatten", dim), dims_from("unflatten", sizes));
      },
      "dim"_a, "sizes"_a);
  define_alike(
      m, "diagonal",
      [](nb::handle input, nb::handle offset, nb::handle dim1, nb::handle dim2) {
        const TensorArgument x("diagonal", input);
        return ops::diagonal(*x, integer_from("diagonal", offset), integer_from("diagonal", dim1),
                             integer_from("diagonal", dim2));
      },
      "offset"_a = 0, "dim1"_a = 0, "dim2"_a = 1);
  define_function(m, "meshgrid", meshgrid, "tensors"_a, "indexing"_a = "ij");
}

void bind_moves(nb::module_& m) {
  define_alike(
      m, "flip",
      [](nb::handle input, nb::handle dims, nb::handle axis) {
        const TensorArgument x("flip", input);
        const Dims chosen = dims_from("flip", dim_or_axis(dims, axis));
        return without_gil(x->size(), [&] { return ops::flip(*x, chosen); });
      },
      "dims"_a.none() = nb::none(), nb::kw_only(), "axis"_a.none() = nb::none());
  define_alike(
      m, "roll",
      [](nb::handle input, nb::handle shifts, nb::handle dims, nb::handle axis) {
        const TensorArgument x("roll", input);
        const Dims distance = dims_from("roll", shifts);
        const Dims chosen = dims_from("roll", dim_or_axis(dims, axis));
        return without_gil(x->size(), [&] { return ops::roll(*x, distance, chosen); });
      },
      "shifts"_a, "dims"_a.none() = nb::none(), nb::kw_only(), "axis"_a.none() = nb::none());
}

using Repeat = Tensor (*)(const Tensor&, const Dims&);
void define_repeat(nb::module_& m, const char* name, Repeat repeat) {
  define_alike(
      m, name,
      [name, repeat](nb::handle input, const nb::args& args) {
        const TensorArgument x(name, input);
        const Dims repeats = dims_from_args(name, args);
        return without_gil(x->size(), [&] { return repeat(*x, repeats); });
      },
      "repeats"_a);
}

template <auto triangle, auto masked_triangle>
void define_triangle(nb::module_& m, const char* name) {
  define(
      m, name,
      [name](nb::handle input, nb::handle diagonal) {
        const std::int64_t offset = integer_from(name, diagonal);
        if (const MaskedTensor* const x = masked_tensor_in(input)) {
          return nb::cast(without_gil(x->size(), [&] { return masked_triangle(*x, offset); }));
        }
        const TensorArgument x(name, input);
        return nb::cast(without_gil(x->size(), [&] { return triangle(*x, offset); }));
      },
      "diagonal"_a = 0);
}

}  // namespace

void bind_shape(nb::module_& m) {
  bind_dims(m);
  bind_moves(m);
  define_repeat(m, "repeat", ops::repeat);
  define_repeat(m, "tile", ops::tile);
  define_alike(
      m, "repeat_interleave",
      [](nb::handle input, nb::handle repeats, nb::handle dim, nb::handle axis) {
        const char* const name = "repeat_interleave";
        const TensorArgument x(name, input);
        const std::int64_t count = integer_from(name, repeats);
        const nb::handle chosen = dim_or_axis(dim, axis);
        std::optional<std::int64_t> along;
        if (!chosen.is_none()) along = integer_from(name, chosen);
        return without_gil(x->size(), [&] { return ops::repeat_interleave(*x, count, along); });
      },
      "repeats"_a, "dim"_a.none() = nb::none(), nb::kw_only(), "axis"_a.none() = nb::none());
  define_triangle<ops::tril, masked::tril>(m, "tril");
  define_triangle<ops::triu, masked::triu>(m, "triu");
}

}  // namespace loup::python
