
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "loup/base/parallel.h"
#include "loup/kernels/targets.h"
#include "loup/masked/ops.h"
#include "loup/memory/pool.h"
#include "loup/version.h"

namespace loup::python {

using namespace nb::literals;

namespace {

nb::dict info() {
  const kernels::Targets targets = kernels::targets();
  nb::dict result;
  result["version"] = version;
  result["targets_compiled"] = targets.compiled;
  result["targets_runnable"] = targets.runnable;
  result["target"] = targets.chosen;
  result["threads"] = num_threads();
  return result;
}

nb::list ops() {
  nb::list result;
  for (const masked::OpInfo& op : masked::describe_ops()) {
    nb::dict entry;
    entry["name"] = op.name;
    entry["family"] = op.family;
    entry["summary"] = op.summary;
    entry["signature"] = op.signature;
    entry["masked"] = op.is_masked;
    entry["takes_masked"] = op.takes_masked;
    entry["differentiable"] = op.is_differentiable;
    entry["in_place"] = op.is_in_place;
    entry["aliases"] = op.aliases;
    result.append(entry);
  }
  return result;
}

nb::dict pool_statistics() {
  const memory::PoolStatistics statistics = memory::pool_statistics();
  nb::dict result;
  result["bytes_in_use"] = statistics.bytes_in_use;
  result["bytes_kept"] = statistics.bytes_kept;
  result["peak_bytes"] = statistics.peak_bytes;
  result["allocations"] = statistics.allocations;
  return result;
}

}  // namespace

void bind_system(nb::module_& m) {
  m.attr("version") = version;
  m.def("info", info, nb::sig("def info() -> dict[str, typing.Any]"),
        "Version, instruction sets and threads.");
  m.def("ops", ops, nb::sig("def ops() -> list[dict[str, typing.Any]]"),
        "Every operator: name, family, summary, signature, aliases, and what it can do.");
  m.def("num_threads", num_threads, "How many threads operators use.");
  m.def("set_num_threads", set_num_threads, "count"_a, "Set how many threads operators use.");
  m.def("choose_target", kernels::choose_target, "name"_a,
        "Run kernels on one instruction set; an empty name means the best. For tests.");
  m.def("pool_limit", memory::pool_limit, "The most bytes of freed memory kept for reuse.");
  m.def("set_pool_limit", memory::set_pool_limit, "bytes"_a,
        "Set the most bytes of freed memory kept for reuse.");
  m.def("trim_pool", memory::trim_pool, "Return all freed memory to the system.");
  m.def("pool_statistics", pool_statistics, nb::sig("def pool_statistics() -> dict[str, int]"),
        "Counters of large blocks of memory.");
}

}  // namespace loup::python
