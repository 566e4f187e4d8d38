#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "loup/base/error.h"

namespace loup {

/// Mapping or sharing memory failed. Nothing is left behind: no descriptor, no mapping, no name.
class LOUP_EXPORT MapError : public IoError {
 public:
  enum class Kind : std::uint8_t {
    not_found,
    already_exists,
    permission_denied,
    not_regular,    ///< a directory, a pipe, a device, a symbolic link
    no_space,       ///< the file system is full, or a quota or a limit of file sizes is reached
    size_mismatch,  ///< there are fewer bytes than wanted, or a segment would shrink
    bad_header,     ///< not a segment of ours, or one of another version
    busy,           ///< somebody holds the lock for too long
    overflow,       ///< a size that no file can have
    limit,          ///< no descriptor or no address space is left
    io              ///< anything else
  };
  /// What was done to which file; sizes where they matter.
  struct Context {
    std::string operation;
    std::string path;
    std::optional<std::size_t> requested = {};
    std::optional<std::size_t> actual = {};
  };

  template <class... Args>
  MapError(Kind kind, int number, Context context, fmt::format_string<Args...> text, Args&&... args)
      : IoError(number, std::move(context.path), text, std::forward<Args>(args)...),
        kind_(kind),
        operation_(std::move(context.operation)),
        requested_(context.requested),
        actual_(context.actual) {}

  Kind kind() const noexcept { return kind_; }
  const std::string& operation() const noexcept { return operation_; }
  std::optional<std::size_t> requested() const noexcept { return requested_; }
  std::optional<std::size_t> actual() const noexcept { return actual_; }

 private:
  Kind kind_;
  std::string operation_;
  std::optional<std::size_t> requested_;
  std::optional<std::size_t> actual_;
};

namespace memory {

/// Throws the MapError for the errno of a failed system call `call`, with a hint where one helps.
[[noreturn]] void throw_map_error(MapError::Context context, const char* call, int number);
/// Throws unless `bytes` is a size that a file can have with `extra` bytes before them.
void check_size(const char* operation, const std::string& path, std::size_t bytes,
                std::size_t extra = 0);

}  // namespace memory

}  // namespace loup
