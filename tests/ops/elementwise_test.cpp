#include "loup/ops/elementwise.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/unary.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::elements;
using test::expect_error;
using test::leaf;

using Doubles = std::vector<double>;

DType type_of(const std::vector<Operand>& operands) {
  std::vector<const Operand*> pointers;
  for (const Operand& operand : operands) pointers.push_back(&operand);
  return result_type(pointers);
}

// --- Operand and result_type ---

TEST(Operand, IsATensorOrANumber) {
  const Tensor x = zeros({2}, DType::i8);
  EXPECT_FALSE(Operand(x).is_number());
  EXPECT_EQ(Operand(x).dtype(), DType::i8);
  EXPECT_EQ(Operand(x).shape(), Shape{2});
  EXPECT_TRUE(Operand(3).is_number());
  EXPECT_EQ(Operand(3).dtype(), DType::i64);
  EXPECT_EQ(Operand(true).dtype(), DType::boolean);
  EXPECT_EQ(Operand(0.5).dtype(), DType::f32);
  EXPECT_EQ(Operand(3).shape(), Shape{});
}

TEST(Operand, OwnsATensorThatIsMovedIntoIt) {
  Tensor x = tensor({1.0, 2.0});
  const Operand operand(std::move(x));
  EXPECT_EQ(elements<double>(operand.tensor()), (Doubles{1, 2}));
}

TEST(Operand, BecomesATensorOfTheDTypeAskedFor) {
  EXPECT_EQ(Operand(3).as_tensor(DType::f16).dtype(), DType::f16);
  EXPECT_EQ(Operand(3).as_tensor(DType::f64).item<double>(), 3);
  EXPECT_EQ(Operand(zeros({2}, DType::i8)).as_tensor(DType::f64).dtype(), DType::i8);
}

TEST(ResultType, IsDecidedByTensorsWithDims) {
  const Tensor bytes = zeros({2}, DType::u8);
  const Tensor half = zeros({2}, DType::f16);
  const Tensor one_double = zeros({}, DType::f64);
  const Tensor one_long = zeros({}, DType::i64);
  EXPECT_EQ(type_of({bytes, half}), DType::f16);
  EXPECT_EQ(type_of({bytes, one_long}), DType::u8);
  EXPECT_EQ(type_of({bytes, one_double}), DType::f64);
  EXPECT_EQ(type_of({half, one_double}), DType::f16);
  EXPECT_EQ(type_of({one_long, one_double}), DType::f64);
}

TEST(ResultType, HearsNumbersOnlyWhereTheyAreOfAHigherKind) {
  const Tensor truth = zeros({2}, DType::boolean);
  const Tensor bytes = zeros({2}, DType::u8);
  const Tensor half = zeros({}, DType::f16);
  EXPECT_EQ(type_of({truth, 1}), DType::i64);
  EXPECT_EQ(type_of({truth, 0.5}), DType::f32);
  EXPECT_EQ(type_of({bytes, 1}), DType::u8);
  EXPECT_EQ(type_of({bytes, true}), DType::u8);
  EXPECT_EQ(type_of({bytes, 0.5}), DType::f32);
  EXPECT_EQ(type_of({half, 0.5}), DType::f16);
  EXPECT_EQ(type_of({1, 0.5}), DType::f32);
  EXPECT_EQ(type_of({1, true}), DType::i64);
}

// --- calls ---

TEST(Unary, KeepsTheShapeAndMakesIntegersFloat32WhereItMust) {
  const Tensor x = tensor({{1, 4}, {9, 16}});
  EXPECT_EQ(elements<float>(ops::sqrt(x)), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(ops::sqrt(x).shape(), (Shape{2, 2}));
  EXPECT_EQ(ops::neg(x).dtype(), DType::i32);
  EXPECT_EQ(ops::isnan(x).dtype(), DType::boolean);
  EXPECT_EQ(ops::sqrt.result_dtype(DType::i8), DType::f32);
  EXPECT_EQ(ops::sqrt.result_dtype(DType::bf16), DType::bf16);
  EXPECT_EQ(ops::isnan.result_dtype(DType::bf16), DType::boolean);
}

TEST(Unary, RefusesDTypesItIsNotDefinedFor) {
  expect_error<DTypeError>([] { ops::neg(zeros({2}, DType::boolean)); },
                           "neg: expected a numeric dtype", "got bool");
  expect_error<DTypeError>([] { ops::bitwise_not(zeros({2})); },
                           "bitwise_not: expected integers or bool", "got float32");
  expect_error<DTypeError>([] { ops::frac(zeros({2}, DType::i32)); },
                           "frac: expected a dtype it is defined for", "got int32");
}

TEST(Unary, TurnsBoolAroundAndIntegersBitByBit) {
  EXPECT_EQ(elements<bool>(bitwise_not(tensor({true, false}))), (std::vector<bool>{false, true}));
  EXPECT_EQ(elements<std::int64_t>(bitwise_not(tensor({0, 5}))),
            (std::vector<std::int64_t>{-1, -6}));
}

TEST(Unary, TakesParametersOrTheirDefaults) {
  const Tensor x = tensor({1.26, -2.5});
  EXPECT_EQ(elements<double>(ops::round(x)), (Doubles{1, -2}));
  EXPECT_EQ(elements<double>(ops::round(x, 1)), (Doubles{1.3, -2.5}));
  EXPECT_EQ(elements<double>(nan_to_num(tensor({std::nan(""), infinity}), 5)),
            (Doubles{5, std::numeric_limits<double>::max()}));
  EXPECT_EQ(elements<double>(nan_to_num(tensor({infinity, -infinity}), 0, infinity, -3)),
            (Doubles{infinity, -3}));
  EXPECT_EQ(nan_to_num(full({}, infinity, DType::f16)).item<float>(), 65504);
}

TEST(Unary, RefusesParametersThatMakeNoSense) {
  expect_error<ValueError>([] { ops::round(zeros({2}), 0.5); },
                           "round: expected decimals as an integer", "got 0.5");
  expect_error<ValueError>([] { polygamma(ones({2}), -1); }, "polygamma: expected n of at least 0",
                           "got -1");
}

TEST(Unary, WritesIntoItsArgument) {
  Tensor x = tensor({1.0, 4.0});
  const std::byte* const memory = x.raw_data();
  ops::sqrt.in_place(x);
  EXPECT_EQ(elements<double>(x), (Doubles{1, 2}));
  EXPECT_EQ(x.raw_data(), memory);
  ops::logical_not.in_place(x);
  EXPECT_EQ(elements<double>(x), (Doubles{0, 0}));
  Tensor integers = tensor({1, 4});
  expect_error<DTypeError>([&] { ops::sqrt.in_place(integers); },
                           "sqrt_: expected a tensor that can hold float32", "got int32");
}

TEST(Unary, CountsItsChange) {
  Tensor x = tensor({1.0});
  const auto version = x.storage().version();
  ops::exp.in_place(x);
  EXPECT_GT(x.storage().version(), version);
}

TEST(Binary, BroadcastsAndPromotes) {
  const Tensor x = tensor({{1.0}, {2.0}});
  const Tensor y = tensor({10, 20, 30});
  const Tensor sum = add(x, y);
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  EXPECT_EQ(sum.dtype(), DType::f64);
  EXPECT_EQ(elements<double>(sum), (Doubles{11, 21, 31, 12, 22, 32}));
  expect_error<ShapeError>([&] { add(y, zeros({2})); },
                           "add: expected shapes that broadcast together", "got [3] and [2]");
}

TEST(Binary, TakesNumbersOnEitherSide) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_EQ(elements<double>(sub(x, 3)), (Doubles{-2, -1}));
  EXPECT_EQ(elements<double>(sub(3, x)), (Doubles{2, 1}));
  EXPECT_EQ(add(1, 2).item<std::int64_t>(), 3);
  EXPECT_EQ(add(x, 0.1).at<double>({0}), 1.1);
}

TEST(Binary, RefusesNumbersThatDoNotFit) {
  const Tensor bytes = zeros({2}, DType::u8);
  expect_error<ValueError>([&] { add(bytes, 300); }, "add: expected a number that fits uint8",
                           "got 300");
  expect_error<ValueError>([&] { mul(-1, bytes); }, "mul: expected a number that fits uint8",
                           "got -1");
}

TEST(Binary, ComparesNumbersAsTheyAre) {
  const Tensor bytes = ops::to(tensor({0, 44}), DType::u8);
  EXPECT_EQ(elements<bool>(lt(bytes, 300)), (std::vector<bool>{true, true}));
  EXPECT_EQ(elements<bool>(eq(bytes, 300)), (std::vector<bool>{false, false}));
  EXPECT_EQ(elements<bool>(gt(bytes, -1)), (std::vector<bool>{true, true}));
  EXPECT_EQ(elements<bool>(lt(bytes, 43.5)), (std::vector<bool>{true, false}));
}

TEST(Binary, RefusesToDivideIntegersByZero) {
  const Tensor x = tensor({1, 2});
  const char* const rule = ": expected integers other than 0 as divisor";
  for (const Binary* const op : {&floor_divide, &trunc_divide, &ops::fmod, &ops::remainder}) {
    expect_error<ValueError>([&] { (*op)(x, tensor({1, 0})); }, test::joined(op->name, rule),
                             "got 0");
    expect_error<ValueError>([&] { (*op)(x, 0); }, test::joined(op->name, rule), "got 0");
  }
  EXPECT_EQ(elements<double>(floor_divide(tensor({1.0}), 0)), Doubles{infinity});
}

TEST(Binary, WritesIntoItsFirstOperandOnly) {
  Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  add.in_place(x, tensor({10.0, 20.0}));
  EXPECT_EQ(elements<double>(x), (Doubles{11, 22, 13, 24}));
  sub.in_place(x, 1);
  EXPECT_EQ(elements<double>(x), (Doubles{10, 21, 12, 23}));
  Tensor row = tensor({1.0, 2.0});
  expect_error<ShapeError>([&] { add.in_place(row, x); },
                           "add_: expected operands broadcastable to [2]", "got shape [2, 2]");
  Tensor integers = tensor({1, 2});
  expect_error<DTypeError>([&] { add.in_place(integers, 0.5); },
                           "add_: expected a tensor that can hold float32", "got int32");
  expect_error<ValueError>(
      [&] {
        Tensor wide = expand(row, {3, 2});
        add.in_place(wide, 1);
      },
      "add_: expected a tensor that holds each element once", "got one expanded along dim 0");
}

TEST(Binary, RoundsNumbersInPlaceAsItDoesOutOfPlace) {
  const Tensor x = ops::to(tensor({3.0, 6.0}), DType::f16);
  Tensor y = clone(x);
  mul.in_place(y, 0.1);
  EXPECT_EQ(test::bits_of(y), test::bits_of(mul(x, 0.1)));
}

TEST(Binary, ReadsOverlappingOperandsFirst) {
  const Tensor x = arange(0, 100, 1, DType::f32);
  Tensor later = slice(x, 0, 1, 100);
  add.in_place(later, slice(x, 0, 0, 99));
  for (std::int64_t i = 1; i < 100; ++i) {
    ASSERT_EQ(x.at<float>({i}), static_cast<float>(2 * i - 1));
  }
  Tensor square = reshape(arange(0, 9, 1, DType::f64), {3, 3});
  add.in_place(square, transpose(square, 0, 1));
  EXPECT_EQ(elements<double>(square), (Doubles{0, 4, 8, 4, 8, 12, 8, 12, 16}));
}

TEST(Binary, GivesResultsThatLieInMemoryAsTheirOperandsDo) {
  const Tensor x = permute(zeros({2, 3, 4}), {2, 0, 1});
  EXPECT_EQ(add(x, x).strides(), x.strides());
  EXPECT_EQ(mul(x, 2).strides(), x.strides());
  EXPECT_EQ(ops::exp(x).strides(), x.strides());
  EXPECT_TRUE(add(x, contiguous(x)).is_contiguous());
}

// --- records ---

TEST(Binary, SumsTheGradientOfWhatItRepeated) {
  const Tensor x = leaf(tensor({{1.0}, {2.0}}));
  const Tensor y = leaf(tensor({10.0, 20.0, 30.0}));
  autograd::backward(test::sum(mul(x, y)));
  EXPECT_EQ(test::grad_of(x), (Doubles{60, 60}));
  EXPECT_EQ(test::grad_of(y), (Doubles{3, 3, 3}));
}

TEST(Binary, GivesGradientsTheDTypeOfTheirInput) {
  const Tensor x = leaf(ones({2}, DType::f16));
  const Tensor y = leaf(ones({2}, DType::f64));
  autograd::backward(test::sum(mul(x, y)));
  EXPECT_EQ(autograd::grad(x)->dtype(), DType::f16);
  EXPECT_EQ(autograd::grad(y)->dtype(), DType::f64);
}

TEST(Binary, ReckonsWithIntegersInFloatingPoint) {
  // The square of an int8 would wrap.
  const Tensor x = ops::to(tensor({100}), DType::i8);
  const Tensor y = leaf(tensor({1.0}));
  autograd::backward(test::sum(ops::atan2(y, x)));
  EXPECT_DOUBLE_EQ(test::grad_of(y)[0], 100.0 / 10001);
}

TEST(Binary, IsNotRecordedWhereNothingFlows) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  EXPECT_FALSE(lt(x, 1).requires_grad());
  EXPECT_FALSE(add(x.detach(), 1).requires_grad());
  const autograd::RecordingScope off(false);
  EXPECT_FALSE(add(x, 1).requires_grad());
}

TEST(Binary, KeepsOnlyWhatItsRuleReads) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = mul(x, 3);
  const Tensor sum = add(y, 1);  // add saves nothing
  mul.in_place(y, 5);
  autograd::backward(test::sum(sum));
  EXPECT_EQ(test::grad_of(x), (Doubles{3, 3}));
}

TEST(Elementwise, InPlaceHasTheGradientOfTheOther) {
  const Tensor x = leaf(tensor({1.0, 4.0}));
  Tensor y = mul(x, 1);
  ops::sqrt.in_place(y);
  mul.in_place(y, 3);
  autograd::backward(test::sum(y));
  EXPECT_EQ(test::grad_of(x), (Doubles{1.5, 0.75}));
}

TEST(Elementwise, PassesAGradientMaskOn) {
  const Tensor x = leaf(tensor({2.0, 3.0}));
  const Tensor y = ops::div(x, tensor({0.0, 1.0}));
  const Tensor mask = tensor({false, true});
  autograd::backward(test::sum(y, {}, &mask));
  EXPECT_EQ(test::grad_of(x), (Doubles{0, 1}));
}

}  // namespace
}  // namespace loup::ops
