#include "loup/ops/logic.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::elements;
using test::expect_error;
using Bools = std::vector<bool>;

TEST(Any, FindsWhatIsNotZeroAlsoNaN) {
  const Tensor x = tensor({{0.0, std::nan("")}, {0.0, -0.0}});
  EXPECT_TRUE(any(x).item<bool>());
  EXPECT_EQ(elements<bool>(any(x, 1)), (Bools{true, false}));
  EXPECT_EQ(elements<bool>(any(x, 0)), (Bools{false, true}));
  EXPECT_EQ(any(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_FALSE(any(zeros({0})).item<bool>());
}

TEST(All, FindsZeros) {
  const Tensor x = tensor({{1.0, std::nan("")}, {0.0, 5.0}});
  EXPECT_FALSE(all(x).item<bool>());
  EXPECT_EQ(elements<bool>(all(x, 1)), (Bools{true, false}));
  EXPECT_EQ(all(x, {0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_TRUE(all(zeros({0})).item<bool>());
}

TEST(All, NamesItselfInErrors) {
  expect_error<IndexError>([] { all(zeros({2}), 3); }, "all: expected a dim from -1 to 0", "got 3");
  expect_error<IndexError>([] { any(zeros({2}), 3); }, "any: expected a dim from -1 to 0", "got 3");
}

TEST(AllAndAny, TakeEveryDType) {
  for (const DType dtype : test::all_dtypes()) {
    const Tensor x = ops::to(tensor({0, 1, 1}), dtype);
    EXPECT_TRUE(any(x).item<bool>());
    EXPECT_FALSE(all(x).item<bool>());
    EXPECT_TRUE(all(slice(x, 0, 1, 3)).item<bool>());
  }
}

TEST(Equal, ComparesShapesAndElements) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_TRUE(equal(x, tensor({1, 2})));
  EXPECT_FALSE(equal(x, tensor({1.0, 3.0})));
  EXPECT_FALSE(equal(x, tensor({{1.0, 2.0}})));
  EXPECT_FALSE(equal(tensor({std::nan("")}), tensor({std::nan("")})));
  EXPECT_TRUE(equal(zeros({0}), zeros({0})));
}

TEST(IsClose, HeedsTolerancesAndInfinities) {
  const Tensor x = tensor({1.0, 1.0, infinity, infinity, std::nan(""), -infinity});
  const Tensor y = tensor({1.0 + 5e-6, 1.1, infinity, 1e300, std::nan(""), infinity});
  EXPECT_EQ(elements<bool>(isclose(x, y)), (Bools{true, false, true, false, false, false}));
  EXPECT_TRUE(isclose(x, y, {.equal_nan = true}).at<bool>({4}));
  EXPECT_TRUE(isclose(x, y, {.rtol = 0, .atol = 0.2}).at<bool>({1}));
  EXPECT_FALSE(isclose(x, y, {.rtol = 0, .atol = 0}).at<bool>({0}));
}

TEST(IsClose, NeitherWrapsNorRounds) {
  const Tensor bytes = ops::to(tensor({255, 0}), DType::u8);
  EXPECT_EQ(elements<bool>(isclose(bytes, 0, {.rtol = 0, .atol = 1})), (Bools{false, true}));
  const Tensor half = ops::to(tensor({1000.0}), DType::f16);
  EXPECT_FALSE(isclose(half, 1001, {.rtol = 0, .atol = 0.5}).item<bool>());
}

TEST(IsClose, RefusesNegativeTolerances) {
  expect_error<ValueError>([] { isclose(zeros({1}), 0, {.rtol = -1}); },
                           "isclose: expected tolerances of at least 0",
                           "got rtol -1 and atol 1e-08");
}

TEST(AllClose, IsTrueWhereEveryElementIs) {
  EXPECT_TRUE(allclose(tensor({1.0, 2.0}), tensor({1.0, 2.0 + 1e-6})));
  EXPECT_FALSE(allclose(tensor({1.0, 2.0}), tensor({1.0, 2.1})));
  EXPECT_TRUE(allclose(zeros({0}), zeros({0})));
}

}  // namespace
}  // namespace loup::ops
