#include "loup/tensor/print.h"

#include <cmath>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

namespace loup {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(TensorText, AlignsRowsWithOneCellWidth) {
  EXPECT_EQ(to_string(tensor({{0.0F, -1.5F}, {10.0F, 2.0F}})),
            "Tensor(\n"
            "  [[  0.0,  -1.5],\n"
            "   [ 10.0,   2.0]]\n"
            ")");
}

TEST(TensorText, SeparatesBlocksByAnEmptyLine) {
  EXPECT_EQ(to_string(tensor({{{1L, 2L}}, {{3L, 4L}}})),
            "Tensor(\n"
            "  [[[ 1,  2]],\n"
            "\n"
            "   [[ 3,  4]]]\n"
            ")");
}

TEST(TensorText, GoesToStreams) {
  std::ostringstream stream;
  stream << full({}, 2.5);
  EXPECT_EQ(stream.str(), "Tensor(2.5)");
}

TEST(TensorText, OfAScalarIsOneLine) {
  EXPECT_EQ(to_string(full({}, 3)), "Tensor(3)");
  EXPECT_EQ(to_string(full({}, -3.14159265)), "Tensor(-3.1416)");
  EXPECT_EQ(to_string(full({}, true)), "Tensor(True)");
}

TEST(TensorText, TakesAsFewDecimalsAsAreExact) {
  EXPECT_EQ(to_string(tensor({1.0F, 2.5F})), "Tensor(\n  [ 1.0,  2.5]\n)");
  EXPECT_EQ(to_string(tensor({1.0F, 2.25F})), "Tensor(\n  [ 1.00,  2.25]\n)");
  EXPECT_EQ(to_string(tensor({1.0F, 2.125F})), "Tensor(\n  [ 1.000,  2.125]\n)");
}

TEST(TensorText, TakesFourDecimalsAtMost) {
  EXPECT_EQ(to_string(tensor({1.0F / 3})), "Tensor(\n  [ 0.3333]\n)");
  EXPECT_EQ(to_string(tensor({0.03125F})), "Tensor(\n  [ 0.0312]\n)");
}

TEST(TensorText, FindsAShortDecimalInEveryFloatType) {
  EXPECT_EQ(to_string(full({1}, 0.1)), "Tensor(\n  [ 0.1]\n)");
  EXPECT_EQ(to_string(full({1}, 0.1, DType::f16)), "Tensor(\n  [ 0.1], dtype=float16\n)");
}

TEST(TensorText, TurnsScientificForLargeMagnitudes) {
  EXPECT_EQ(to_string(tensor({1.0F, 99999999.0F})), "Tensor(\n  [ 1.0000e+00,  1.0000e+08]\n)");
  EXPECT_EQ(to_string(tensor({-1e8F, 1.0F})), "Tensor(\n  [-1.0000e+08,  1.0000e+00]\n)");
}

TEST(TensorText, TurnsScientificForSmallMagnitudesButNotForZero) {
  EXPECT_EQ(to_string(tensor({0.0F, 9e-5F})), "Tensor(\n  [ 0.0000e+00,  9.0000e-05]\n)");
  EXPECT_EQ(to_string(tensor({0.0F, 1.0F})), "Tensor(\n  [ 0.0,  1.0]\n)");
}

TEST(TensorText, WritesNanAndInfinityAsTheyAre) {
  EXPECT_EQ(to_string(tensor({1.0F, static_cast<float>(infinity), std::nanf("")})),
            "Tensor(\n  [ 1.0,  inf,  nan]\n)");
  EXPECT_EQ(to_string(full({1}, -infinity)), "Tensor(\n  [-inf]\n)");
}

TEST(TensorText, NamesADTypeThatIsNotTheUsualOne) {
  EXPECT_EQ(to_string(tensor({1, 2})), "Tensor(\n  [ 1,  2], dtype=int32\n)");
  EXPECT_EQ(to_string(full({}, 1, DType::u8)), "Tensor(1, dtype=uint8)");
  EXPECT_EQ(to_string(full({1}, 1.5, DType::f64)), "Tensor(\n  [ 1.5], dtype=float64\n)");
}

TEST(TensorText, OfBoolNamesTheValues) {
  EXPECT_EQ(to_string(tensor({true, false})), "Tensor(\n  [ True, False]\n)");
}

TEST(TensorText, OfIntegersIsPlain) {
  EXPECT_EQ(to_string(tensor({-5L, 1000000000000L})),
            "Tensor(\n  [           -5, 1000000000000]\n)");
}

TEST(TensorText, OfNothingTellsTheShape) {
  EXPECT_EQ(to_string(zeros({0})), "Tensor([])");
  EXPECT_EQ(to_string(zeros({2, 0})), "Tensor([], shape=[2, 0])");
}

TEST(TensorText, ShowsTheEndsOfLongDims) {
  EXPECT_EQ(to_string(arange(0, 1001)), "Tensor(\n  [   0,    1,    2, ...,  998,  999, 1000]\n)");
}

TEST(TensorText, ShowsAThousandElementsInFull) {
  const std::string text = to_string(arange(0, 1000));
  EXPECT_EQ(text.find("..."), std::string::npos);
  EXPECT_NE(text.find("500"), std::string::npos);
}

TEST(TensorText, ShowsTheEndsOfEveryDim) {
  const Tensor x = arange(0, 10000);
  EXPECT_EQ(to_string(x.with_layout(*view(x.layout(), {100, 100}))),
            "Tensor(\n"
            "  [[   0,    1,    2, ...,   97,   98,   99],\n"
            "   [ 100,  101,  102, ...,  197,  198,  199],\n"
            "   [ 200,  201,  202, ...,  297,  298,  299],\n"
            "   ...,\n"
            "   [9700, 9701, 9702, ..., 9797, 9798, 9799],\n"
            "   [9800, 9801, 9802, ..., 9897, 9898, 9899],\n"
            "   [9900, 9901, 9902, ..., 9997, 9998, 9999]]\n"
            ")");
}

TEST(TensorText, KeepsShortDimsOfALargeTensorWhole) {
  const Tensor x = zeros({2000, 6}, DType::i64);
  EXPECT_NE(to_string(x).find("[ 0,  0,  0,  0,  0,  0]"), std::string::npos);
}

TEST(TensorText, WrapsLongRows) {
  std::istringstream lines(to_string(arange(100000, 100030)));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), 90U) << line;
    ++count;
  }
  EXPECT_GT(count, 3);
}

TEST(TensorText, ChoosesTheFormatByWhatIsShown) {
  Tensor x = zeros({2000});
  x.set({1000}, 1e20);
  EXPECT_EQ(to_string(x), "Tensor(\n  [ 0.0,  0.0,  0.0, ...,  0.0,  0.0,  0.0]\n)");
}

TEST(FormatTensor, PutsDashesWhereTheMaskIsFalse) {
  const Tensor mask = tensor({true, false});
  EXPECT_EQ(format_tensor("X", tensor({1L, 22L}), &mask, ", more"), "X(\n  [ 1, --], more\n)");
}

}  // namespace
}  // namespace loup
