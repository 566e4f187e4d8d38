#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "loup/base/error.h"
#include "loup/io/json.h"

// Any text is read or refused. What was read and written again reads the same.

namespace {

using loup::io::json::Kind;
using loup::io::json::Reader;

constexpr int max_depth = 32;

/// Reads one value and writes it without white space.
void copy(Reader& from, std::string& to, int depth) {
  if (depth > max_depth) throw loup::FormatError("load: expected fewer levels, got {}", depth);
  switch (from.peek()) {
    case Kind::object: {
      from.begin_object();
      to += '{';
      std::string key;
      for (bool is_first = true; from.next_key(key); is_first = false) {
        if (!is_first) to += ',';
        to += loup::io::json::quote(key) + ':';
        copy(from, to, depth + 1);
      }
      to += '}';
      return;
    }
    case Kind::array: {
      from.begin_array();
      to += '[';
      for (bool is_first = true; from.next_element(); is_first = false) {
        if (!is_first) to += ',';
        copy(from, to, depth + 1);
      }
      to += ']';
      return;
    }
    case Kind::string: to += loup::io::json::quote(from.string()); return;
    case Kind::null:
      from.null();
      to += "null";
      return;
    default: to += std::to_string(from.natural());
  }
}

std::string copied(std::string_view text) {
  Reader reader(text);
  std::string result;
  copy(reader, result, 0);
  reader.end();
  return result;
}

}  // namespace

// libFuzzer finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string once;
  try {
    once = copied({reinterpret_cast<const char*>(data), size});
  } catch (const loup::FormatError&) {
    return 0;
  }
  if (copied(once) != once) std::abort();
  return 0;
}
