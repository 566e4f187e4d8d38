#include "loup/tensor/create.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "loup/tensor/views.h"
#include "tests/support/errors.h"
#include "tests/support/sanitizer.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup {
namespace {

using test::elements;
using test::expect_error;

TEST(Empty, HasTheShapeAndDType) {
  const Tensor x = empty({2, 0, 3}, DType::i16);
  EXPECT_EQ(x.shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(x.dtype(), DType::i16);
  EXPECT_EQ(x.size(), 0);
}

TEST(Empty, HasEightDimsAtMost) {
  EXPECT_EQ(empty({1, 2, 1, 2, 1, 2, 1, 2}).size(), 16);
  expect_error<ShapeError>([] { empty({1, 1, 1, 1, 1, 1, 1, 1, 1}); },
                           "shape: expected at most 8 dimensions", "got 9");
}

TEST(Empty, RefusesMoreElementsThanCanBeCounted) {
  expect_error<ShapeError>([] { empty({INT64_MAX, 2}); },
                           "shape: expected at most 9223372036854775807 elements",
                           "got shape [9223372036854775807, 2]");
}

TEST(Empty, RefusesMoreBytesThanCanBeCounted) {
  expect_error<ShapeError>([] { empty({INT64_MAX}, DType::f64); },
                           "empty: expected at most 9223372036854775807 bytes",
                           "got shape [9223372036854775807] of float64");
}

TEST(Empty, SaysWhenThereIsNoMemory) {
  if (test::under_address_sanitizer) GTEST_SKIP() << "AddressSanitizer would end the process";
  EXPECT_THROW(empty({std::int64_t{1} << 60}, DType::u8), std::bad_alloc);
}

TEST(Empty, RefusesANegativeSize) {
  expect_error<ShapeError>([] { empty({2, -1}); }, "shape: expected sizes of at least 0",
                           "got [2, -1]");
}

TEST(Full, TakesTheDTypeOfItsValue) {
  EXPECT_EQ(full({1}, true).dtype(), DType::boolean);
  EXPECT_EQ(full({1}, 1).dtype(), DType::i64);
  EXPECT_EQ(full({1}, 1.0).dtype(), DType::f32);
  EXPECT_EQ(full({1}, 1.0, DType::f16).dtype(), DType::f16);
}

TEST(Full, WritesEveryElementOnEveryNumberOfThreads) {
  test::with_threads({1, 2, 7}, [] {
    const Tensor x = full({1'000'003}, 7, DType::i16);
    for (const std::int16_t value : x.data<const std::int16_t>()) ASSERT_EQ(value, 7);
  });
}

TEST(ZerosAndOnes, AreFloat32UnlessAsked) {
  EXPECT_EQ(zeros({2}).dtype(), DType::f32);
  EXPECT_EQ(elements<float>(zeros({2})), (std::vector<float>{0, 0}));
  EXPECT_EQ(elements<int>(ones({2}, DType::u8)), (std::vector<int>{1, 1}));
}

TEST(LikeForms, TakeShapeAndDTypeFromTheModelAndAreContiguous) {
  const Tensor base = zeros({2, 3}, DType::i8);
  const Tensor model = base.with_layout(transpose(base.layout(), 0, 1));
  for (const Tensor& x :
       {empty_like(model), zeros_like(model), ones_like(model), full_like(model, 5)}) {
    EXPECT_EQ(x.shape(), (Shape{3, 2}));
    EXPECT_EQ(x.dtype(), DType::i8);
    EXPECT_TRUE(x.is_contiguous());
  }
  EXPECT_EQ(full_like(model, 5).at<int>({2, 1}), 5);
  EXPECT_EQ(ones_like(model).at<int>({2, 1}), 1);
  EXPECT_EQ(zeros_like(model).at<int>({2, 1}), 0);
}

TEST(LikeForms, TakeAnotherDTypeWhenAsked) {
  EXPECT_EQ(zeros_like(zeros({1}), DType::f64).dtype(), DType::f64);
}

TEST(Arange, OfIntegersIsInt64) {
  const Tensor x = arange(2, 8, 3);
  EXPECT_EQ(x.dtype(), DType::i64);
  EXPECT_EQ(elements<int>(x), (std::vector<int>{2, 5}));
}

TEST(Arange, OfAFloatIsFloat32) {
  const Tensor x = arange(0, 1, 0.25);
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 0.25F, 0.5F, 0.75F}));
}

TEST(Arange, CountsDown) {
  EXPECT_EQ(elements<int>(arange(5, -3, -3)), (std::vector<int>{5, 2, -1}));
  EXPECT_EQ(elements<double>(arange(1.0, 0.0, -0.5)), (std::vector<double>{1, 0.5}));
}

TEST(Arange, IsEmptyWhenTheStepLeadsAway) {
  EXPECT_EQ(arange(0, 5, -1).shape(), (Shape{0}));
  EXPECT_EQ(arange(3, 3).shape(), (Shape{0}));
}

TEST(Arange, TakesADType) {
  EXPECT_EQ(elements<float>(arange(0, 3, 1, DType::bf16)), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(arange(0, 3, 1, DType::bf16).dtype(), DType::bf16);
}

TEST(Arange, IsExactBeyondWhatADoubleHolds) {
  const std::int64_t first = (std::int64_t{1} << 53);
  EXPECT_EQ(elements<std::int64_t>(arange(first, first + 3)),
            (std::vector<std::int64_t>{first, first + 1, first + 2}));
  EXPECT_EQ(elements<std::int64_t>(arange(INT64_MAX - 2, INT64_MAX)),
            (std::vector<std::int64_t>{INT64_MAX - 2, INT64_MAX - 1}));
}

TEST(Arange, SpansAllIntegers) {
  EXPECT_EQ(elements<std::int64_t>(arange(INT64_MIN, INT64_MAX, INT64_MAX)),
            (std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

TEST(Arange, FillsLongRangesOnEveryNumberOfThreads) {
  test::with_threads({1, 2, 7}, [] {
    const Tensor x = arange(5, 1'000'005);
    std::int64_t wanted = 5;
    for (const std::int64_t value : x.data<const std::int64_t>()) ASSERT_EQ(value, wanted++);
  });
}

TEST(Arange, RefusesAStepOfZero) {
  expect_error<ValueError>([] { arange(1, 5, 0); },
                           "arange: expected finite ends and a step other than 0",
                           "got start 1, stop 5, step 0");
}

TEST(Arange, RefusesEndlessRanges) {
  EXPECT_THROW(arange(0.0, std::numeric_limits<double>::infinity()), ShapeError);
  EXPECT_THROW(arange(0.0, std::nan("")), ValueError);
}

TEST(FromData, CopiesRowMajorElements) {
  std::vector<double> values(6);
  std::iota(values.begin(), values.end(), 0.0);
  const Tensor x = from_data(std::span<const double>(values), {2, 3});
  values[0] = 9;
  EXPECT_EQ(x.at<double>({0, 0}), 0);
  EXPECT_EQ(x.at<double>({1, 2}), 5);
}

TEST(FromData, RefusesAnotherNumberOfElements) {
  const std::vector<float> values(5);
  expect_error<ShapeError>([&] { from_data(std::span<const float>(values), {2, 3}); },
                           "from_data: expected 6 elements for shape [2, 3]", "got 5");
}

TEST(Braces, GiveTheDTypeOfTheirElements) {
  EXPECT_EQ(tensor({1.0F, 2.0F}).dtype(), DType::f32);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), DType::f64);
  EXPECT_EQ(tensor({1, 2}).dtype(), DType::i32);
  EXPECT_EQ(tensor({true}).dtype(), DType::boolean);
}

TEST(Braces, MakeUpToThreeDims) {
  EXPECT_EQ(tensor({1, 2, 3}).shape(), (Shape{3}));
  EXPECT_EQ(tensor({{1, 2, 3}, {4, 5, 6}}).shape(), (Shape{2, 3}));
  const Tensor x = tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
  EXPECT_EQ(x.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(elements<int>(x), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Braces, RefuseRaggedRows) {
  expect_error<ShapeError>([] { tensor({{1, 2}, {3}}); }, "tensor: expected rows of 2 elements",
                           "got one of 1");
}

TEST(Braces, RefuseLongerRowsWithoutWritingThem) {
  expect_error<ShapeError>([] { tensor({{1}, {2, 3, 4}}); }, "tensor: expected rows of 1 elements",
                           "got one of 3");
}

TEST(Braces, RefuseRaggedBlocks) {
  expect_error<ShapeError>([] { tensor({{{1, 2}}, {{1, 2}, {3, 4}}}); },
                           "tensor: expected blocks of shape [1, 2]", "got one of [2, 2]");
}

}  // namespace
}  // namespace loup
