#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/masked/ops.h"
#include "masked_define.h"

namespace loup::python {

using namespace nb::literals;

namespace {

Tensor output_mask(const std::string& name, nb::handle input, nb::handle dim, nb::handle keepdim,
                   nb::handle mask, nb::handle other, nb::handle input_mask,
                   nb::handle other_mask) {
  const MaskedTensor x = masked_from("output_mask", input);
  const MaskQuery query{.x = x.get_data(),
                        .dims = dims_from("output_mask", dim),
                        .keepdim = flag_from("output_mask", "keepdim", keepdim),
                        .mask = combined_mask("output_mask", input, mask),
                        .input = input,
                        .given_mask = mask,
                        .other = other,
                        .input_mask = input_mask,
                        .other_mask = other_mask};
  for (const masked::Op& op : masked::all_ops) {
    const auto answer = std::visit(
        [&](const auto* described) -> std::optional<Tensor> {
          if (name != described->name) return std::nullopt;
          return mask_of(*described, query);
        },
        op);
    if (answer) return *answer;
  }
  throw ValueError("output_mask: expected the name of a masked operator, got '{}'", name);
}

}  // namespace

void bind_masked(nb::module_& m) {
  m.def(
      "output_mask", output_mask, "op_name"_a, "input"_a, "dim"_a.none() = nb::none(),
      nb::kw_only(), "keepdim"_a.none() = nb::none(), "mask"_a.none() = nb::none(),
      "other"_a.none() = nb::none(), "input_mask"_a.none() = nb::none(),
      "other_mask"_a.none() = nb::none(),
      nb::sig("def output_mask(op_name: str, input: object, dim: int | "
              "collections.abc.Sequence[int] | None = None, *, keepdim: bool = False, mask: object "
              "= None, other: object = None, input_mask: object = None, other_mask: object = None) "
              "-> Tensor"),
      "Which outputs of a masked operator have an element that counts.");

  // Users find them in loup.masked, so that is where they say they come from.
  nb::module_ functions = m.def_submodule("_masked_ops", "The masked operators.");
  functions.attr("__name__") = "loup.masked";
  for (const masked::Op& any : masked::all_ops) {
    std::visit([&](const auto* op) { define_masked({functions, m}, *op); }, any);
  }
}

}  // namespace loup::python
