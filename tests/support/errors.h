#pragma once

#include <source_location>
#include <string>
#include <typeinfo>

#include <gtest/gtest.h>

#include "loup/base/error.h"

namespace loup::test {

/// Not inlined: under sanitizers g++ 12 warns falsely about operator+ of a known literal.
[[gnu::noinline]] inline std::string joined(const std::string& a, const char* b,
                                            const std::string& c = {}) {
  return a + b + c;
}

/// Expects `statement()` to throw exactly E with the message "`rule`, `value`"; a remedy may
/// follow.
template <class E, class Statement>
void expect_error(Statement&& statement, const std::string& rule, const std::string& value,
                  const std::source_location& here = std::source_location::current()) {
  const auto fail = [&](const std::string& text) {
    ADD_FAILURE_AT(here.file_name(), static_cast<int>(here.line())) << text;
  };
  const std::string wanted = joined(rule, ", ", value);
  try {
    statement();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (typeid(error) != typeid(E)) {
      fail(std::string("expected ") + typeid(E).name() + ", got " + typeid(error).name() + ": " +
           message);
    }
    if (message != wanted && !message.starts_with(joined(wanted, "; "))) {
      fail("expected the message \"" + wanted + "\", got \"" + message + "\"");
    }
    return;
  }
  fail("expected the error \"" + wanted + "\", got none");
}

}  // namespace loup::test
