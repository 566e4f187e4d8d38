#include "loup/ops/rules.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using autograd::Gradient;
using test::elements;

TEST(SumRule, RepeatsTheGradientOverReducedDims) {
  const ReduceRecord call{{2, 3}, DType::f64, 0b10, false, {}};
  const Gradient got = rules::sum(call, {tensor({5.0, 7.0}), {}});
  EXPECT_EQ(elements<double>(got.value), (std::vector<double>{5, 5, 5, 7, 7, 7}));
  EXPECT_FALSE(got.mask.has_value());
}

TEST(SumRule, AcceptsAGradientWithKeptDims) {
  const ReduceRecord call{{2, 2}, DType::f64, 0b01, true, {}};
  const Gradient got = rules::sum(call, {tensor({{5.0, 7.0}}), {}});
  EXPECT_EQ(elements<double>(got.value), (std::vector<double>{5, 7, 5, 7}));
}

TEST(SumRule, HandsTheMaskOfTheCallOn) {
  const Tensor mask = tensor({true, false, true});
  const ReduceRecord call{{3}, DType::f64, 1, false, mask};
  const Gradient got = rules::sum(call, {full({}, 2.0, DType::f64), {}});
  EXPECT_EQ(elements<bool>(*got.mask), (std::vector<bool>{true, false, true}));
}

TEST(SumRule, CombinesTheMasksOfCallAndGradient) {
  const Tensor mask = tensor({{true, false}, {true, true}});
  const ReduceRecord call{{2, 2}, DType::f64, 0b10, false, mask};
  const Gradient got = rules::sum(call, {tensor({1.0, 1.0}), tensor({true, false})});
  EXPECT_EQ(elements<bool>(*got.mask), (std::vector<bool>{true, false, false, false}));
}

TEST(SumRule, SpreadsTheMaskOfTheGradientAlone) {
  const ReduceRecord call{{2, 2}, DType::f64, 0b10, false, {}};
  const Gradient got = rules::sum(call, {tensor({1.0, 1.0}), tensor({false, true})});
  EXPECT_EQ(elements<bool>(*got.mask), (std::vector<bool>{false, false, true, true}));
}

TEST(SumRule, ConvertsTheGradientToTheDTypeOfTheInput) {
  const ReduceRecord call{{2}, DType::f16, 1, false, {}};
  EXPECT_EQ(rules::sum(call, {full({}, 1.0, DType::f32), {}}).value.dtype(), DType::f16);
}

TEST(ExpandRule, SumsOverRepeatedAndNewDims) {
  const Gradient got = rules::expand({2, 1}, {ones({3, 2, 4}, DType::f64), {}});
  EXPECT_EQ(got.value.shape(), (Shape{2, 1}));
  EXPECT_EQ(elements<double>(got.value), (std::vector<double>{12, 12}));
}

TEST(ExpandRule, LeavesAGradientOfTheSameShapeAlone) {
  const Tensor g = tensor({1.0, 2.0});
  EXPECT_EQ(rules::expand({2}, {g, {}}).value.storage(), g.storage());
}

TEST(ExpandRule, SkipsStructuralZerosWhateverTheyHold) {
  const Tensor g = tensor({{1.0, std::nan("")}, {std::nan(""), std::nan("")}});
  const Tensor mask = tensor({{true, false}, {false, false}});
  const Gradient got = rules::expand({2, 1}, {g, mask});
  EXPECT_EQ(elements<double>(got.value), (std::vector<double>{1, 0}));
  EXPECT_EQ(elements<bool>(*got.mask), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace loup::ops
