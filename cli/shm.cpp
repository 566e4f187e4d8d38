#include "shm.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loup/io/json.h"
#include "loup/loup.h"

namespace loup::cli {

namespace {

double age(const SegmentInfo& segment) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double seconds = std::chrono::duration<double>(now).count();
  return std::max(0.0, seconds - static_cast<double>(segment.created) * 1e-9);
}

std::string age_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86'400);
}

std::string size_text(std::size_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string segment_json(const SegmentInfo& x) {
  return fmt::format(
      R"("name": {}, "path": {}, "label": {}, "bytes": {}, "capacity": {}, "allocated": {}, )"
      R"("lifetime": {}, "live": {}, "attachments": {}, "generation": {}, "version": "{}.{}", )"
      R"("uid": {}, "creator_pid": {}, "age": {:.3f})",
      io::json::quote(x.name), io::json::quote(x.path), io::json::quote(x.label), x.bytes,
      x.capacity, x.allocated, io::json::quote(to_string(x.lifetime)), x.is_live(), x.attachments,
      x.generation, x.major, x.minor, x.uid, x.creator_pid, age(x));
}

std::string holder_json(const SegmentHolder& x) {
  return fmt::format(R"({{"pid": {}, "start_time": {}, "pid_namespace": {}, "references": {}}})",
                     x.pid, x.start_time, x.pid_namespace, x.references);
}

std::string full_json(const SegmentInfo& x) {
  std::vector<std::string> holders;
  for (const SegmentHolder& holder : x.holders) holders.push_back(holder_json(holder));
  return fmt::format(R"({{{}, "holders": [{}], "mapped_by": [{}]}})", segment_json(x),
                     fmt::join(holders, ", "), fmt::join(shm::mapping_processes(x), ", "));
}

std::string full_text(const SegmentInfo& x) {
  std::string text = fmt::format(
      "{}\n"
      "  path         {}\n"
      "  label        {}\n"
      "  size         {} bytes, {} reserved, {} in memory\n"
      "  lifetime     {}, {}\n"
      "  attachments  {}\n"
      "  version      {}.{}, generation {}\n"
      "  creator      pid {}, user {}, {} ago\n"
      "  mapped by    {}\n",
      x.name, x.path, x.label.empty() ? "none" : x.label, x.bytes, x.capacity, x.allocated,
      to_string(x.lifetime), x.is_live() ? "live" : "stale", x.attachments, x.major, x.minor,
      x.generation, x.creator_pid, x.uid, age_text(age(x)),
      fmt::join(shm::mapping_processes(x), " "));
  for (const SegmentHolder& holder : x.holders) {
    text +=
        fmt::format("  slot         pid {}, {} more references\n", holder.pid, holder.references);
  }
  return text;
}

std::string names_json(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(io::json::quote(name));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace

ShmOutput shm_list(const std::string& ns, Format format) {
  const std::vector<SegmentInfo> segments = shm::list(ns);
  if (format == Format::json) {
    std::vector<std::string> items;
    for (const SegmentInfo& segment : segments) {
      items.push_back(fmt::format("{{{}}}", segment_json(segment)));
    }
    return {fmt::format("{{\"schema\": \"loup.shm.1\", \"segments\": [{}{}{}]}}\n",
                        items.empty() ? "" : "\n  ", fmt::join(items, ",\n  "),
                        items.empty() ? "" : "\n"),
            {}};
  }
  if (segments.empty()) return {"no segments\n", {}};
  std::size_t width = 4;
  for (const SegmentInfo& segment : segments) width = std::max(width, segment.name.size());
  std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:<11}  {:<5}  {:>7}  {:>7}\n", "name",
                                 width, "size", "in memory", "lifetime", "state", "holders", "age");
  for (const SegmentInfo& x : segments) {
    text += fmt::format("{:<{}}  {:>10}  {:>10}  {:<11}  {:<5}  {:>7}  {:>7}\n", x.name, width,
                        size_text(x.bytes), size_text(x.allocated), to_string(x.lifetime),
                        x.is_live() ? "live" : "stale", x.attachments, age_text(age(x)));
  }
  return {text, {}};
}

ShmOutput shm_info(const std::vector<std::string>& names, Format format) {
  ShmOutput output;
  std::vector<std::string> items;
  for (const std::string& name : names) {
    try {
      const SegmentInfo segment = shm::info(name);
      items.push_back(format == Format::json ? full_json(segment) : full_text(segment));
    } catch (const MapError& error) {
      output.errors += fmt::format("loup: {}\n", error.what());
    }
  }
  output.text = format == Format::json
                    ? fmt::format("{{\"schema\": \"loup.shm.1\", \"segments\": [{}]}}\n",
                                  fmt::join(items, ",\n  "))
                    : fmt::format("{}", fmt::join(items, ""));
  return output;
}

ShmOutput shm_remove(const std::vector<std::string>& names, bool force, Format format) {
  ShmOutput output;
  std::vector<std::string> removed;
  for (const std::string& name : names) {
    try {
      if (shm::remove(name, force)) {
        removed.push_back(name);
      } else {
        output.errors += fmt::format(
            "loup: remove: expected the name of a segment, got \"{}\", which does not exist\n",
            name);
      }
    } catch (const MapError& error) {
      output.errors += fmt::format("loup: {}\n", error.what());
    }
  }
  if (format == Format::json) {
    output.text =
        fmt::format("{{\"schema\": \"loup.shm.1\", \"removed\": {}}}\n", names_json(removed));
  } else {
    for (const std::string& name : removed) output.text += fmt::format("removed {}\n", name);
  }
  return output;
}

ShmOutput shm_sweep(const std::string& ns, bool dry_run, Format format) {
  const shm::SweepReport report = shm::sweep({.ns = ns, .dry_run = dry_run});
  ShmOutput output;
  for (const std::string& name : report.failed) {
    output.errors +=
        fmt::format("loup: sweep: expected permission to remove \"{}\", got a refusal\n", name);
  }
  if (format == Format::json) {
    output.text = fmt::format(
        "{{\"schema\": \"loup.shm.1\", \"dry_run\": {}, \"removed\": {}, \"kept\": {}, "
        "\"failed\": {}}}\n",
        dry_run, names_json(report.removed), names_json(report.kept), names_json(report.failed));
    return output;
  }
  for (const std::string& name : report.removed) {
    output.text += fmt::format("{} {}\n", dry_run ? "would remove" : "removed", name);
  }
  output.text += fmt::format("{} {}, {} kept\n", report.removed.size(),
                             dry_run ? "to remove" : "removed", report.kept.size());
  return output;
}

}  // namespace loup::cli
