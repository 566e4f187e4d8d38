#include "loup/masked/lines.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/masked/ops.h"
#include "loup/memory/pool.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/masked/line_support.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::bits_of;
using test::elements;
using test::expect_elements;
using test::expect_error;
using test::grad_of;
using test::inf;
using test::leaf;
using test::nan;
using test::padding;
using test::Random;

/// The gradient of x where that of the result is x itself.
Tensor grad_with(const Normalization& op, const Tensor& values, const Tensor& mask) {
  const Tensor x = leaf(ops::clone(values));
  autograd::backward(op(x, 1, {.mask = mask}), {.gradient = values});
  return autograd::grad(x).value();
}

TEST(MaskedSoftmax, GivesZeroWhereTheMaskHides) {
  const Tensor x = tensor({0.0, nan, std::log(3.0)});
  expect_elements(softmax(x, 0, {.mask = tensor({true, false, true})}), {0.25, 0, 0.75});
}

TEST(MaskedSoftmax, GivesZeroWhereNothingCounts) {
  const Tensor x = tensor({{nan, inf}, {0.0, 0.0}});
  const Tensor mask = tensor({{false}, {true}});
  expect_elements(softmax(x, 1, {.mask = mask}), {0, 0, 0.5, 0.5});
  expect_elements(softmin(x, 1, {.mask = mask}), {0, 0, 0.5, 0.5});
  const Tensor logs = log_softmax(x, 1, {.mask = mask});
  EXPECT_EQ(logs.at<double>({0, 0}), -inf);
  EXPECT_EQ(logs.at<double>({1, 0}), std::log(0.5));
}

TEST(MaskedSoftmax, TreatsElementsThatAreAllMinusInfinityAsMasked) {
  const Tensor x = tensor({-inf, -inf, 5.0});
  const Tensor mask = tensor({true, true, false});
  expect_elements(softmax(x, 0, {.mask = mask}), {0, 0, 0});
  expect_elements(log_softmax(x, 0, {.mask = mask}), {-inf, -inf, -inf});
  // The same down columns.
  const Tensor columns = ops::expand(ops::unsqueeze(x, 1), {3, 2});
  const Tensor rows = ops::unsqueeze(mask, 1);
  expect_elements(softmax(columns, 0, {.mask = rows}), std::vector<double>(6, 0));
  expect_elements(log_softmax(columns, 0, {.mask = rows}), std::vector<double>(6, -inf));
}

TEST(MaskedSoftmax, OfLongColumnsTreatsMinusInfinityAsMasked) {
  constexpr std::int64_t length = 70'000;  // too long to be gathered as a whole
  const Tensor x = full({length, 2}, -inf);
  x.set({length - 1, 1}, 3.0);
  const std::vector<double> nothing(length, 0);
  expect_elements(ops::select(softmax(x, 0), 1, 0), nothing);
  std::vector<double> last = nothing;
  last.back() = 1;
  expect_elements(ops::select(softmax(x, 0), 1, 1), last);
}

TEST(MaskedSoftmax, PropagatesNaNAndInfinityThatCount) {
  const Tensor mask = tensor({true, true, false});
  for (const double bad : {nan, inf}) {
    const Tensor x = tensor({bad, 1.0, 2.0});
    expect_elements(softmax(x, 0, {.mask = mask}), {nan, nan, 0});
    expect_elements(log_softmax(x, 0, {.mask = mask}), {nan, nan, -inf});
    // The same down columns.
    const Tensor column = ops::unsqueeze(x, 1);
    const Tensor both = tensor({{true}, {true}, {false}});
    expect_elements(softmax(ops::expand(column, {3, 2}), 0, {.mask = both}),
                    {nan, nan, nan, nan, 0, 0});
  }
}

TEST(MaskedSoftmax, DoesNotOverflowOnLargeElements) {
  expect_elements(softmax(tensor({1e308, 1e308}), 0), {0.5, 0.5});
  expect_elements(softmin(tensor({-1e308, -1e308}), 0), {0.5, 0.5});
}

TEST(MaskedSoftmax, DoesNotVanishOnVeryNegativeElements) {
  const Tensor x = full({2, 3}, -1e308, DType::f64);
  const Tensor mask = tensor({{true, true, false}, {true, true, true}});
  expect_elements(softmax(x, 1, {.mask = mask}), {0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  expect_elements(softmax(x, 0, {.mask = mask}), {0.5, 0.5, 0, 0.5, 0.5, 1});
}

TEST(MaskedSoftmax, OfAScalarIsOne) {
  expect_elements(softmax(full({}, 3.0, DType::f64), 0), {1});
  expect_elements(softmax(full({}, 3.0, DType::f64), -1, {.mask = zeros({}, DType::boolean)}), {0});
}

TEST(MaskedSoftmax, TakesIntegersWithAFloatingDType) {
  const Tensor x = tensor({0, 0, 200});
  expect_elements(softmax(x, 0, {.mask = tensor({true, true, false}), .dtype = DType::f64}),
                  {0.5, 0.5, 0});
  expect_error<DTypeError>([&] { softmax(x, 0); }, "softmax: expected floating elements",
                           "got int32");
  expect_error<DTypeError>([&] { softmax(x, 0, {.dtype = DType::i64}); },
                           "softmax: expected a floating dtype", "got int64");
}

TEST(MaskedSoftmax, OfAMaskedTensorKeepsItsMask) {
  const Tensor mask = tensor({true, false, true});
  const MaskedTensor x = as_masked_tensor(tensor({0.0, nan, 0.0}), mask);
  const MaskedTensor got = softmax(x, 0, {.mask = tensor({true, true, false})});
  expect_elements(got.get_data(), {1, 0, 0});
  EXPECT_EQ(elements<bool>(got.get_mask()), (std::vector<bool>{true, false, false}));
}

TEST(MaskedSoftmax, OfPaddedRowsHasTheBitsOfTheMaskWrittenOut) {
  constexpr std::int64_t count = 333;
  Random random(11);
  Tensor x = empty({5, count});
  for (float& value : x.data<float>()) value = static_cast<float>(4 * random.fraction());
  for (const std::int64_t length : {0, 1, 64, 65, 200, 332, 333}) {
    const Tensor mask = padding(length, count);
    const Tensor whole = ops::clone(ops::expand(mask, x.shape()));
    for (const Normalization* const op : {&softmax, &log_softmax, &softmin}) {
      EXPECT_EQ(bits_of((*op)(x, 1, {.mask = mask})), bits_of((*op)(x, 1, {.mask = whole})))
          << op->name << ' ' << length;
      EXPECT_EQ(bits_of(grad_with(*op, x, mask)), bits_of(grad_with(*op, x, whole)))
          << op->name << ' ' << length;
    }
    EXPECT_EQ(bits_of(normalize(x, 2, 1, {.mask = mask})),
              bits_of(normalize(x, 2, 1, {.mask = whole})))
        << length;
  }
}

/// A NaN, columns of which nothing counts or only -inf, in the first and in the last strip.
Tensor with_odd_columns(const Tensor& x, const Tensor& mask) {
  const std::int64_t last = x.shape()[1] - 1;
  x.set({7, 3}, nan);
  mask.set({7, 3}, true);
  x.set({9, last}, nan);
  mask.set({9, last}, true);
  for (std::int64_t r = 0; r < x.shape()[0]; ++r) {
    mask.set({r, 5}, false);
    x.set({r, last - 2}, -inf);
  }
  return x;
}

TEST(MaskedSoftmax, OfManyColumnsHasTheBitsOfFew) {
  constexpr std::int64_t count = 2507;  // several strips for a task, the last one narrower
  Random random;
  const Tensor mask = test::random_mask(random, {41, count});
  const Tensor x = with_odd_columns(test::random_tensor(random, {41, count}, DType::f32), mask);
  test::for_each_target([&] {
    for (const Normalization* const op : {&softmax, &log_softmax, &softmin}) {
      const Tensor whole = (*op)(x, 0, {.mask = mask});
      for (std::int64_t first = 0; first < count; first += 96) {
        const std::int64_t few = std::min<std::int64_t>(96, count - first);
        const auto part = [&](const Tensor& t) { return ops::narrow(t, 1, first, few); };
        EXPECT_EQ(bits_of(part(whole)), bits_of((*op)(part(x), 0, {.mask = part(mask)})))
            << op->name << " of columns from " << first;
      }
    }
  });
}

/// The softmax of a column, in double.
std::vector<double> softmax_of_column(const Tensor& x, const Tensor& mask, std::int64_t c) {
  const std::int64_t rows = x.shape()[0];
  double top = -inf;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (mask.at<bool>({r, c})) top = std::max(top, x.at<double>({r, c}));
  }
  std::vector<double> result(static_cast<std::size_t>(rows), 0);
  double sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (!mask.at<bool>({r, c}) || top == -inf) continue;
    double& share = result[static_cast<std::size_t>(r)];
    share = std::exp(x.at<double>({r, c}) - top);
    sum += share;
  }
  for (double& share : result) share = sum == 0 ? 0 : share / sum;
  return result;
}

// Exponentials are computed in pieces, beside the largest element so far.
TEST(MaskedSoftmax, OfColumnsWhoseElementsRiseOrFallAgreesWithAReference) {
  constexpr std::int64_t rows = 1003;
  constexpr std::int64_t cols = 37;
  Random random;
  const Tensor mask = test::random_mask(random, {rows, cols});
  const Tensor x = empty({rows, cols}, DType::f32);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const double slope = static_cast<double>(c % 5 - 2) / 10;  // up to 200 from end to end
      x.set({r, c}, 6 * random.fraction() + slope * static_cast<double>(r));
    }
    if (r < 700) mask.set({r, 4}, false);
    if (r < 700) x.set({r, 9}, -inf);
  }
  test::poison(x, mask, random);
  test::for_each_target([&] {
    const Tensor shares = softmax(x, 0, {.mask = mask});
    const Tensor logarithms = log_softmax(x, 0, {.mask = mask});
    for (std::int64_t c = 0; c < cols; ++c) {
      const std::vector<double> wanted = softmax_of_column(x, mask, c);
      for (std::int64_t r = 0; r < rows; ++r) {
        const double share = wanted[static_cast<std::size_t>(r)];
        const double logarithm = std::log(share);
        SCOPED_TRACE(testing::Message() << "row " << r << ", column " << c);
        if (share == 0) {
          ASSERT_EQ(shares.at<double>({r, c}), 0);
          ASSERT_EQ(logarithms.at<double>({r, c}), -inf);
        } else {
          // Distances from the largest element are rounded to floats, logarithms once more.
          const double allowed = 1.5e-7 * (4 - logarithm);
          ASSERT_NEAR(shares.at<double>({r, c}), share, allowed * share + 3e-45);
          ASSERT_NEAR(logarithms.at<double>({r, c}), logarithm, allowed);
        }
      }
    }
  });
}

TEST(MaskedSoftmax, AllocatesNothingOfTheSizeOfItsInput) {
  const Tensor x = zeros({2048, 2048});
  const Tensor turned = ops::transpose(x, 0, 1);
  memory::reset_pool_peak();
  const std::size_t before = memory::pool_statistics().peak_bytes;
  softmax(turned, 1, {.mask = ones({2048, 1}, DType::boolean)});
  softmax(x, 0);
  const auto result = static_cast<std::size_t>(x.bytes());
  EXPECT_LE(memory::pool_statistics().peak_bytes - before, result + result / 2);
}

TEST(MaskedSoftmaxGradient, IsZeroWhereOnlyMinusInfinityCounts) {
  for (const Normalization* const op : {&softmax, &log_softmax}) {
    const Tensor x = leaf(tensor({-inf, -inf}));
    autograd::backward((*op)(x, 0), {.gradient = tensor({1.0, 2.0})});
    EXPECT_EQ(grad_of(x), (std::vector<double>{0, 0})) << op->name;
  }
}

TEST(MaskedSoftmaxGradient, OfLogSoftmaxAddsOnlyWhatCounts) {
  const Tensor x = leaf(tensor({0.0, 0.0, 0.0}));
  autograd::backward(log_softmax(x, 0, {.mask = tensor({true, true, false})}),
                     {.gradient = tensor({1.0, 0.0, nan})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{0.5, -0.5, 0}));
}

TEST(MaskedNormalize, DividesByTheNormOfWhatCounts) {
  const Tensor x = tensor({3.0, nan, 4.0});
  const Tensor mask = tensor({true, false, true});
  expect_elements(normalize(x, 2, 0, {.mask = mask}), {0.6, 0, 0.8});
  expect_elements(normalize(x, 1, 0, {.mask = mask}), {3.0 / 7, 0, 4.0 / 7});
  expect_elements(normalize(x, 0, 0, {.mask = mask}), {1.5, 0, 2});
  expect_elements(normalize(x, inf, 0, {.mask = mask}), {0.75, 0, 1});
  expect_elements(normalize(x, -inf, 0, {.mask = mask}), {1, 0, 4.0 / 3});
  expect_elements(normalize(x, -1, 0, {.mask = mask}), {3 / (12.0 / 7), 0, 4 / (12.0 / 7)});
}

TEST(MaskedNormalize, DividesByEpsAtLeast) {
  expect_elements(normalize(tensor({3.0, 4.0}), 2, 0, {.eps = 10}), {0.3, 0.4});
  expect_elements(normalize(tensor({0.0, 0.0}), 2, 0), {0, 0});
}

TEST(MaskedNormalize, GivesZeroWhereNothingCounts) {
  const Tensor x = tensor({nan, inf});
  const Tensor nothing = zeros({}, DType::boolean);
  for (const double ord : {2.0, 1.0, 0.0, inf, -inf, 3.0, -1.0}) {
    expect_elements(normalize(x, ord, 0, {.mask = nothing}), {0, 0});
  }
}

TEST(MaskedNormalize, PropagatesNaNThatCounts) {
  const Tensor mask = tensor({true, true, false});
  for (const double ord : {2.0, 1.0, inf, -inf, 3.0, -1.0}) {
    expect_elements(normalize(tensor({nan, 1.0, 2.0}), ord, 0, {.mask = mask}), {nan, nan, 0});
  }
}

TEST(MaskedNormalize, DoesNotOverflowFloats) {
  const Tensor got = normalize(tensor({3e30F, 4e30F}), 2, 0);
  EXPECT_FLOAT_EQ(got.at<float>({0}), 0.6F);
}

TEST(MaskedNormalize, TakesSeveralDims) {
  const Tensor x = ones({2, 3, 2}, DType::f64);
  for (const Dims& dims : {Dims{0, 2}, Dims{-1, 0}}) {
    expect_elements(normalize(x, 2, dims), std::vector<double>(12, 0.5));
  }
  expect_error<ShapeError>([&] { normalize(x, 2, {2, -1}); },
                           "normalize: expected every dim at most once", "got [2, -1]");
}

TEST(MaskedNormalize, RefusesADTypeThatDoesNotHoldTheInput) {
  expect_error<DTypeError>([] { normalize(tensor({1.0}), 2, 0, {.dtype = DType::f32}); },
                           "normalize: expected a dtype that holds float64", "got float32");
  expect_error<ValueError>([] { normalize(tensor({1.0}), nan, 0); },
                           "normalize: expected an order that is a number", "got nan");
}

// --- lines of many pieces ---

TEST(MaskedSoftmax, GivesTheSameBitsOfALongRowOnEveryNumberOfThreads) {
  Random random;
  const Tensor x = test::random_tensor(random, {100'003}, DType::f64);
  const Tensor m = test::random_mask(random, {100'003});
  std::vector<std::byte> wanted;
  test::with_threads({1, 2, 7}, [&] {
    const auto got = bits_of(softmax(x, 0, {.mask = m}));
    if (wanted.empty()) wanted = got;
    EXPECT_EQ(got, wanted);
  });
}

TEST(MaskedSoftmax, HasTheGradientOfALongRow) {
  Random random;
  const std::int64_t n = 100'003;
  const Tensor x = leaf(test::random_tensor(random, {n}, DType::f64));
  const Tensor weight = test::random_tensor(random, {n}, DType::f64);
  const Tensor y = softmax(x, 0);
  autograd::backward(y, {.gradient = weight});
  const auto shares = elements<double>(y.detach());
  const auto weights = elements<double>(weight);
  double mean = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) mean += shares[i] * weights[i];
  const std::vector<double> gradient = grad_of(x);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ASSERT_NEAR(gradient[i], shares[i] * (weights[i] - mean), 1e-12) << i;
  }
}

}  // namespace
}  // namespace loup::masked
