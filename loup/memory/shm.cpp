#include "loup/memory/shm.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include "loup/memory/segment_info.h"
#include "loup/memory/segment_lock.h"
#include "loup/memory/system.h"

namespace loup::shm {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_prefix = "lp.tmp.";

/// Full names in the directory that start with `prefix`, sorted.
std::vector<std::string> names(std::string_view prefix) {
  std::vector<std::string> result;
  std::error_code error;
  for (fs::directory_iterator entry(memory::shm_directory(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(prefix)) result.push_back(std::move(name));
  }
  std::ranges::sort(result);
  return result;
}

std::string prefix_of(std::string_view ns) {
  return ns.empty() ? std::string("lp.") : fmt::format("lp.{}.", memory::shm_namespace(ns));
}

/// Made where files cannot be without a name, by a process that did not live to finish it.
bool is_forgotten(const std::string& path) {
  constexpr time_t patience = 60;
  struct stat info{};
  return memory::sys::stat(path.c_str(), info) == 0 && S_ISREG(info.st_mode) &&
         info.st_uid == geteuid() && time(nullptr) - info.st_mtime > patience;
}

void sweep_one(const std::string& name, bool dry_run, SweepReport& report) {
  const std::string path = memory::shm_path(name);
  const bool is_temporary = name.starts_with(temporary_prefix);
  if (is_temporary) {
    if (!is_forgotten(path)) return;
  } else {
    SegmentInfo segment;
    try {
      segment = memory::segment_info("sweep", path);
    } catch (const MapError&) {
      return;  // not ours, or gone
    }
    if (segment.uid != geteuid()) return;
    if (segment.lifetime != Lifetime::last_detach || (dry_run && segment.is_live())) {
      report.kept.push_back(name);
      return;
    }
  }
  if (dry_run) {
    report.removed.push_back(name);
    return;
  }
  switch (memory::remove_name(path, nullptr)) {
    case memory::Removal::removed: report.removed.push_back(name); break;
    case memory::Removal::in_use: report.kept.push_back(name); break;
    case memory::Removal::failed: report.failed.push_back(name); break;
    case memory::Removal::gone: break;
  }
}

/// Whether a process maps the file; its path does not tell, because it was mapped without a name.
bool maps(const std::string& pid, const struct stat& wanted) {
  const std::string device =
      fmt::format("{:02x}:{:02x}", major(wanted.st_dev), minor(wanted.st_dev));
  const std::string inode = std::to_string(wanted.st_ino);
  std::ifstream file("/proc/" + pid + "/maps");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string address, rights, offset, on, number;
    if (fields >> address >> rights >> offset >> on >> number && on == device && number == inode) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<SegmentInfo> list(std::string_view ns) {
  std::vector<SegmentInfo> result;
  for (const std::string& name : names(prefix_of(ns))) {
    try {
      result.push_back(memory::segment_info("list", memory::shm_path(name)));
    } catch (const MapError&) {
      continue;
    }
  }
  return result;
}

SegmentInfo info(std::string_view name) {
  return memory::segment_info("info", memory::shm_path(memory::segment_name(name)));
}

SweepReport sweep(const SweepOptions& options) {
  SweepReport report;
  for (const std::string& name : names(prefix_of(options.ns))) {
    sweep_one(name, options.dry_run, report);
  }
  return report;
}

bool remove(std::string_view name, bool force) {
  const std::string path = memory::shm_path(memory::segment_name(name));
  const MapError::Context context{"remove", path};
  if (!force) {
    try {
      memory::segment_info("remove", path);
    } catch (const MapError& error) {
      if (error.kind() == MapError::Kind::not_found) return false;
      throw;
    }
  }
  switch (memory::remove_name(path, nullptr, force)) {
    case memory::Removal::removed: return true;
    case memory::Removal::gone: return false;
    case memory::Removal::in_use:
      throw MapError(MapError::Kind::busy, EBUSY, context,
                     "remove: expected a segment that nobody uses, got \"{}\" in use; force "
                     "removes it",
                     path);
    case memory::Removal::failed: break;
  }
  memory::throw_map_error(context, "remove it", errno);
}

std::vector<std::uint32_t> mapping_processes(const SegmentInfo& segment) {
  std::vector<std::uint32_t> result;
  struct stat wanted{};
  if (memory::sys::stat(segment.path.c_str(), wanted) != 0) return {};
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::uint32_t pid = 0;
    const auto [rest, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (fault != std::errc{} || rest != name.data() + name.size()) continue;
    if (maps(name, wanted)) result.push_back(pid);
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace loup::shm
