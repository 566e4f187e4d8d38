#include "loup/io/npy_header.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "loup/base/error.h"

namespace loup::io {

namespace {

/// The letter and size by which NumPy knows a dtype; empty for bfloat16, which it does not know.
constexpr std::array<std::string_view, dtype_count> codes = {"b1", "u1", "i1", "i2", "i4",
                                                             "i8", "f2", "",   "f4", "f8"};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NpyDescription description() {
    NpyDescription result;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{', "a dict");
    while (!accept('}')) {
      const std::string_view key = string("a key in quotes");
      expect(':', "':'");
      bool* seen = nullptr;
      if (key == "descr") {
        seen = &has_descr;
        dtype(result);
      } else if (key == "fortran_order") {
        seen = &has_order;
        result.is_fortran = boolean();
      } else if (key == "shape") {
        seen = &has_shape;
        result.shape = shape();
      } else {
        throw FormatError(
            "load: expected the keys descr, fortran_order and shape in an .npy header, got '{}'",
            key);
      }
      if (*seen) {
        throw FormatError("load: expected every key of an .npy header once, got '{}' again", key);
      }
      *seen = true;
      if (!accept(',') && peek() != '}') refuse("',' or '}'");
    }
    if (!has_descr || !has_order || !has_shape) {
      throw FormatError(
          "load: expected the keys descr, fortran_order and shape in an .npy header, got no {}",
          !has_descr   ? "descr"
          : !has_order ? "fortran_order"
                       : "shape");
    }
    if (peek() != '\0' || at_ != text_.size()) refuse("only white space behind the dict");
    return result;
  }

 private:
  [[noreturn]] void refuse(std::string_view expected) const {
    std::string got = "the end";
    if (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_plain = c >= ' ' && c <= '~';
      got = is_plain ? fmt::format("'{}'", c)
                     : fmt::format("byte {:#04x}", static_cast<std::uint8_t>(c));
    }
    throw FormatError("load: expected {} at byte {} of the .npy header, got {}", expected, at_,
                      got);
  }

  /// The next character that is no white space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != text_.npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted, std::string_view expected) {
    if (!accept(wanted)) refuse(expected);
  }

  std::string_view string(std::string_view expected) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse(expected);
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' || text_[at_] < ' ') refuse("a plain character in quotes");
      ++at_;
    }
    if (at_ == text_.size()) refuse("a closing quote");
    return text_.substr(begin, at_++ - begin);
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    refuse("True or False");
  }

  std::int64_t natural() {
    const auto is_digit = [this] {
      return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
    };
    peek();
    if (!is_digit()) refuse("a size");
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; is_digit(); ++at_) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value)) {
        refuse("a size of at most 63 bits");
      }
    }
    if (at_ - begin > 1 && text_[begin] == '0') {
      at_ = begin;
      refuse("a size without leading zeros");
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
    return value;
  }

  Shape shape() {
    Shape result;
    expect('(', "a tuple");
    bool needs_comma = true;  // (3) is an int, only (3,) is a tuple
    while (!accept(')')) {
      if (result.size() == max_ndim) {
        throw FormatError("load: expected at most {} dimensions, got more", max_ndim);
      }
      result.push_back(natural());
      if (accept(',')) {
        needs_comma = false;
      } else if (needs_comma || peek() != ')') {
        refuse("','");
      }
    }
    return result;
  }

  void dtype(NpyDescription& result) {
    constexpr std::string_view expected =
        "load: expected a dtype of bool, uint8, int8 to int64 or float16 to float64";
    if (peek() == '[' || peek() == '(') throw FormatError("{}, got a structured one", expected);
    const std::string_view descr = string("a dtype in quotes");
    if (descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != descr.npos) {
      for (std::size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] != descr.substr(1)) continue;
        result.dtype = static_cast<DType>(i);
        result.is_swapped = descr[0] == '>' && item_bytes(result.dtype) > 1;
        if (descr[0] != '|' || item_bytes(result.dtype) == 1) return;
      }
    }
    if (descr.size() >= 2 && descr[1] == 'O') {
      throw FormatError("{}, got '{}'; pickled objects are never loaded", expected, descr);
    }
    throw FormatError("{}, got '{}'", expected, descr);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

NpyDescription parse_npy_description(std::string_view text) { return Parser(text).description(); }

std::string npy_description(const Shape& shape, DType dtype, bool is_fortran) {
  const std::string_view code = codes[static_cast<std::size_t>(dtype)];
  if (code.empty()) {
    throw DTypeError(
        "save: expected a dtype that NumPy has, got {}; save it as .safetensors, or convert it to "
        "float32",
        dtype);
  }
  std::string sizes;
  for (const std::int64_t size : shape) {
    fmt::format_to(std::back_inserter(sizes), "{}{}", sizes.empty() ? "" : ", ", size);
  }
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                  item_bytes(dtype) == 1 ? '|' : '<', code, is_fortran ? "True" : "False", sizes,
                  shape.size() == 1 ? "," : "");
  if (!shape.empty()) {
    // NumPy leaves room in which the size of the slowest dim can grow to 21 digits.
    constexpr std::size_t most_digits = 21;
    const std::int64_t slowest = shape[is_fortran ? shape.size() - 1 : 0];
    text.append(most_digits - fmt::formatted_size("{}", slowest), ' ');
  }
  return text;
}

}  // namespace loup::io
