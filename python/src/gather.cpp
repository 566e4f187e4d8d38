#include "loup/ops/gather.h"

#include "arguments.h"
#include "define.h"
#include "loup/masked/scatter.h"

namespace loup::python {

using namespace nb::literals;
using masked::MaskedOperand;

namespace {

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

/// Elements that are put or added at places: the operator, in place, and both for masked tensors.
struct Change {
  const char* name;
  const char* in_place_name;
  Tensor (*plain)(const Tensor&, std::int64_t, const Tensor&, const Tensor&);
  void (*plain_in_place)(Tensor&, std::int64_t, const Tensor&, const Tensor&);
  MaskedTensor (*masked)(const MaskedTensor&, std::int64_t, const Tensor&, const MaskedOperand&);
  void (*masked_in_place)(MaskedTensor&, std::int64_t, const Tensor&, const MaskedOperand&);

  nb::object call(nb::handle input, nb::handle dim, nb::handle index, nb::handle source) const {
    const TensorArgument indices(name, index);
    const std::int64_t along = integer_from(name, dim);
    if (is_masked({input, source})) {
      const MaskedTensor x = masked_from(name, input);
      const MaskedOperand from = masked_operand_from(name, source);
      return nb::cast(without_gil(work(x.get_data(), *indices),
                                  [&] { return masked(x, along, *indices, from); }));
    }
    const TensorArgument x(name, input);
    const TensorArgument from(name, source);
    return nb::cast(
        without_gil(work(*x, *indices), [&] { return plain(*x, along, *indices, *from); }));
  }

  void change(nb::handle self, nb::handle dim, nb::handle index, nb::handle source) const {
    const TensorArgument indices(in_place_name, index);
    const std::int64_t along = integer_from(in_place_name, dim);
    if (MaskedTensor* const x = masked_tensor_in(self)) {
      const MaskedOperand from = masked_operand_from(in_place_name, source);
      return without_gil(x->size(), [&] { masked_in_place(*x, along, *indices, from); });
    }
    const TensorArgument from(in_place_name, source);
    Tensor& x = tensor_of(self);
    without_gil(from->size(), [&] { plain_in_place(x, along, *indices, *from); });
  }
};

constexpr Change scatter{"scatter",     "scatter_",      ops::scatter,
                         ops::scatter_, masked::scatter, masked::scatter_};
constexpr Change scatter_add{"scatter_add",     "scatter_add_",      ops::scatter_add,
                             ops::scatter_add_, masked::scatter_add, masked::scatter_add_};
constexpr Change index_copy{"index_copy",     "index_copy_",      ops::index_copy,
                            ops::index_copy_, masked::index_copy, masked::index_copy_};

void define_change(nb::module_& m, const Change& change, const char* source) {
  define(
      m, change.name,
      [change](nb::handle input, nb::handle dim, nb::handle index, nb::handle from) {
        return change.call(input, dim, index, from);
      },
      "dim"_a, "index"_a, nb::arg(source));
  define_in_place(
      change.name,
      [change](nb::handle self, nb::handle dim, nb::handle index, nb::handle from) {
        change.change(self, dim, index, from);
      },
      "dim"_a, "index"_a, nb::arg(source));
}

/// The source of scatter may be a number.
void define_scatter(nb::module_& m) {
  define(
      m, "scatter",
      [](nb::handle input, nb::handle dim, nb::handle index, nb::handle source) {
        if (!is_plain_number(source) || masked_tensor_in(input) != nullptr) {
          return scatter.call(input, dim, index, source);
        }
        const TensorArgument x("scatter", input);
        const TensorArgument indices("scatter", index);
        return nb::cast(ops::scatter(*x, integer_from("scatter", dim), *indices,
                                     scalar_from("scatter", source)));
      },
      "dim"_a, "index"_a, "src"_a);
  define_in_place(
      "scatter",
      [](nb::handle self, nb::handle dim, nb::handle index, nb::handle source) {
        if (!is_plain_number(source) || masked_tensor_in(self) != nullptr) {
          return scatter.change(self, dim, index, source);
        }
        const TensorArgument indices("scatter_", index);
        ops::scatter_(tensor_of(self), integer_from("scatter_", dim), *indices,
                      scalar_from("scatter_", source));
      },
      "dim"_a, "index"_a, "src"_a);
}

nb::object index_add(nb::handle input, nb::handle dim, nb::handle index, nb::handle source,
                     nb::handle alpha) {
  const TensorArgument indices("index_add", index);
  const std::int64_t along = integer_from("index_add", dim);
  const Scalar factor = scalar_from("index_add", alpha);
  if (is_masked({input, source})) {
    const MaskedTensor x = masked_from("index_add", input);
    const MaskedOperand from = masked_operand_from("index_add", source);
    return nb::cast(
        without_gil(x.size(), [&] { return masked::index_add(x, along, *indices, from, factor); }));
  }
  const TensorArgument x("index_add", input);
  const TensorArgument from("index_add", source);
  return nb::cast(without_gil(work(*x, *from),
                              [&] { return ops::index_add(*x, along, *indices, *from, factor); }));
}

void index_add_in_place(nb::handle self, nb::handle dim, nb::handle index, nb::handle source,
                        nb::handle alpha) {
  const TensorArgument indices("index_add_", index);
  const std::int64_t along = integer_from("index_add_", dim);
  const Scalar factor = scalar_from("index_add_", alpha);
  if (MaskedTensor* const x = masked_tensor_in(self)) {
    const MaskedOperand from = masked_operand_from("index_add_", source);
    return without_gil(x->size(), [&] { masked::index_add_(*x, along, *indices, from, factor); });
  }
  const TensorArgument from("index_add_", source);
  Tensor& x = tensor_of(self);
  without_gil(from->size(), [&] { ops::index_add_(x, along, *indices, *from, factor); });
}

void define_index_add(nb::module_& m) {
  define(m, "index_add", index_add, "dim"_a, "index"_a, "source"_a, nb::kw_only(), "alpha"_a = 1);
  define_in_place(
      "index_add",
      [](nb::handle self, nb::handle dim, nb::handle index, nb::handle source, nb::handle alpha) {
        index_add_in_place(self, dim, index, source, alpha);
      },
      "dim"_a, "index"_a, "source"_a, nb::kw_only(), "alpha"_a = 1);
}

void define_index_fill(nb::module_& m) {
  define(
      m, "index_fill",
      [](nb::handle input, nb::handle dim, nb::handle index, nb::handle value) {
        const TensorArgument indices("index_fill", index);
        const std::int64_t along = integer_from("index_fill", dim);
        const Scalar number = scalar_from("index_fill", value);
        return with_input("index_fill", input, [&](const auto& x) {
          using masked::index_fill;  // both: x decides
          using ops::index_fill;
          return index_fill(x, along, *indices, number);
        });
      },
      "dim"_a, "index"_a, "value"_a);
  define_in_place(
      "index_fill",
      [](nb::handle self, nb::handle dim, nb::handle index, nb::handle value) {
        const TensorArgument indices("index_fill_", index);
        const std::int64_t along = integer_from("index_fill_", dim);
        const Scalar number = scalar_from("index_fill_", value);
        with_self(self, [&](auto& x) {
          using masked::index_fill_;  // both: x decides
          using ops::index_fill_;
          index_fill_(x, along, *indices, number);
        });
      },
      "dim"_a, "index"_a, "value"_a);
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
  define_scatter(m);
  define_change(m, scatter_add, "src");
  define_index_add(m);
  define_change(m, index_copy, "source");
  define_index_fill(m);
}

}  // namespace loup::python
