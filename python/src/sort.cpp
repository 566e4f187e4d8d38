#include "loup/ops/sort.h"

#include "arguments.h"
#include "define.h"
#include "loup/masked/order.h"

namespace loup::python {

using namespace nb::literals;

namespace {

ops::Sorted sort_of(const Tensor& x, std::int64_t dim, bool descending) {
  return ops::sort(x, dim, descending);
}
masked::Sorted sort_of(const MaskedTensor& x, std::int64_t dim, bool descending) {
  return masked::sort(x, dim, descending);
}
Tensor argsort_of(const Tensor& x, std::int64_t dim, bool descending) {
  return ops::argsort(x, dim, descending);
}
Tensor argsort_of(const MaskedTensor& x, std::int64_t dim, bool descending) {
  return masked::argsort(x, dim, descending);
}
ops::Sorted topk_of(const Tensor& x, std::int64_t k, std::int64_t dim, bool largest) {
  return ops::topk(x, k, dim, largest);
}
masked::Sorted topk_of(const MaskedTensor& x, std::int64_t k, std::int64_t dim, bool largest) {
  return masked::topk(x, k, dim, largest);
}

/// (values, indices), with names.
template <class Sorted>
nb::object named(const Sorted& sorted) {
  static const nb::handle type =
      nb::module_::import_("collections")
          .attr("namedtuple")("Sorted", nb::make_tuple("values", "indices"))
          .release();
  return type(sorted.values, sorted.indices);
}

nb::object sort(nb::handle input, nb::handle dim, bool descending, bool /*stable*/,
                nb::handle axis) {
  const std::int64_t along = integer_from("sort", dim_or_axis(dim, axis));
  return with_input(
      "sort", input, [&](const auto& x) { return sort_of(x, along, descending); },
      [](const auto& sorted) { return named(sorted); });
}

nb::object argsort(nb::handle input, nb::handle dim, bool descending, bool /*stable*/,
                   nb::handle axis) {
  const std::int64_t along = integer_from("argsort", dim_or_axis(dim, axis));
  return with_input("argsort", input,
                    [&](const auto& x) { return argsort_of(x, along, descending); });
}

nb::object topk(nb::handle input, nb::handle k, nb::handle dim, bool largest, bool /*sorted*/) {
  const std::int64_t count = integer_from("topk", k);
  const std::int64_t along = integer_from("topk", dim);
  return with_input(
      "topk", input, [&](const auto& x) { return topk_of(x, count, along, largest); },
      [](const auto& sorted) { return named(sorted); });
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
