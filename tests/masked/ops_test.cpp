#include "loup/masked/ops.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loup::masked {
namespace {

TEST(AllOps, HaveNamesOfTheirOwn) {
  // logaddexp is there twice: with masks, and without.
  std::set<std::pair<std::string, bool>> names;
  for (const OpInfo& op : describe_ops()) {
    EXPECT_TRUE(names.insert({op.name, op.is_masked}).second) << op.name;
  }
  EXPECT_GT(names.size(), all_ops.size());
}

TEST(AllOps, AreDescribedInFull) {
  for (const OpInfo& op : describe_ops()) {
    EXPECT_FALSE(op.name.empty());
    EXPECT_THAT(op.summary, testing::EndsWith(".")) << op.name;
    EXPECT_THAT(op.signature, testing::MatchesRegex("\\([^:]*\\)")) << op.name;
    EXPECT_THAT(op.summary, testing::Not(testing::HasSubstr("|"))) << op.name;
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

TEST(OpsMarkdown, IsATableForEachFamilyWithOneRowForEachOp) {
  const std::string text = ops_markdown();
  EXPECT_THAT(text,
              testing::StartsWith("### reduction\n\n| operator | what it does | int32 gives | "
                                  "nothing counts | gradient |\n|---|---|---|---|---|\n"));
  for (const OpInfo& op : describe_ops()) {
    EXPECT_THAT(text, testing::HasSubstr("### " + op.family + "\n"));
    EXPECT_THAT(text,
                testing::HasSubstr("\n| `" + op.name + op.signature + "` | " + op.summary + " |"));
  }
  EXPECT_THAT(text, testing::HasSubstr("| `sum(input, dim=None, *, keepdim=False, dtype=None, "
                                       "mask=None)` | Add the elements that count. | int64 | 0 | "
                                       "yes |\n"));
}

TEST(DescribeOps, TellsAliasesAndInPlaceForms) {
  for (const OpInfo& op : describe_ops()) {
    if (op.name != "abs") continue;
    EXPECT_THAT(op.aliases, testing::ElementsAre("absolute"));
    EXPECT_TRUE(op.is_in_place);
    EXPECT_FALSE(op.is_masked);
    return;
  }
  FAIL() << "abs is not listed";
}

}  // namespace
}  // namespace loup::masked
