#include "loup/base/threads.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string>
#include <string_view>

#include "loup/base/error.h"

namespace loup::detail {

namespace {

constexpr int most_threads = 1024;

std::optional<long> parse_integer(std::string_view text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> quota_cpus(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

std::string read_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// cgroup v2 writes "max 100000" or "150000 100000".
std::optional<int> cpus_of_v2(const std::filesystem::path& folder) {
  std::istringstream line(read_line(folder / "cpu.max"));
  double quota = 0;
  double period = 0;
  if (!(line >> quota >> period)) return std::nullopt;
  return quota_cpus(quota, period);
}

std::optional<int> cpus_of_v1(const std::filesystem::path& folder) {
  const auto quota = parse_integer(read_line(folder / "cpu.cfs_quota_us"));
  const auto period = parse_integer(read_line(folder / "cpu.cfs_period_us"));
  if (!quota || !period) return std::nullopt;
  return quota_cpus(static_cast<double>(*quota), static_cast<double>(*period));
}

int affinity_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::string read_all(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// MPI launchers tell each process how many ranks share its host.
int ranks_on_this_host() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* text = std::getenv(variable)) {
      const auto ranks = parse_integer(text);
      if (ranks && *ranks > 0) return static_cast<int>(std::min<long>(*ranks, most_threads));
    }
  }
  return 1;
}

/// Version 1 names the controllers of a hierarchy: "cpu,cpuacct".
bool has_cpu_controller(std::string_view controllers) {
  while (true) {
    const auto comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<int> cgroup_cpus(const std::filesystem::path& root, const std::string& membership) {
  std::optional<int> limit;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    // Each line reads hierarchy:controllers:path; version 2 is hierarchy 0.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const bool is_v2 = line.compare(0, first, "0") == 0;
    const std::string_view controllers(line.data() + first + 1, second - first - 1);
    if (!is_v2 && !has_cpu_controller(controllers)) continue;
    const auto top = is_v2 ? root : root / "cpu";
    // A limit on any enclosing group binds us too.
    std::filesystem::path group = line.substr(second + 1);
    while (true) {
      const auto folder = top / group.relative_path();
      limit = smaller(limit, is_v2 ? cpus_of_v2(folder) : cpus_of_v1(folder));
      if (!group.has_relative_path()) break;
      group = group.parent_path();
    }
  }
  return limit;
}

int checked_num_threads(const char* operation, long count) {
  if (count < 1 || count > most_threads) {
    throw ValueError("{}: expected a number of threads from 1 to {}, got {}", operation,
                     most_threads, count);
  }
  return static_cast<int>(count);
}

int usable_cpus() {
  const auto limit = cgroup_cpus("/sys/fs/cgroup", read_all("/proc/self/cgroup"));
  return std::min(affinity_cpus(), limit.value_or(most_threads));
}

int default_num_threads() {
  if (const char* text = std::getenv("LOUP_NUM_THREADS")) {
    const auto count = parse_integer(text);
    if (!count) {
      throw ValueError("LOUP_NUM_THREADS: expected a number of threads from 1 to {}, got '{}'",
                       most_threads, text);
    }
    return checked_num_threads("LOUP_NUM_THREADS", *count);
  }
  return std::clamp(usable_cpus() / ranks_on_this_host(), 1, most_threads);
}

}  // namespace loup::detail
