#include "loup/ops/select.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "tests/support/elementwise.h"
#include "tests/support/errors.h"

namespace loup::ops {
namespace {

using test::Doubles;
using test::elements;
using test::expect_error;
using test::leaf;

TEST(Where, ChoosesAndBroadcasts) {
  const Tensor condition = tensor({{true}, {false}});
  const Tensor result = where(condition, tensor({1, 2}), 0.5);
  EXPECT_EQ(result.dtype(), DType::f32);
  EXPECT_EQ(elements<float>(result), (std::vector<float>{1, 2, 0.5, 0.5}));
  EXPECT_EQ(where(tensor({true}), 1, 2).item<std::int64_t>(), 1);
}

TEST(Where, RefusesOtherConditionsAndNumbersThatDoNotFit) {
  expect_error<DTypeError>([] { where(tensor({1, 0}), 1, 2); },
                           "where: expected a condition of bool", "got int32");
  expect_error<ValueError>([] { where(tensor({true}), zeros({1}, DType::u8), 300); },
                           "where: expected a number that fits uint8", "got 300");
  expect_error<ShapeError>([] { where(tensor({true, false}), zeros({3}), 0); },
                           "where: expected shapes that broadcast together", "got [2] and [3]");
}

TEST(Where, SendsTheGradientToTheChosenSideOnly) {
  const Tensor condition = tensor({true, false, true, false});
  const auto f = [&](const std::vector<Tensor>& x) { return where(condition, x[0], x[1]); };
  EXPECT_EQ(test::gradients_of(f, {{1, 2, 3, 4}, {5, 6, 7, 8}}),
            (std::vector<Doubles>{{1, 0, 1, 0}, {0, 1, 0, 1}}));
}

TEST(Where, HidesWhatWasNotChosen) {
  // The slope of 1 / x is infinite at 0, where the other side was chosen.
  const Tensor x = leaf(tensor({0.0, 2.0}));
  autograd::backward(test::sum(where(x == 0, 0, 1 / x)));
  EXPECT_EQ(test::grad_of(x), (Doubles{0, -0.25}));
}

TEST(Where, SumsTheGradientOfWhatItRepeated) {
  const Tensor x = leaf(tensor({1.0}));
  autograd::backward(test::sum(where(tensor({true, false, true}), x, 0)));
  EXPECT_EQ(test::grad_of(x), Doubles{2});
}

TEST(Clamp, MovesIntoTheInterval) {
  const Tensor x = tensor({-2.0, 0.5, 3.0, std::nan("")});
  const Doubles both = elements<double>(clamp(x, 0, 1));
  EXPECT_EQ(Doubles(both.begin(), both.end() - 1), (Doubles{0, 0.5, 1}));
  EXPECT_TRUE(std::isnan(both.back()));
  EXPECT_EQ(elements<double>(clamp(x, 0, {}))[2], 3);
  EXPECT_EQ(elements<double>(clamp(x, {}, 0))[0], -2);
  EXPECT_EQ(elements<double>(clamp(x, 2, 1))[1], 1);
  EXPECT_EQ(clamp(x, zeros({2, 1}, DType::f64), {}).shape(), (Shape{2, 4}));
}

TEST(Clamp, TakesBoundsBeyondTheIntegersOfTheDType) {
  const Tensor x = ops::to(tensor({0, 100, 127}), DType::i8);
  EXPECT_EQ(test::bits_of(clamp(x, -1000, std::int64_t{1} << 40)), test::bits_of(x));
  EXPECT_EQ(elements<std::int8_t>(clamp(x, 1, 1000)), (std::vector<std::int8_t>{1, 100, 127}));
  expect_error<ValueError>([&] { clamp(x, 1000, {}); }, "clamp: expected a number that fits int8",
                           "got 1000");
}

TEST(Clamp, RefusesBoolAndNoBounds) {
  expect_error<ValueError>([] { clamp(zeros({2}), {}, {}); }, "clamp: expected min, max or both",
                           "got neither");
  expect_error<DTypeError>([] { clamp(zeros({2}, DType::boolean), false, {}); },
                           "clamp: expected a numeric dtype", "got bool");
}

TEST(Clamp, SendsTheGradientToWhatItShows) {
  const auto f = [](const std::vector<Tensor>& x) { return clamp(x[0], x[1], x[2]); };
  EXPECT_EQ(test::gradients_of(f, {{-1, 0.5, 2, 0, 5}, {0, 0, 0, 0, 3}, {1, 1, 1, 1, 2}}),
            (std::vector<Doubles>{{0, 1, 0, 1, 0}, {1, 0, 0, 0, 0}, {0, 0, 1, 0, 1}}));
}

TEST(Clamp, InPlaceRefusesWhatItCannotHold) {
  Tensor x = tensor({-2.0, 3.0});
  clamp_(x, 0, 1);
  EXPECT_EQ(elements<double>(x), (Doubles{0, 1}));
  expect_error<ShapeError>([&] { clamp_(x, zeros({3, 2}), {}); },
                           "clamp_: expected operands broadcastable to [2]", "got shape [3, 2]");
  Tensor integers = tensor({1, 2});
  expect_error<DTypeError>([&] { clamp_(integers, 0.5, {}); },
                           "clamp_: expected a tensor that can hold float32", "got int32");
}

TEST(Lerp, IsExactAtBothEnds) {
  const Tensor a = tensor({0.1, 1e300});
  const Tensor b = tensor({0.7, -1.0});
  EXPECT_EQ(test::bits_of(lerp(a, b, 0)), test::bits_of(a));
  EXPECT_EQ(test::bits_of(lerp(a, b, 1)), test::bits_of(b));
  expect_error<DTypeError>([] { lerp(tensor({1}), 2, 1); }, "lerp: expected a floating dtype",
                           "got int32");
}

TEST(Lerp, HasTheSlopesOfItsDifferences) {
  const auto f = [](const std::vector<Tensor>& x) { return lerp(x[0], x[1], x[2]); };
  const std::vector<Doubles> inputs = {test::spread(-2, 2), test::spread(3, 4),
                                       test::spread(-0.4, 1.3)};
  test::expect_differences(f, inputs);
  test::expect_nothing_leaks(f, inputs);
}

TEST(Lerp, ReckonsWithIntegersInFloatingPoint) {
  const Tensor weight = leaf(tensor({0.5}));
  const Tensor a = ops::to(tensor({-100}), DType::i8);
  const Tensor b = ops::to(tensor({100}), DType::i8);
  autograd::backward(test::sum(lerp(a, b, weight)));
  EXPECT_EQ(test::grad_of(weight), Doubles{200});
}

TEST(Lerp, InPlaceRefusesWhatItCannotHold) {
  Tensor x = tensor({0.0, 2.0});
  lerp_(x, tensor({4.0}), 0.5);
  EXPECT_EQ(elements<double>(x), (Doubles{2, 3}));
  expect_error<ShapeError>([&] { lerp_(x, x, zeros({3, 1}, DType::f64)); },
                           "lerp_: expected operands broadcastable to [2]", "got shape [3, 1]");
}

}  // namespace
}  // namespace loup::ops
