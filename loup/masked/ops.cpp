#include "loup/masked/ops.h"

#include <fmt/format.h>

#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

OpInfo describe(const Reduction& op) {
  const auto value = op(zeros({0})).item<double>();
  return {op.name,
          Reduction::family,
          op.summary,
          Reduction::signature,
          std::string(name(op.result(DType::i32))),
          fmt::format("{}", value),
          op.backward != nullptr};
}

}  // namespace

std::vector<OpInfo> describe_ops() {
  std::vector<OpInfo> infos;
  for (const Op& op : all_ops) {
    infos.push_back(std::visit([](const auto* described) { return describe(*described); }, op));
  }
  return infos;
}

std::string ops_markdown() {
  std::string table =
      "| operator | what it does | int32 gives | nothing counts | gradient |\n"
      "|---|---|---|---|---|\n";
  for (const OpInfo& op : describe_ops()) {
    table += fmt::format("| `{}{}` | {} | {} | {} | {} |\n", op.name, op.signature, op.summary,
                         op.integer_result, op.fully_masked, op.is_differentiable ? "yes" : "no");
  }
  return table;
}

}  // namespace loup::masked
