#include "loup/ops/signature.h"

#include <cmath>

#include <fmt/format.h>

#include "loup/ops/binary.h"

namespace loup::ops {

namespace {

/// A default that is no plain number is None to Python.
std::string parameter_text(const Parameter& parameter) {
  if (parameter.choices[0] != nullptr) {
    return fmt::format("{}: str = '{}'", parameter.name, parameter.choices[0]);
  }
  if (std::abs(parameter.value) == largest_number || parameter.value < 0) {
    return fmt::format("{}: float | None = None", parameter.name);
  }
  return fmt::format("{}: {} = {}", parameter.name, parameter.is_integer ? "int" : "float",
                     parameter.value);
}

}  // namespace

std::string python_signature(const Unary& op) {
  std::string text = "(input: object";
  for (const Parameter& parameter : op.parameters) {
    if (parameter.name != nullptr) text.append(", ").append(parameter_text(parameter));
  }
  return text.append(") -> Tensor");
}

std::string python_signature(const Binary& op) {
  std::string text = "(input: object, other: object";
  const char* const option = option_of(op);
  if (option != nullptr) {
    const bool scales = std::string_view(option) == "alpha";
    text.append(fmt::format(", *, {}: {} = None", option, scales ? "float | None" : "str | None"));
  }
  return text.append(") -> Tensor");
}

const char* option_of(const Binary& op) {
  if (op.kernel == BinaryOp::div) return "rounding_mode";
  return op.kernel == BinaryOp::add || op.kernel == BinaryOp::sub ? "alpha" : nullptr;
}

std::string untyped(std::string_view signature) {
  std::string text;
  int depth = 0;
  bool is_type = false;
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const char c = signature[i];
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth == 0 && !is_type && c == ':') is_type = true;
    const bool ends = depth == 0 && (c == ',' || c == ')' || c == '=');
    if (ends) is_type = false;
    if (is_type || (depth > 0 && c != ')')) continue;
    if (c == '=') {
      text.append("=");
      ++i;  // the blank that Python writes after it
    } else {
      text.push_back(c);
    }
    if (c == ')') break;
  }
  return text;
}

}  // namespace loup::ops
