#include "loup/ops/sort.h"

#include "arguments.h"
#include "define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

/// (values, indices), with names.
nb::object named(const ops::Sorted& sorted) {
  static const nb::handle type =
      nb::module_::import_("collections")
          .attr("namedtuple")("Sorted", nb::make_tuple("values", "indices"))
          .release();
  return type(sorted.values, sorted.indices);
}

nb::object sort(nb::handle input, nb::handle dim, bool descending, bool /*stable*/,
                nb::handle axis) {
  const TensorArgument x("sort", input);
  const std::int64_t along = integer_from("sort", dim_or_axis(dim, axis));
  return named(without_gil(x->size(), [&] { return ops::sort(*x, along, descending); }));
}

Tensor argsort(nb::handle input, nb::handle dim, bool descending, bool /*stable*/,
               nb::handle axis) {
  const TensorArgument x("argsort", input);
  const std::int64_t along = integer_from("argsort", dim_or_axis(dim, axis));
  return without_gil(x->size(), [&] { return ops::argsort(*x, along, descending); });
}

nb::object topk(nb::handle input, nb::handle k, nb::handle dim, bool largest, bool /*sorted*/) {
  const TensorArgument x("topk", input);
  const std::int64_t count = integer_from("topk", k);
  const std::int64_t along = integer_from("topk", dim);
  return named(without_gil(x->size(), [&] { return ops::topk(*x, count, along, largest); }));
}

}  // namespace

void bind_sort(nb::module_& m) {
  define(m, "sort", sort, "dim"_a = -1, "descending"_a = false, "stable"_a = true, nb::kw_only(),
         "axis"_a.none() = nb::none());
  define(m, "argsort", argsort, "dim"_a = -1, "descending"_a = false, "stable"_a = true,
         nb::kw_only(), "axis"_a.none() = nb::none());
  define(m, "topk", topk, "k"_a, "dim"_a = -1, "largest"_a = true, "sorted"_a = true);
}

}  // namespace loup::python
