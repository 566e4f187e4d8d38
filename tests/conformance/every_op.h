#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "tests/conformance/cases.h"

namespace loup::test {

/// Operators by their place in the list: each test runs once for every one.
class OverAllOps : public testing::TestWithParam<masked::Op> {
 protected:
  static std::string name() { return name_of(GetParam()); }

  /// Calls `check(case)`; stops at the first that fails, with a line that reproduces it.
  template <class Check>
  void for_each_case(const std::vector<Case>& cases, Check&& check) {
    const char* const chosen = std::getenv("LOUP_TEST_CASE");
    for (const Case& c : cases) {
      if (chosen != nullptr && std::to_string(c.number) != chosen) continue;
      check(c);
      if (HasFailure()) {
        FAIL() << c.text(name());
      }
    }
  }
};

inline std::string op_test_name(const testing::TestParamInfo<masked::Op>& info) {
  return name_of(info.param);
}

}  // namespace loup::test
