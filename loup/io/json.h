#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "loup/export.h"

// As much of JSON as file headers need: objects, arrays, strings, natural numbers and null.

namespace loup::io::json {

/// What comes next in a text.
enum class Kind : std::uint8_t { object, array, string, natural, null, other };

/// Reads a text from front to back. Whoever calls says what must come next, so nothing is stored
/// and the depth is the caller's own; FormatError when something else is there. The text must be
/// UTF-8 and stay alive.
class LOUP_EXPORT Reader {
 public:
  explicit Reader(std::string_view text);

  Kind peek();
  /// `begin_object(); while (next_key(key)) { …the value… }`
  void begin_object();
  bool next_key(std::string& key);
  /// `begin_array(); while (next_element()) { …the element… }`
  void begin_array();
  bool next_element();
  std::string string();
  /// A number without sign, fraction and exponent, at most INT64_MAX.
  std::int64_t natural();
  void null();
  /// Only white space may be left.
  void end();

 private:
  [[noreturn]] void refuse(const char* expected) const;
  void skip_space();
  char next_char();
  void expect(char wanted, const char* expected);
  bool next_item(char closing, const char* expected);
  std::uint32_t hexadecimal();
  void escape(std::string& to);

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_first_ = false;  // of the innermost container: no comma yet
};

LOUP_EXPORT bool is_utf8(std::string_view text);
/// `text`, which must be UTF-8, in quotes and with escapes.
LOUP_EXPORT std::string quote(std::string_view text);

}  // namespace loup::io::json
