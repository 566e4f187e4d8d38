#include "loup/ops/signature.h"

#include <gtest/gtest.h>

#include "loup/ops/binary.h"
#include "loup/ops/functions.h"
#include "loup/ops/unary.h"

namespace loup::ops {
namespace {

TEST(PythonSignature, NamesTheParametersOfUnaryOperators) {
  EXPECT_EQ(python_signature(ops::exp), "(input: object) -> Tensor");
  EXPECT_EQ(python_signature(ops::round), "(input: object, decimals: int = 0) -> Tensor");
  EXPECT_EQ(python_signature(gelu), "(input: object, approximate: str = 'none') -> Tensor");
  EXPECT_EQ(python_signature(logit), "(input: object, eps: float | None = None) -> Tensor");
  EXPECT_EQ(python_signature(softplus),
            "(input: object, beta: float = 1, threshold: float = 20) -> Tensor");
  EXPECT_EQ(python_signature(nan_to_num),
            "(input: object, nan: float = 0, posinf: float | None = None, neginf: float | None = "
            "None) -> Tensor");
}

TEST(PythonSignature, NamesTheOptionsOfBinaryOperators) {
  EXPECT_EQ(python_signature(mul), "(input: object, other: object) -> Tensor");
  EXPECT_EQ(python_signature(add),
            "(input: object, other: object, *, alpha: float | None = None) -> Tensor");
  EXPECT_EQ(python_signature(ops::div),
            "(input: object, other: object, *, rounding_mode: str | None = None) -> Tensor");
  EXPECT_EQ(option_of(mul), nullptr);
  EXPECT_STREQ(option_of(sub), "alpha");
}

TEST(Untyped, LeavesNamesAndDefaults) {
  EXPECT_EQ(untyped("(input: object) -> Tensor"), "(input)");
  EXPECT_EQ(untyped("(input: object, dim: int | None = None, *, x: float = 1e-05) -> Tensor"),
            "(input, dim=None, *, x=1e-05)");
  EXPECT_EQ(untyped("(tensors: collections.abc.Sequence[object], dim: int = 0) -> list[Tensor]"),
            "(tensors, dim=0)");
  EXPECT_EQ(untyped("(a: dict[str, list[int]] = None) -> tuple[int, int]"), "(a=None)");
}

TEST(FindFunction, FindsWhatIsListed) {
  ASSERT_NE(find_function("where"), nullptr);
  EXPECT_STREQ(find_function("where")->name, "where");
  EXPECT_EQ(find_function("nothing"), nullptr);
}

TEST(Functions, AreDescribedInOneForm) {
  for (const FunctionList& list : all_functions) {
    for (const Function& function : list.functions) {
      const std::string_view signature = function.signature;
      const std::string_view summary = function.summary;
      EXPECT_TRUE(signature.starts_with('(')) << function.name;
      EXPECT_NE(signature.find(") -> "), std::string_view::npos) << function.name;
      EXPECT_TRUE(summary.ends_with('.')) << function.name;
    }
  }
}

}  // namespace
}  // namespace loup::ops
