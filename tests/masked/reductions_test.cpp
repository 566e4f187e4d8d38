#include "loup/masked/reductions.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/tensor/create.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::for_each_target;

/// Longer than what is searched for a position at once.
constexpr std::int64_t long_row = 2000;

/// False for the first `count` elements.
Tensor mask_from(std::int64_t count) {
  Tensor mask = ones({long_row}, DType::boolean);
  for (std::int64_t i = 0; i < count; ++i) mask.set({i}, false);
  return mask;
}

TEST(MaskedArgmax, OfTheLeastNumbersIsTheFirstThatCounts) {
  const double least = -std::numeric_limits<double>::infinity();
  const Tensor reals = full({long_row}, least, DType::f32);
  const Tensor integers = full({long_row}, std::numeric_limits<std::int32_t>::lowest(), DType::i32);
  for_each_target([&] {
    for (const Tensor& x : {reals, integers}) {
      EXPECT_EQ(argmax(x, 0, {.mask = mask_from(777)}).item<std::int64_t>(), 777);
    }
  });
}

TEST(MaskedArgmin, OfSeveralNaNIsTheFirstThatCounts) {
  for_each_target([&] {
    for (const DType dtype : {DType::f32, DType::f64}) {
      // In one lane of every vector: all are multiples of 64 apart.
      Tensor x = ones({long_row}, dtype);
      for (const std::int64_t i : {70, 646, 1158, 1926}) x.set({i}, std::nan(""));
      EXPECT_EQ(argmin(x, 0, {.mask = mask_from(100)}).item<std::int64_t>(), 646);
      EXPECT_EQ(argmax(x, 0, {.mask = mask_from(700)}).item<std::int64_t>(), 1158);
    }
  });
}

}  // namespace
}  // namespace loup::masked
