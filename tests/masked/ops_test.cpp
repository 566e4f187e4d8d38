#include "loup/masked/ops.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loup::masked {
namespace {

TEST(AllOps, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const OpInfo& op : describe_ops()) EXPECT_TRUE(names.insert(op.name).second) << op.name;
  EXPECT_EQ(names.size(), all_ops.size());
}

TEST(AllOps, AreDescribedInFull) {
  for (const OpInfo& op : describe_ops()) {
    EXPECT_FALSE(op.name.empty());
    EXPECT_THAT(op.summary, testing::EndsWith(".")) << op.name;
    EXPECT_THAT(op.signature, testing::StartsWith("(input")) << op.name;
    EXPECT_FALSE(op.family.empty()) << op.name;
  }
}

TEST(DescribeOps, TellsWhatSumIs) {
  const OpInfo op = describe_ops().front();
  EXPECT_EQ(op.name, "sum");
  EXPECT_EQ(op.family, "reduction");
  EXPECT_EQ(op.signature, "(input, dim=None, *, keepdim=False, dtype=None, mask=None)");
  EXPECT_EQ(op.integer_result, "int64");
  EXPECT_EQ(op.fully_masked, "0");
  EXPECT_TRUE(op.is_differentiable);
}

TEST(OpsMarkdown, IsATableWithOneRowForEachOp) {
  const std::string table = ops_markdown();
  EXPECT_THAT(table, testing::StartsWith("| operator | what it does | int32 gives | nothing counts "
                                         "| gradient |\n|---|---|---|---|---|\n"));
  const auto lines = std::count(table.begin(), table.end(), '\n');
  EXPECT_EQ(lines, std::ssize(all_ops) + 2);
  EXPECT_THAT(table, testing::HasSubstr("| `sum(input, dim=None, *, keepdim=False, dtype=None, "
                                        "mask=None)` | Add the elements that count. | int64 | 0 | "
                                        "yes |\n"));
}

}  // namespace
}  // namespace loup::masked
