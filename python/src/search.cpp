#include "loup/ops/search.h"

#include <string>

#include <nanobind/stl/string.h>

#include "arguments.h"
#include "define.h"
#include "loup/base/error.h"
#include "loup/masked/order.h"
#include "loup/ops/copy.h"

namespace loup::python {

using namespace nb::literals;

namespace {

template <class Result>
nb::object chosen_of(const Result& result, bool inverse, bool counts) {
  if (!inverse && !counts) return nb::cast(result.values);
  nb::list items;
  items.append(result.values);
  if (inverse) items.append(result.inverse);
  if (counts) items.append(result.counts);
  return nb::tuple(items);
}

nb::object unique(nb::handle input, bool /*sorted*/, bool inverse, bool counts, nb::handle dim,
                  nb::handle axis) {
  const nb::handle chosen = dim_or_axis(dim, axis);
  if (const MaskedTensor* const x = masked_tensor_in(input)) {
    if (!chosen.is_none()) {
      throw_type_error("unique: expected no dim for a MaskedTensor, got {}",
                       integer_from("unique", chosen));
    }
    return chosen_of(without_gil(x->size(), [&] { return masked::unique(*x); }), inverse, counts);
  }
  const TensorArgument x("unique", input);
  ops::UniqueOptions options{.dim = {}, .inverse = inverse, .counts = counts};
  if (!chosen.is_none()) options.dim = integer_from("unique", chosen);
  return chosen_of(without_gil(x->size(), [&] { return ops::unique(*x, options); }), inverse,
                   counts);
}

Tensor search(const char* name, nb::handle sequence, nb::handle values, bool right, bool is_short) {
  const TensorArgument sorted(name, sequence);
  const TensorArgument wanted(name, values);
  return without_gil(wanted->size(), [&] {
    const Tensor places = ops::searchsorted(*sorted, *wanted, right);
    return is_short ? ops::to(places, DType::i32) : places;
  });
}

bool is_right(bool right, nb::handle side) {
  if (side.is_none()) return right;
  const auto word = nb::cast<std::string>(nb::str(side));
  if (word != "left" && word != "right") {
    throw ValueError("searchsorted: expected side 'left' or 'right', got '{}'", word);
  }
  if (right && word == "left") {
    throw ValueError("searchsorted: expected right and side to agree, got True and 'left'");
  }
  return word == "right";
}

}  // namespace

void bind_search(nb::module_& m) {
  define(m, "unique", unique, "sorted"_a = true, "return_inverse"_a = false,
         "return_counts"_a = false, "dim"_a.none() = nb::none(), nb::kw_only(),
         "axis"_a.none() = nb::none());
  define_function(
      m, "searchsorted",
      [](nb::handle sequence, nb::handle values, bool right, nb::handle side, bool is_short) {
        return search("searchsorted", sequence, values, is_right(right, side), is_short);
      },
      "sorted_sequence"_a, "values"_a, nb::kw_only(), "right"_a = false,
      "side"_a.none() = nb::none(), "out_int32"_a = false);
  define(
      m, "bucketize",
      [](nb::handle input, nb::handle boundaries, bool right, bool is_short) {
        const MaskedTensor* const x = masked_tensor_in(input);
        if (x == nullptr) {
          return nb::cast(search("bucketize", boundaries, input, right, is_short));
        }
        const TensorArgument sorted("bucketize", boundaries);
        return nb::cast(without_gil(x->size(), [&] {
          const MaskedTensor places = masked::bucketize(*x, *sorted, right);
          return is_short ? places.to(DType::i32) : places;
        }));
      },
      "boundaries"_a, nb::kw_only(), "right"_a = false, "out_int32"_a = false);
}

}  // namespace loup::python
