#include "loup/masked/masked_tensor.h"

#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/masked/ops.h"
#include "loup/ops/views.h"
#include "tests/masked/samples.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::data_2x3;
using test::elements;
using test::expect_error;
using test::mask_2x3;

TEST(MaskedTensorConstructor, RefusesRequiresGradOnIntegersBeforeItLooksAtTheMask) {
  expect_error<DTypeError>([] { MaskedTensor(tensor({1, 2}), tensor({1.0F}), true); },
                           "requires_grad: expected a floating dtype", "got int32");
}

TEST(MaskedTensorConstructor, RefusesAMaskThatIsNotBoolBeforeItLooksAtShapes) {
  expect_error<DTypeError>([] { MaskedTensor(data_2x3, tensor({1, 0})); },
                           "MaskedTensor: expected a mask of bool", "got int32");
}

TEST(MaskedTensorConstructor, RefusesAMaskOfAnotherRank) {
  expect_error<ShapeError>([] { MaskedTensor(data_2x3, tensor({true, false, true})); },
                           "MaskedTensor: expected a mask of 2 dims", "got shape [3]");
}

TEST(MaskedTensorConstructor, RefusesAMaskOfOtherSizes) {
  expect_error<ShapeError>([] { MaskedTensor(data_2x3, ops::transpose(mask_2x3, 0, 1)); },
                           "MaskedTensor: expected a mask of shape [2, 3]", "got [3, 2]");
}

TEST(MaskedTensorConstructor, DoesNotBroadcastTheMask) {
  EXPECT_THROW(MaskedTensor(data_2x3, ones({1, 3}, DType::boolean)), ShapeError);
}

TEST(MaskedTensorConstructor, AcceptsEveryDType) {
  for (const DType dtype : test::all_dtypes()) {
    EXPECT_EQ(MaskedTensor(zeros({2}, dtype), ones({2}, DType::boolean)).dtype(), dtype);
  }
}

TEST(MaskedTensorConstructor, CopiesDataAndMask) {
  const Tensor values = tensor({1.0F, 2.0F});
  const Tensor counts = tensor({true, true});
  const MaskedTensor x(values, counts);
  values.set({0}, 9);
  counts.set({0}, false);
  EXPECT_EQ(elements<float>(x.get_data()), (std::vector<float>{1, 2}));
  EXPECT_EQ(elements<bool>(x.get_mask()), (std::vector<bool>{true, true}));
}

TEST(MaskedTensorConstructor, CutsTheGradientRecord) {
  Tensor leaf = tensor({1.0F, 2.0F});
  autograd::set_requires_grad(leaf, true);
  EXPECT_FALSE(MaskedTensor(leaf, tensor({true, false})).requires_grad());
}

TEST(MaskedTensorConstructor, MakesALeafWhenAsked) {
  const MaskedTensor x(data_2x3, mask_2x3, true);
  ASSERT_TRUE(x.requires_grad());
  EXPECT_TRUE(x.get_data().node()->is_leaf());
}

TEST(MaskedTensorFunction, CopiesAsTheConstructor) {
  const Tensor values = tensor({1.0F, 2.0F});
  const MaskedTensor x = masked_tensor(values, tensor({true, false}), true);
  values.set({0}, 9);
  EXPECT_EQ(x.get_data().at<float>({0}), 1);
  EXPECT_TRUE(x.requires_grad());
}

TEST(AsMaskedTensor, SharesDataAndMask) {
  const MaskedTensor x = as_masked_tensor(data_2x3, mask_2x3);
  EXPECT_EQ(x.get_data().storage(), data_2x3.storage());
  EXPECT_EQ(x.get_mask().storage(), mask_2x3.storage());
}

TEST(AsMaskedTensor, KeepsTheGradientRecord) {
  Tensor leaf = tensor({1.0F, 2.0F, 3.0F});
  autograd::set_requires_grad(leaf, true);
  const MaskedTensor x = as_masked_tensor(leaf, tensor({true, false, true}));
  autograd::backward(sum(x).get_data());
  EXPECT_EQ(elements<float>(*autograd::grad(leaf)), (std::vector<float>{1, 0, 1}));
}

TEST(AsMaskedTensor, MakesTheSameChecks) {
  EXPECT_THROW(as_masked_tensor(data_2x3, data_2x3), DTypeError);
  EXPECT_THROW(as_masked_tensor(data_2x3, tensor({true})), ShapeError);
}

TEST(MaskedTensorAccess, TellsShapeAndDType) {
  const MaskedTensor x(data_2x3, mask_2x3);
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.ndim(), 2);
  EXPECT_EQ(x.size(), 6);
  EXPECT_EQ(x.dtype(), DType::f32);
}

TEST(ToTensor, FillsWhereTheMaskIsFalse) {
  EXPECT_EQ(elements<float>(MaskedTensor(data_2x3, mask_2x3).to_tensor(-1)),
            (std::vector<float>{0, -1, -1, 3, 4, -1}));
}

TEST(ToTensor, IsAPlainCopy) {
  const MaskedTensor x(data_2x3, mask_2x3);
  x.to_tensor(0).set({0, 0}, 9);
  EXPECT_EQ(x.get_data().at<float>({0, 0}), 0);
}

TEST(ToTensor, SendsGradientOnlyWhereTheMaskIsTrue) {
  const MaskedTensor x(tensor({1.0F, std::nanf("")}), tensor({true, false}), true);
  autograd::backward(x.to_tensor(0), {.gradient = tensor({5.0F, 6.0F})});
  EXPECT_EQ(elements<float>(x.grad()->get_data()), (std::vector<float>{5, 0}));
}

TEST(MaskedTensorGrad, IsAbsentBeforeBackward) {
  EXPECT_FALSE(MaskedTensor(data_2x3, mask_2x3, true).grad().has_value());
  EXPECT_FALSE(MaskedTensor(data_2x3, mask_2x3).grad().has_value());
}

TEST(MaskedTensorGrad, HasTheMaskOfTheLeafAndZerosUnderIt) {
  const MaskedTensor x(data_2x3, mask_2x3, true);
  autograd::backward(sum(x).get_data());
  const MaskedTensor grad = *x.grad();
  EXPECT_EQ(elements<bool>(grad.get_mask()), elements<bool>(mask_2x3));
  EXPECT_EQ(elements<float>(grad.get_data()), (std::vector<float>{1, 0, 0, 1, 1, 0}));
}

TEST(MaskedTensorGrad, IsZeroUnderTheMaskEvenWhenTheCallLookedThere) {
  const MaskedTensor x(data_2x3, mask_2x3, true);
  autograd::backward(sum(x.get_data()));
  EXPECT_EQ(elements<float>(x.grad()->get_data()), (std::vector<float>{1, 0, 0, 1, 1, 0}));
}

std::string printed(const MaskedTensor& x) {
  std::ostringstream stream;
  stream << x;
  return stream.str();
}

TEST(MaskedTensorText, ShowsMaskedCellsAsDashes) {
  EXPECT_EQ(printed(MaskedTensor(data_2x3, mask_2x3)),
            "MaskedTensor(\n"
            "  [[ 0.0,   --,   --],\n"
            "   [ 3.0,  4.0,   --]]\n"
            ")");
}

TEST(MaskedTensorText, OfAScalarIsOneLine) {
  const Tensor pi = full({}, 3.14159265);
  EXPECT_EQ(printed(MaskedTensor(pi, full({}, true))), "MaskedTensor(3.1416)");
  EXPECT_EQ(printed(MaskedTensor(pi, full({}, false))), "MaskedTensor(--)");
}

TEST(MaskedTensorText, OfIntegersIsAsWideAsTheWidest) {
  EXPECT_EQ(printed(MaskedTensor(tensor({1, 2, 300}), tensor({true, false, true}))),
            "MaskedTensor(\n  [  1,  --, 300]\n)");
}

TEST(MaskedTensorText, OfBoolNamesTheValues) {
  EXPECT_EQ(printed(MaskedTensor(tensor({true, false, true}), tensor({true, true, false}))),
            "MaskedTensor(\n  [ True, False,    --]\n)");
}

TEST(MaskedTensorText, OfNothingIsEmpty) {
  EXPECT_EQ(printed(MaskedTensor(zeros({0}), zeros({0}, DType::boolean))), "MaskedTensor([])");
}

TEST(MaskedTensorText, IgnoresMaskedValuesWhenItChoosesTheFormat) {
  const Tensor x = tensor({1.5F, 1e20F, std::nanf("")});
  EXPECT_EQ(printed(MaskedTensor(x, tensor({true, false, false}))),
            "MaskedTensor(\n  [ 1.5,   --,   --]\n)");
}

TEST(MaskedTensorText, SaysThatItRequiresGrad) {
  EXPECT_EQ(printed(MaskedTensor(tensor({1.0F}), tensor({true}), true)),
            "MaskedTensor(\n  [ 1.0], requires_grad=True\n)");
}

}  // namespace
}  // namespace loup::masked
