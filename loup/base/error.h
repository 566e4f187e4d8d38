#pragma once

#include <stdexcept>
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

/// Layouts do not fit together or are not supported here.
class LOUP_EXPORT LayoutError : public Error {
 public:
  using Error::Error;
};

}  // namespace loup
