#include "loup/masked/ranks.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/masked/samples.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::data_2x4;
using test::elements;
using test::expect_error;
using test::inf;
using test::mask_2x4;
using test::nan;

using Reals = std::vector<double>;

// --- values ---

TEST(MaskedMedian, IsTheLowerMiddleOfWhatCounts) {
  EXPECT_EQ(elements<double>(median(data_2x4, -1, {.mask = mask_2x4})), (Reals{3, 6}));
  EXPECT_EQ(elements<double>(median(data_2x4)), (Reals{2, 6}));
  EXPECT_EQ(elements<double>(median(data_2x4, 0, {.mask = mask_2x4})), (Reals{3, 5, 2, 4}));
}

// A small line is selected from without a plan, and nobody may notice.
TEST(MaskedMedian, OfOneLineIsThatOfTheLineAmongOthers) {
  test::Random random;
  for (const std::int64_t size : {1, 7, 64, 65, 1000, 4096, 4097}) {
    for (const DType dtype : test::all_dtypes()) {
      if (dtype == DType::boolean) continue;
      const Tensor x = test::random_tensor(random, {3, size}, dtype);
      Tensor mask = test::random_mask(random, {3, size});
      for (std::int64_t r = 0; r < 3; ++r) mask.set({r, size / 2}, true);
      test::poison(x, mask, random);
      const Tensor all = median(x, 1, {.mask = mask});
      for (std::int64_t r = 0; r < 3; ++r) {
        const Tensor line = ops::select(x, 0, r);
        const Tensor counts = ops::select(mask, 0, r);
        const auto wanted = test::bits_of(ops::select(all, 0, r));
        EXPECT_EQ(test::bits_of(median(line, 0, {.mask = counts})), wanted) << size << name(dtype);
        const Tensor kept = median(line, -1, {.mask = counts, .keepdim = true});
        EXPECT_EQ(kept.shape(), (Shape{1}));
        EXPECT_EQ(test::bits_of(kept), wanted);
      }
    }
  }
}

TEST(MaskedMedian, IsNaNWhereOneThatCountsIs) {
  const Tensor x = tensor({{1.0, nan, 2.0}, {1.0, nan, 2.0}});
  const Tensor m = tensor({{true, true, true}, {true, false, true}});
  const auto got = elements<double>(median(x, 1, {.mask = m}));
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 1);
}

TEST(MaskedMedian, IsExactOnLargeIntegers) {
  const Tensor x =
      tensor({std::int64_t{(1LL << 60) + 1}, std::int64_t{1LL << 60}, std::int64_t{0}});
  EXPECT_EQ(median(x).item<std::int64_t>(), 1LL << 60);
  EXPECT_EQ(median(tensor({(1 << 24) + 1, 1 << 24, (1 << 24) + 2})).item<int>(), (1 << 24) + 1);
}

TEST(MaskedMedian, OfANumberIsThatNumber) {
  const Tensor x = full({}, 3.0, DType::f64);
  EXPECT_EQ(median(x).item<double>(), 3);
  EXPECT_EQ(median(x, 0, {.keepdim = true}).shape(), Shape{});
  EXPECT_TRUE(std::isnan(median(x, -1, {.mask = zeros({}, DType::boolean)}).item<double>()));
}

TEST(MaskedMedian, ConvertsFirst) {
  EXPECT_EQ(median(tensor({1.9, 2.9, 0.2}), -1, {.dtype = DType::i32}).item<int>(), 1);
  EXPECT_EQ(median(tensor({1.9, 2.9, 0.2}), -1, {.dtype = DType::i32}).dtype(), DType::i32);
}

TEST(MaskedMedian, OfIntegersOfWhichNoneCountsIsAnErrorOrMasked) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  const Tensor m = tensor({{true, false}, {false, false}});
  expect_error<ValueError>([&] { median(x, 1, {.mask = m}); },
                           "median: expected an element that counts in every line of int32",
                           "got a line that is fully masked");
  const MaskedTensor got = median(as_masked_tensor(x, m), 1);
  EXPECT_EQ(elements<int>(got.get_data()), (std::vector<int>{1, 0}));
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, false}));
}

TEST(MaskedMedian, RefusesLinesWithoutElements) {
  expect_error<IndexError>([] { median(zeros({2, 0}), 1); },
                           "median: expected elements along dim 1", "got shape [2, 0]");
  EXPECT_EQ(median(zeros({0, 2}), 1).shape(), Shape{0});
}

TEST(MaskedMedian, RefusesBadArguments) {
  expect_error<IndexError>([] { median(data_2x4, 2); }, "median: expected a dim from -2 to 1",
                           "got 2");
  expect_error<DTypeError>([] { median(data_2x4, 1, {.mask = data_2x4}); },
                           "median: expected a mask of bool or integers", "got float64");
  EXPECT_THROW(median(data_2x4, 1, {.mask = ones({3}, DType::boolean)}), ShapeError);
  EXPECT_THROW(median(data_2x4, 1, {.mask = ones({1, 2, 4}, DType::boolean)}), IndexError);
}

TEST(MaskedQuantile, StandsBetweenElements) {
  EXPECT_EQ(quantile(data_2x4, 0.5).item<double>(), 4.5);
  EXPECT_EQ(elements<double>(quantile(data_2x4, 0.25, -1, {.mask = mask_2x4})), (Reals{2.5, 5.75}));
  const Tensor several = quantile(data_2x4, std::array{0.0, 1.0}, 0);
  EXPECT_EQ(several.shape(), (Shape{2, 4}));
  EXPECT_EQ(elements<double>(several), (Reals{3, 1, 2, 4, 8, 5, 7, 6}));
}

TEST(MaskedQuantile, KnowsEveryInterpolation) {
  const Tensor x = tensor({0.0, 10.0, 20.0, 40.0});  // place 0.7 * 3 = 2.1
  const auto at = [&](Interpolation way) {
    return quantile(x, 0.7, 0, {.interpolation = way}).item<double>();
  };
  EXPECT_NEAR(at(Interpolation::linear), 22, 1e-12);
  EXPECT_EQ(at(Interpolation::lower), 20);
  EXPECT_EQ(at(Interpolation::higher), 40);
  EXPECT_EQ(at(Interpolation::midpoint), 30);
  EXPECT_EQ(at(Interpolation::nearest), 20);
}

TEST(MaskedQuantile, StaysExactBetweenEqualAndInfiniteElements) {
  EXPECT_EQ(quantile(tensor({inf, inf}), 0.5).item<double>(), inf);
  EXPECT_EQ(quantile(tensor({-inf, 1.0}), 0.5).item<double>(), -inf);
  EXPECT_EQ(quantile(tensor({1.0, inf}), 0.25).item<double>(), inf);
  EXPECT_TRUE(std::isnan(quantile(tensor({-inf, inf}), 0.5).item<double>()));
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(quantile(tensor({-huge, huge}), 0.5).item<double>(), 0);
}

TEST(MaskedQuantile, KeepsTheDimsOfAsManyAsThereMayBe) {
  const Shape shape = Dims::filled(8, 2);
  const Tensor x = ones(shape, DType::f32);
  Shape kept = shape;
  kept[3] = 1;
  EXPECT_EQ(quantile(x, 0.5, 3, {.keepdim = true}).shape(), kept);
  EXPECT_EQ(quantile(x, 0.5, -5, {.keepdim = true}).shape(), kept);
  EXPECT_EQ(quantile(x, 0.5, {}, {.keepdim = true}).shape(), Dims::filled(8, 1));
  EXPECT_EQ(quantile(MaskedTensor(x, ones(shape, DType::boolean)), 0.5, 3, {.keepdim = true})
                .get_data()
                .shape(),
            kept);
}

TEST(MaskedQuantile, OfIntegersIsAFloat) {
  EXPECT_EQ(quantile(tensor({1, 2}), 0.5).dtype(), DType::f32);
  EXPECT_EQ(quantile(tensor({1, 2}), 0.5).item<float>(), 1.5F);
  EXPECT_EQ(quantile(tensor({std::int64_t{1}}), 0.5).dtype(), DType::f64);
  EXPECT_EQ(quantile(tensor({true, false}), 0.5).item<float>(), 0.5F);
}

TEST(MaskedQuantile, IsNaNWhereNothingCountsOrOneIsNaN) {
  const Tensor x = tensor({{1.0, nan}, {1.0, 2.0}});
  const Tensor m = tensor({{true, true}, {false, false}});
  for (const double value : elements<double>(quantile(x, 0.5, 1, {.mask = m}))) {
    EXPECT_TRUE(std::isnan(value));
  }
  const MaskedTensor got = quantile(as_masked_tensor(x, m), std::array{0.1, 0.5}, 1);
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, false, true, false}));
}

TEST(MaskedQuantile, RefusesBadArguments) {
  expect_error<ValueError>([] { quantile(data_2x4, 1.5); }, "quantile: expected q from 0 to 1",
                           "got 1.5");
  expect_error<ValueError>([] { quantile(data_2x4, nan); }, "quantile: expected q from 0 to 1",
                           "got nan");
  expect_error<ValueError>([] { quantile(data_2x4, 0.5, 0, {.dtype = DType::i32}); },
                           "quantile: expected a floating dtype", "got int32");
  expect_error<IndexError>([] { quantile(zeros({0}), 0.5); },
                           "quantile: expected elements to choose from", "got shape [0]");
  expect_error<ValueError>(
      [] { ops::interpolation_of("cubic"); },
      "quantile: expected interpolation as one of linear, lower, higher, midpoint, nearest",
      "got 'cubic'");
}

TEST(MaskedMedian, CountsWhereBothMasksLetSomethingThrough) {
  const MaskedTensor x =
      as_masked_tensor(tensor({{1.0, 2.0}, {3.0, 4.0}}), tensor({{true, false}, {true, true}}));
  const MaskedTensor got = median(x, 1, {.mask = tensor({{false, true}, {true, true}})});
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace loup::masked
