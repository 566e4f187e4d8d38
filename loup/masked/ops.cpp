#include "loup/masked/ops.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loup/base/error.h"
#include "loup/ops/binary.h"
#include "loup/ops/functions.h"
#include "loup/ops/signature.h"
#include "loup/ops/unary.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A masked operator that gives `hidden` where nothing counts.
template <class Family>
OpInfo describe_masked(const Family& op, const char* integer_result, double hidden,
                       bool is_differentiable = true) {
  return {.name = op.name,
          .family = Family::family,
          .summary = op.summary,
          .signature = Family::signature,
          .aliases = {},
          .is_masked = true,
          .takes_masked = true,
          .is_differentiable = is_differentiable,
          .is_in_place = false,
          .integer_result = integer_result,
          // NaN of 0 / 0 has a sign.
          .fully_masked = fmt::format("{}", std::isnan(hidden) ? nan : hidden)};
}
/// A reduction: what it gives for a slice of which nothing counts is asked from it.
template <class Family>
OpInfo describe_reduction(const Family& op, DType integer_result, bool is_differentiable) {
  const Tensor nothing = zeros({}, DType::boolean);
  Tensor value;
  if constexpr (std::is_same_v<Family, PairReduction>) {
    value = op(zeros({1}), {}, {.mask = nothing}).first;
  } else if constexpr (std::is_same_v<Family, Norm>) {
    value = op(zeros({1}), 2, {}, {.mask = nothing});
  } else {
    value = op(zeros({1}), {}, {.mask = nothing});
  }
  OpInfo info = describe_masked(op, "", value.item<double>());
  info.integer_result = name(integer_result);
  info.is_differentiable = is_differentiable;
  return info;
}
OpInfo describe(const Reduction& op) {
  return describe_reduction(op, result_type(op, DType::i32), op.backward != nullptr);
}
OpInfo describe(const Deviation& op) { return describe_reduction(op, DType::f32, true); }
OpInfo describe(const Norm& op) {
  OpInfo info = describe_reduction(op, DType::f32, true);
  info.integer_result = "error";
  return info;
}
OpInfo describe(const PairReduction& op) { return describe_reduction(op, DType::i32, true); }
OpInfo describe(const Normalization& op) { return describe_masked(op, "error", op.hidden); }
OpInfo describe(const NormDivision& op) { return describe_masked(op, "error", 0); }
OpInfo describe(const Scan& op) { return describe_masked(op, "int64", op.hidden); }
OpInfo describe(const LogAddExp& op) {
  return describe_masked(op, "error", -std::numeric_limits<double>::infinity());
}

OpInfo describe(const Median& op) { return describe_masked(op, "int32", nan); }
OpInfo describe(const Quantile& op) { return describe_masked(op, "float32", nan); }
OpInfo describe(const Histogram& op) { return describe_masked(op, "int64", 0, false); }
OpInfo describe(const Covariance& op) { return describe_masked(op, "float32", nan); }
OpInfo describe(const Correlation& op) { return describe_masked(op, "float32", nan); }
OpInfo describe(const WeightedMean& op) { return describe_masked(op, "float32", nan); }

/// Unary or Binary.
template <class Family>
OpInfo describe(const Family& op) {
  OpInfo info{.name = op.name,
              .family = Family::family,
              .summary = op.summary,
              .signature = ops::untyped(ops::python_signature(op)),
              .aliases = {},
              .is_masked = false,
              .takes_masked = true,
              .is_differentiable = op.backward != nullptr,
              .is_in_place = op.is_in_place,
              .integer_result = {},
              .fully_masked = {}};
  switch (op.result) {
    case ops::ResultKind::floating: info.integer_result = "float32"; break;
    case ops::ResultKind::boolean: info.integer_result = "bool"; break;
    default: info.integer_result = "int32";
  }
  for (const char* const alias : op.aliases) {
    if (alias != nullptr) info.aliases.emplace_back(alias);
  }
  return info;
}

OpInfo describe(const char* family, const ops::Function& op) {
  return {.name = op.name,
          .family = family,
          .summary = op.summary,
          .signature = ops::untyped(op.signature),
          .aliases = {},
          .is_masked = false,
          .takes_masked = op.masks != ops::Masks::refused,
          .is_differentiable = op.is_differentiable,
          .is_in_place = op.is_in_place,
          .integer_result = {},
          .fully_masked = {}};
}

/// The columns that a family has, as a row; for the first row their titles.
std::string row(const OpInfo& op, bool is_title) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  std::string text = is_title ? std::string("| operator | what it does |")
                              : fmt::format("| `{}{}` | {} |", op.name, op.signature, op.summary);
  if (!op.integer_result.empty()) {
    text += is_title ? " int32 gives |" : fmt::format(" {} |", op.integer_result);
  }
  if (op.is_masked) text += is_title ? " nothing counts |" : fmt::format(" {} |", op.fully_masked);
  text += is_title ? " gradient |" : fmt::format(" {} |", yes(op.is_differentiable));
  if (!op.is_masked) text += is_title ? " in place |" : fmt::format(" {} |", yes(op.is_in_place));
  if (!op.integer_result.empty() && !op.is_masked) {
    text += is_title ? " also called |" : fmt::format(" {} |", fmt::join(op.aliases, ", "));
  }
  return text + '\n';
}

std::string ruler(const std::string& title) {
  std::string text;
  for (const char c : title) {
    if (c == '|') text += text.empty() ? "|" : "---|";
  }
  return text + '\n';
}

}  // namespace

std::vector<OpInfo> describe_ops() {
  std::vector<OpInfo> infos;
  for (const Op& op : all_ops) {
    infos.push_back(std::visit([](const auto* described) { return describe(*described); }, op));
  }
  for (const ops::Unary* const op : ops::unary_ops) infos.push_back(describe(*op));
  for (const ops::Binary* const op : ops::binary_ops) infos.push_back(describe(*op));
  for (const ops::FunctionList& list : ops::all_functions) {
    for (const ops::Function& op : list.functions) infos.push_back(describe(list.family, op));
  }
  return infos;
}

std::string ops_markdown() {
  std::string text;
  std::string family;
  for (const OpInfo& op : describe_ops()) {
    if (op.family != family) {
      const std::string title = row(op, true);
      text += fmt::format("{}### {}\n\n{}{}", family.empty() ? "" : "\n", op.family, title,
                          ruler(title));
      family = op.family;
    }
    text += row(op, false);
  }
  return text;
}

}  // namespace loup::masked
