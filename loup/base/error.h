#pragma once

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "loup/export.h"

namespace loup {

/// Base of everything the library throws. Abstract: catch it to catch all of them.
///
/// Every message reads `<operation>: expected <rule>, got <value>`; the format string is checked
/// at compile time.
class LOUP_EXPORT Error : public std::runtime_error {
 public:
  template <class... Args>
  explicit Error(fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override = 0;
};

/// Shapes, strides or numbers of dimensions do not fit.
class LOUP_EXPORT ShapeError : public Error {
 public:
  using Error::Error;
};

/// A dtype is not accepted.
class LOUP_EXPORT DTypeError : public Error {
 public:
  using Error::Error;
};

/// A dim or an index is out of range.
class LOUP_EXPORT IndexError : public Error {
 public:
  using Error::Error;
};

/// Any other bad argument.
class LOUP_EXPORT ValueError : public Error {
 public:
  using Error::Error;
};

/// A file does not hold what its format demands.
class LOUP_EXPORT FormatError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// The right call at the wrong moment.
class LOUP_EXPORT StateError : public Error {
 public:
  using Error::Error;
};

/// A system call failed: carries its errno and the path it was about.
class LOUP_EXPORT IoError : public Error {
 public:
  /// `number` is an errno.
  template <class... Args>
  IoError(int number, std::string path, fmt::format_string<Args...> text, Args&&... args)
      : Error(text, std::forward<Args>(args)...),
        code_(number, std::generic_category()),
        path_(std::move(path)) {}

  /// Compares with std::errc: `error.code() == std::errc::no_such_file_or_directory`.
  const std::error_code& code() const noexcept { return code_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::error_code code_;
  std::string path_;
};

/// Layouts do not fit together or are not supported here.
class LOUP_EXPORT LayoutError : public Error {
 public:
  using Error::Error;
};

}  // namespace loup
