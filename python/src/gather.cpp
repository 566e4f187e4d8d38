#include "loup/ops/gather.h"

#include "arguments.h"
#include "define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

bool is_number(nb::handle object) {
  return PyBool_Check(object.ptr()) || PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr());
}

/// Work is worth a word with the interpreter where the larger of the two sides is large.
std::int64_t work(const Tensor& x, const Tensor& index) { return std::max(x.size(), index.size()); }

using Take = Tensor (*)(const Tensor&, std::int64_t, const Tensor&);
void define_take(nb::module_& m, const char* name, Take take) {
  define_alike(
      m, name,
      [name, take](nb::handle input, nb::handle dim, nb::handle index) {
        const TensorArgument x(name, input);
        const TensorArgument indices(name, index);
        const std::int64_t along = integer_from(name, dim);
        return without_gil(work(*x, *indices), [&] { return take(*x, along, *indices); });
      },
      "dim"_a, "index"_a);
}

Tensor scatter(nb::handle input, nb::handle dim, nb::handle index, nb::handle source) {
  const TensorArgument x("scatter", input);
  const TensorArgument indices("scatter", index);
  const std::int64_t along = integer_from("scatter", dim);
  if (is_number(source)) {
    return ops::scatter(*x, along, *indices, scalar_from("scatter", source));
  }
  const TensorArgument from("scatter", source);
  return without_gil(work(*x, *indices), [&] { return ops::scatter(*x, along, *indices, *from); });
}

void scatter_in_place(Tensor& x, nb::handle dim, nb::handle index, nb::handle source) {
  const TensorArgument indices("scatter_", index);
  const std::int64_t along = integer_from("scatter_", dim);
  if (is_number(source)) {
    return ops::scatter_(x, along, *indices, scalar_from("scatter_", source));
  }
  const TensorArgument from("scatter_", source);
  without_gil(indices->size(), [&] { ops::scatter_(x, along, *indices, *from); });
}

using Change = Tensor (*)(const Tensor&, std::int64_t, const Tensor&, const Tensor&);
using InPlace = void (*)(Tensor&, std::int64_t, const Tensor&, const Tensor&);

template <Change change>
void define_change(nb::module_& m, const char* name, const char* source) {
  define(
      m, name,
      [name](nb::handle input, nb::handle dim, nb::handle index, nb::handle from) {
        const TensorArgument x(name, input);
        const TensorArgument indices(name, index);
        const TensorArgument elements(name, from);
        const std::int64_t along = integer_from(name, dim);
        return without_gil(work(*x, *indices),
                           [&] { return change(*x, along, *indices, *elements); });
      },
      "dim"_a, "index"_a, nb::arg(source));
}

template <InPlace change>
void change_in_place(Tensor& x, nb::handle dim, nb::handle index, nb::handle source) {
  const TensorArgument indices("index", index);
  const TensorArgument elements("source", source);
  const std::int64_t along = integer_from("dim", dim);
  without_gil(elements->size(), [&] { change(x, along, *indices, *elements); });
}

Tensor index_add(nb::handle input, nb::handle dim, nb::handle index, nb::handle source,
                 nb::handle alpha) {
  const TensorArgument x("index_add", input);
  const TensorArgument indices("index_add", index);
  const TensorArgument from("index_add", source);
  const std::int64_t along = integer_from("index_add", dim);
  const Scalar factor = scalar_from("index_add", alpha);
  return without_gil(work(*x, *from),
                     [&] { return ops::index_add(*x, along, *indices, *from, factor); });
}

void index_add_in_place(Tensor& x, nb::handle dim, nb::handle index, nb::handle source,
                        nb::handle alpha) {
  const TensorArgument indices("index_add_", index);
  const TensorArgument from("index_add_", source);
  const std::int64_t along = integer_from("index_add_", dim);
  const Scalar factor = scalar_from("index_add_", alpha);
  without_gil(from->size(), [&] { ops::index_add_(x, along, *indices, *from, factor); });
}

Tensor index_fill(nb::handle input, nb::handle dim, nb::handle index, nb::handle value) {
  const TensorArgument x("index_fill", input);
  const TensorArgument indices("index_fill", index);
  return ops::index_fill(*x, integer_from("index_fill", dim), *indices,
                         scalar_from("index_fill", value));
}

void index_fill_in_place(Tensor& x, nb::handle dim, nb::handle index, nb::handle value) {
  const TensorArgument indices("index_fill_", index);
  ops::index_fill_(x, integer_from("index_fill_", dim), *indices,
                   scalar_from("index_fill_", value));
}

Tensor take_along_dim(nb::handle input, nb::handle index, nb::handle dim, nb::handle axis) {
  const TensorArgument x("take_along_dim", input);
  const TensorArgument indices("take_along_dim", index);
  const nb::handle chosen = dim_or_axis(dim, axis);
  std::optional<std::int64_t> along;
  if (!chosen.is_none()) along = integer_from("take_along_dim", chosen);
  return without_gil(work(*x, *indices), [&] { return ops::take_along_dim(*x, *indices, along); });
}

}  // namespace

void bind_gather(nb::module_& m) {
  define_take(m, "index_select", ops::index_select);
  define_take(m, "gather", ops::gather);
  define_alike(
      m, "take_along_dim",
      [](nb::handle input, nb::handle indices, nb::handle dim, nb::handle axis) {
        return take_along_dim(input, indices, dim, axis);
      },
      "indices"_a, "dim"_a.none() = nb::none(), nb::kw_only(), "axis"_a.none() = nb::none());
  define(m, "scatter", scatter, "dim"_a, "index"_a, "src"_a);
  define_in_place("scatter", scatter_in_place, "dim"_a, "index"_a, "src"_a);
  define_change<ops::scatter_add>(m, "scatter_add", "src");
  define_in_place("scatter_add", change_in_place<ops::scatter_add_>, "dim"_a, "index"_a, "src"_a);
  define(m, "index_add", index_add, "dim"_a, "index"_a, "source"_a, nb::kw_only(), "alpha"_a = 1);
  define_in_place("index_add", index_add_in_place, "dim"_a, "index"_a, "source"_a, nb::kw_only(),
                  "alpha"_a = 1);
  define_change<ops::index_copy>(m, "index_copy", "source");
  define_in_place("index_copy", change_in_place<ops::index_copy_>, "dim"_a, "index"_a, "source"_a);
  define(m, "index_fill", index_fill, "dim"_a, "index"_a, "value"_a);
  define_in_place("index_fill", index_fill_in_place, "dim"_a, "index"_a, "value"_a);
}

}  // namespace loup::python
