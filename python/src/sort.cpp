#include "loup/ops/sort.h"

#include "arguments.h"
#include "define.h"
#include "loup/masked/order.h"

namespace loup::python {

using namespace nb::literals;

namespace {

/// (values, indices), with names.
template <class Sorted>
nb::object named(const Sorted& sorted) {
  static const nb::handle type = result_class("ValuesIndices");
  return type(sorted.values, sorted.indices);
}

nb::object sort(nb::handle input, nb::handle dim, bool descending, bool /*stable*/,
                nb::handle axis) {
  const std::int64_t along = integer_from("sort", dim_or_axis(dim, axis));
  return with_input(
      "sort", input,
      [&](const auto& x) {
        using masked::sort;  // both: x decides
        using ops::sort;
        return sort(x, along, descending);
      },
      [](const auto& sorted) { return named(sorted); });
}

nb::object argsort(nb::handle input, nb::handle dim, bool descending, bool /*stable*/,
                   nb::handle axis) {
  const std::int64_t along = integer_from("argsort", dim_or_axis(dim, axis));
  return with_input("argsort", input, [&](const auto& x) {
    using masked::argsort;  // both: x decides
    using ops::argsort;
    return argsort(x, along, descending);
  });
}

nb::object topk(nb::handle input, nb::handle k, nb::handle dim, bool largest, bool /*sorted*/) {
  const std::int64_t count = integer_from("topk", k);
  const std::int64_t along = integer_from("topk", dim);
  return with_input(
      "topk", input,
      [&](const auto& x) {
        using masked::topk;  // both: x decides
        using ops::topk;
        return topk(x, count, along, largest);
      },
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
