#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loup/export.h"
#include "loup/memory/data_ptr.h"

// Reading ZIP archives: stored and deflated members, zip64.

namespace loup::io::zip {

struct Member {
  std::string name;
  bool is_deflated = false;
  std::uint32_t checksum = 0;
  std::size_t offset = 0;        ///< of its bytes in the archive
  std::size_t packed_bytes = 0;  ///< there
  std::size_t bytes = 0;         ///< unpacked
};

/// The members, in the order of the archive. FormatError unless they lie inside of it, apart from
/// each other, have different names, and declare sizes that deflate can reach.
LOUP_EXPORT std::vector<Member> members(std::span<const std::byte> archive);

/// The bytes of a member: those of the archive when it is stored, otherwise unpacked ones.
/// FormatError unless it has the declared size and, where it is unpacked or `verify` says so, the
/// checksum.
LOUP_EXPORT DataPtr content(const DataPtr& archive, const Member& member, bool verify = true);

}  // namespace loup::io::zip
