#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/masked/line_support.h"
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
using test::grad_of;
using test::inf;
using test::leaf;
using test::nan;
using test::padding;
using test::Random;

TEST(MaskedCumsum, CarriesTheValueOverWhatDoesNotCount) {
  const Tensor x = tensor({1.0, nan, 3.0, 4.0});
  expect_elements(cumsum(x, 0, {.mask = tensor({true, false, true, true})}), {1, 1, 4, 8});
  expect_elements(cumprod(x, 0, {.mask = tensor({true, false, true, true})}), {1, 1, 3, 12});
}

TEST(MaskedCumsum, OfNothingThatCountsIsTheIdentity) {
  const Tensor nothing = zeros({}, DType::boolean);
  expect_elements(cumsum(tensor({nan, 1.0}), 0, {.mask = nothing}), {0, 0});
  expect_elements(cumprod(tensor({nan, 1.0}), 0, {.mask = nothing}), {1, 1});
}

TEST(MaskedCumsum, OfIntegersIsInt64) {
  const Tensor x = full({3}, 100, DType::i8);
  EXPECT_EQ(cumsum(x, 0).dtype(), DType::i64);
  expect_elements(cumsum(x, 0), {100, 200, 300});
  expect_elements(cumsum(x, 0, {.dtype = DType::i8}), {100, -56, 44});
  expect_elements(cumsum(ones({3}, DType::boolean), 0), {1, 2, 3});
}

TEST(MaskedCumsum, PropagatesNaNForwardsOnly) {
  expect_elements(cumsum(tensor({1.0, nan, 1.0}), 0), {1, nan, nan});
  expect_elements(cumsum(tensor({inf, 1.0, -inf, 1.0}), 0), {inf, inf, nan, nan});
}

TEST(MaskedCumsum, KeepsItsErrorBoundOverAMillionElements) {
  constexpr std::int64_t count = 1'000'000;
  const Tensor got = cumsum(full({count}, 0.1F), 0);
  const double exact = static_cast<double>(0.1F) * count;
  EXPECT_NEAR(got.at<double>({count - 1}), exact, 3e-7 * exact);
}

TEST(MaskedCumsum, OfPaddedRowsHasTheBitsOfTheMaskWrittenOut) {
  constexpr std::int64_t count = 333;
  Random random(12);
  Tensor x = empty({5, count});
  for (float& value : x.data<float>()) value = static_cast<float>(1 + random.fraction());
  for (const std::int64_t length : {0, 1, 64, 65, 200, 332, 333}) {
    const Tensor mask = padding(length, count);
    const Tensor whole = ops::clone(ops::expand(mask, x.shape()));
    for (const Scan* const op : {&cumsum, &cumprod}) {
      EXPECT_EQ(bits_of((*op)(x, 1, {.mask = mask})), bits_of((*op)(x, 1, {.mask = whole})))
          << op->name << ' ' << length;
    }
  }
}

/// Results of more than 8 MB are written past the caches, those of a part of the lines are not.
void expect_bits_of_a_part(const Shape& shape, int dim) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Random random(13);
    const Tensor x = test::random_tensor(random, shape, dtype);
    const Tensor part = ops::narrow(x, 1 - dim, 0, 32);
    test::for_each_target([&] {
      EXPECT_EQ(bits_of(ops::clone(ops::narrow(cumsum(x, dim), 1 - dim, 0, 32))),
                bits_of(cumsum(part, dim)));
    });
  }
}

TEST(MaskedCumsum, HasTheBitsOfFewerLinesWhereItsResultIsLarge) {
  for (const Shape& shape : {Shape{1024, 2304}, Shape{1100, 2003}}) {
    expect_bits_of_a_part(shape, 0);
    expect_bits_of_a_part(shape, 1);
  }
}

TEST(MaskedCumprod, StaysZeroBehindAZeroWhateverFollows) {
  test::for_each_target([] {
    for (const float value : {1e10F, 3e38F, 1e-30F}) {
      Tensor x = full({100}, value);
      x.data<float>()[0] = 0;
      EXPECT_EQ(elements<double>(cumprod(x, 0)), std::vector<double>(100, 0)) << value;
    }
  });
}

TEST(MaskedCumprod, ReturnsFromBeyondTheRangeOfItsDType) {
  test::for_each_target([] {
    Tensor x = full({64}, 0x1p100F);
    const auto values = x.data<float>();
    std::fill(values.begin() + 10, values.begin() + 20, 0x1p-100F);
    std::fill(values.begin() + 20, values.end(), 1.0F);
    const auto got = elements<double>(cumprod(x, 0));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t power = i < 10 ? i + 1 : i < 20 ? 19 - i : 0;
      EXPECT_EQ(got[i], power > 1 ? inf : power == 1 ? 0x1p100 : 1) << i;
    }
  });
}

TEST(MaskedCumsumGradient, RunsBackwardsOverMaskedPositionsToo) {
  const Tensor x = leaf(tensor({1.0, nan, 3.0}));
  autograd::backward(cumsum(x, 0, {.mask = tensor({true, false, true})}),
                     {.gradient = tensor({1.0, 10.0, 100.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{111, 0, 100}));
}

TEST(MaskedCumprodGradient, DoesNotDivideByZeros) {
  const Tensor x = leaf(tensor({2.0, 0.0, 3.0, 5.0}));
  autograd::backward(cumprod(x, 0), {.gradient = tensor({1.0, 10.0, 100.0, 1000.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 2 * (10 + 300 + 15000), 0, 0}));
}

TEST(MaskedCumprodGradient, StopsAtTheSecondZero) {
  const Tensor x = leaf(tensor({2.0, 0.0, 3.0, 0.0, 7.0}));
  autograd::backward(cumprod(x, 0), {.gradient = tensor({1.0, 10.0, 100.0, 1000.0, 10000.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 2 * (10 + 300), 0, 0, 0}));
}

TEST(MaskedCumprodGradient, SkipsZerosUnderTheMask) {
  const Tensor x = leaf(tensor({2.0, 0.0, 3.0}));
  autograd::backward(cumprod(x, 0, {.mask = tensor({true, false, true})}),
                     {.gradient = tensor({1.0, 1.0, 1.0})});
  EXPECT_EQ(grad_of(x), (std::vector<double>{5, 0, 2}));
}

TEST(MaskedCumsum, GoesOnThroughAllPartsOfManyLongLines) {
  const std::int64_t n = 200'001;  // three parts
  const Tensor sums = cumsum(full({16, n}, 1, DType::f64), 1);
  std::int64_t wrong = 0;
  for (std::int64_t line = 0; line < 16; ++line) {
    for (std::int64_t i = 0; i < n; ++i) {
      wrong += sums.at<double>({line, i}) == static_cast<double>(i + 1) ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace loup::masked
