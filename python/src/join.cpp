#include "loup/ops/join.h"

#include "arguments.h"
#include "define.h"
#include "loup/masked/moves.h"

namespace loup::python {

using namespace nb::literals;

namespace {

using JoinAlong = Tensor (*)(std::span<const Tensor>, std::int64_t);
using Join = Tensor (*)(std::span<const Tensor>);

/// Joins tensors; where there are masked ones among them, data and masks alike.
template <class JoinParts>
nb::object joined(const char* name, nb::handle tensors, const JoinParts& join) {
  if (!has_masked(tensors)) {
    const std::vector<Tensor> parts = tensors_from(name, tensors);
    return nb::cast(without_gil(total_size(parts), [&] { return join(parts); }));
  }
  std::vector<MaskedTensor> parts;
  for (nb::handle item : nb::borrow<nb::sequence>(tensors)) {
    parts.push_back(masked_from(name, item));
  }
  return nb::cast(masked::joined_alike(parts, join));
}

void define_join_along(nb::module_& m, const char* name, JoinAlong join) {
  define_function(
      m, name,
      [name, join](nb::handle tensors, nb::handle dim, nb::handle axis) {
        const std::int64_t along = integer_from(name, dim_or_axis(dim, axis));
        return joined(name, tensors,
                      [&](std::span<const Tensor> parts) { return join(parts, along); });
      },
      "tensors"_a, "dim"_a = 0, nb::kw_only(), "axis"_a.none() = nb::none());
}

void define_join(nb::module_& m, const char* name, Join join) {
  define_function(
      m, name, [name, join](nb::handle tensors) { return joined(name, tensors, join); },
      "tensors"_a);
}

nb::tuple split(nb::handle input, nb::handle sizes, nb::handle dim) {
  const TensorArgument x("split", input);
  const std::int64_t along = integer_from("split", dim);
  if (PySequence_Check(sizes.ptr()) == 0) {
    return tuple_of(ops::split(*x, integer_from("split", sizes), along));
  }
  std::vector<std::int64_t> lengths;
  for (nb::handle size : nb::borrow<nb::sequence>(sizes)) {
    lengths.push_back(integer_from("split", size));
  }
  return tuple_of(ops::split(*x, lengths, along));
}

}  // namespace

void bind_join(nb::module_& m) {
  define_join_along(m, "cat", ops::cat);
  define_join_along(m, "stack", ops::stack);
  define_join(m, "hstack", ops::hstack);
  define_join(m, "vstack", ops::vstack);
  define_alike(
      m, "split",
      [](nb::handle input, nb::handle sizes, nb::handle dim) { return split(input, sizes, dim); },
      "split_size_or_sections"_a, "dim"_a = 0);
  define_alike(
      m, "chunk",
      [](nb::handle input, nb::handle chunks, nb::handle dim) {
        const TensorArgument x("chunk", input);
        return tuple_of(ops::chunk(*x, integer_from("chunk", chunks), integer_from("chunk", dim)));
      },
      "chunks"_a, "dim"_a = 0);
  define_alike(
      m, "unbind",
      [](nb::handle input, nb::handle dim) {
        const TensorArgument x("unbind", input);
        return tuple_of(ops::unbind(*x, integer_from("unbind", dim)));
      },
      "dim"_a = 0);
}

}  // namespace loup::python
