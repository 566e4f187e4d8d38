#include "commands.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loup/io/json.h"
#include "loup/loup.h"

namespace loup::cli {

namespace {

std::string json_of(std::string_view text) { return io::json::quote(text); }

std::string json_of(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(json_of(text));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// Compiled for CPUs unlike this one: the tests could not run them.
std::vector<std::string> untested(const kernels::Targets& targets) {
  std::vector<std::string> result;
  for (const std::string& name : targets.compiled) {
    if (std::ranges::find(targets.runnable, name) == targets.runnable.end()) result.push_back(name);
  }
  return result;
}

std::string ops_text(const std::vector<masked::OpInfo>& ops) {
  std::string text;
  for (const masked::OpInfo& op : ops) {
    text += fmt::format("{:<20} {:<10} {}\n", op.name, op.family, op.summary);
  }
  return text;
}

std::string ops_json(const std::vector<masked::OpInfo>& ops) {
  std::vector<std::string> items;
  for (const masked::OpInfo& op : ops) {
    items.push_back(fmt::format(
        R"({{"name": {}, "family": {}, "signature": {}, "summary": {}, "aliases": {}, "masked": {}, "takes_masked": {}, "differentiable": {}, "in_place": {}}})",
        json_of(op.name), json_of(op.family), json_of(op.signature), json_of(op.summary),
        json_of(op.aliases), op.is_masked, op.takes_masked, op.is_differentiable, op.is_in_place));
  }
  return fmt::format("{{\"schema\": \"loup.ops.1\", \"ops\": [\n  {}\n]}}\n",
                     fmt::join(items, ",\n  "));
}

}  // namespace

std::string info(Format format) {
  const kernels::Targets targets = kernels::targets();
  if (format == Format::json) {
    return fmt::format(
        "{{\"schema\": \"loup.info.1\", \"version\": {}, \"targets_compiled\": {}, "
        "\"targets_runnable\": {}, \"target\": {}, \"threads\": {}, \"blas\": null, \"mpi\": "
        "false}}\n",
        json_of(version), json_of(targets.compiled), json_of(targets.runnable),
        json_of(targets.chosen), num_threads());
  }
  const std::vector<std::string> missing = untested(targets);
  return fmt::format(
      "loup {}\n"
      "instruction sets  compiled {}, runnable {}, chosen {}\n"
      "untested here     {}\n"
      "threads           {}\n"
      "BLAS              no\n"
      "MPI               no\n",
      version, fmt::join(targets.compiled, " "), fmt::join(targets.runnable, " "), targets.chosen,
      missing.empty() ? "none" : fmt::format("{}", fmt::join(missing, " ")), num_threads());
}

std::string ops(Format format) {
  if (format == Format::markdown) return masked::ops_markdown();
  const std::vector<masked::OpInfo> all = masked::describe_ops();
  return format == Format::json ? ops_json(all) : ops_text(all);
}

}  // namespace loup::cli
