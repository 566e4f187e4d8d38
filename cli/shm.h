#pragma once

#include <string>
#include <vector>

#include "commands.h"

// `loup shm`: what its subcommands print, and whether something was refused.

namespace loup::cli {

struct ShmOutput {
  std::string text;
  std::string errors;  ///< for the error stream; not empty when something was refused
};

/// A line per segment.
ShmOutput shm_list(const std::string& ns, Format format);
/// Header, attachments and mapping processes of segments.
ShmOutput shm_info(const std::vector<std::string>& names, Format format);
ShmOutput shm_remove(const std::vector<std::string>& names, bool force, Format format);
ShmOutput shm_sweep(const std::string& ns, bool dry_run, Format format);

}  // namespace loup::cli
