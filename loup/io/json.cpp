#include "loup/io/json.h"

#include <fmt/format.h>

#include "loup/base/error.h"

namespace loup::io::json {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_high_surrogate(std::uint32_t code) { return code >= 0xD800 && code <= 0xDBFF; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xDC00 && code <= 0xDFFF; }

void append_utf8(std::string& to, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    to += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Bytes of the character that begins `text`; 0 when it is not one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return is_tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // Neither forms that are longer than needed nor halves of UTF-16 pairs.
    const bool is_valid = (first != 0xE0 || byte(1) >= 0xA0) && (first != 0xED || byte(1) < 0xA0);
    return is_valid && is_tail(1) && is_tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool is_valid = (first != 0xF0 || byte(1) >= 0x90) && (first != 0xF4 || byte(1) < 0x90);
    return is_valid && is_tail(1) && is_tail(2) && is_tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

Reader::Reader(std::string_view text) : text_(text) {
  if (!is_utf8(text)) throw FormatError("load: expected JSON in UTF-8, got other bytes");
}

void Reader::refuse(const char* expected) const {
  std::string got = "the end";
  if (at_ < text_.size()) {
    const char c = text_[at_];
    const bool is_plain = c >= ' ' && c <= '~';
    got = is_plain ? fmt::format("'{}'", c) : fmt::format("byte {:#04x}", static_cast<uint8_t>(c));
  }
  throw FormatError("load: expected {} at byte {} of the JSON, got {}", expected, at_, got);
}

void Reader::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++at_;
  }
}

char Reader::next_char() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

void Reader::expect(char wanted, const char* expected) {
  if (next_char() != wanted) refuse(expected);
  ++at_;
}

Kind Reader::peek() {
  const char c = next_char();
  if (is_digit(c)) return Kind::natural;
  switch (c) {
    case '{': return Kind::object;
    case '[': return Kind::array;
    case '"': return Kind::string;
    case 'n': return Kind::null;
    default: return Kind::other;
  }
}

void Reader::begin_object() {
  expect('{', "an object");
  is_first_ = true;
}

void Reader::begin_array() {
  expect('[', "an array");
  is_first_ = true;
}

bool Reader::next_item(char closing, const char* expected) {
  const bool was_first = is_first_;
  is_first_ = false;
  if (next_char() == closing) {
    ++at_;
    return false;
  }
  if (!was_first) expect(',', expected);
  return true;
}

bool Reader::next_key(std::string& key) {
  if (!next_item('}', "',' or '}'")) return false;
  key = string();
  expect(':', "':'");
  return true;
}

bool Reader::next_element() { return next_item(']', "',' or ']'"); }

std::string Reader::string() {
  expect('"', "a string");
  std::string result;
  while (true) {
    if (at_ == text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) {
      refuse("a character of a string");
    }
    const char c = text_[at_];
    if (c == '\\') {
      escape(result);
      continue;
    }
    ++at_;
    if (c == '"') return result;
    result += c;
  }
}

void Reader::escape(std::string& to) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  ++at_;
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c != 'u') {
    const std::size_t which = letters.find(c);
    if (which == std::string_view::npos) refuse("an escaped character");
    to += meanings[which];
    ++at_;
    return;
  }
  ++at_;
  std::uint32_t code = hexadecimal();
  if (is_low_surrogate(code)) refuse("a whole UTF-16 pair");
  if (is_high_surrogate(code)) {
    if (!text_.substr(at_).starts_with("\\u")) refuse("the second half of a UTF-16 pair");
    at_ += 2;
    const std::uint32_t low = hexadecimal();
    if (!is_low_surrogate(low)) refuse("the second half of a UTF-16 pair");
    code = 0x10000U + ((code - 0xD800U) << 10U) + (low - 0xDC00U);
  }
  append_utf8(to, code);
}

std::uint32_t Reader::hexadecimal() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    std::uint32_t digit = 0;
    if (is_digit(c)) {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<std::uint32_t>(c - 'A' + 10);
    } else {
      refuse("a hexadecimal digit");
    }
    code = code * 16 + digit;
    ++at_;
  }
  return code;
}

std::int64_t Reader::natural() {
  if (!is_digit(next_char())) refuse("a natural number");
  const std::size_t begin = at_;
  std::int64_t value = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, text_[at_] - '0', &value)) {
      refuse("a number of at most 63 bits");
    }
  }
  if (at_ - begin > 1 && text_[begin] == '0') {
    at_ = begin;
    refuse("a number without leading zeros");
  }
  return value;
}

void Reader::null() {
  next_char();
  if (!text_.substr(at_).starts_with("null")) refuse("null");
  at_ += 4;
}

void Reader::end() {
  skip_space();
  if (at_ != text_.size()) refuse("the end");
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace loup::io::json
