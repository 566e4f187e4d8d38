#include "loup/masked/gradients.h"

#include <gtest/gtest.h>

#include "loup/autograd/node.h"
#include "loup/masked/operators.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/numbers.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::elements;
using test::expect_error;
using test::leaf;
using test::nan_f32;
using Floats = std::vector<float>;
using Bools = std::vector<bool>;

MaskedTensor masked_leaf(const Tensor& data) { return {data, tensor({true, false}), true}; }

Floats gradient_of(const MaskedTensor& x) { return elements<float>(x.grad()->get_data()); }
Floats gradient_of(const Tensor& x) { return elements<float>(*autograd::grad(x)); }

TEST(MaskedGrad, IsTheStoredGradientWithACopyOfTheMask) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, nan_f32}));
  backward(sum(x));
  const MaskedTensor gradient = *x.grad();
  gradient.get_data().set({0}, 7);
  gradient.get_mask().set({1}, true);
  EXPECT_EQ(gradient_of(x), (Floats{7, 0}));
  EXPECT_EQ(elements<bool>(x.get_mask()), (Bools{true, false}));
  EXPECT_EQ(elements<bool>(x.grad()->get_mask()), (Bools{true, false}));
}

TEST(MaskedGrad, WritesZerosUnderTheMaskIntoTheStoredGradient) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  autograd::backward(x.get_data(), {.gradient = tensor({3.0F, nan_f32})});
  EXPECT_EQ(gradient_of(x), (Floats{3, 0}));
  EXPECT_EQ(gradient_of(x.get_data()), (Floats{3, 0}));
}

TEST(MaskedGrad, DoesNotTouchAStoredGradientThatIsZeroUnderTheMask) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  backward(sum(x));
  const auto version = autograd::grad(x.get_data())->storage().version();
  const MaskedTensor gradient = *x.grad();
  EXPECT_EQ(gradient.get_data().storage().version(), version);
}

TEST(MaskedGrad, LeavesTheGradientOfAPlainLeafAsItIs) {
  const Tensor plain = leaf(tensor({1.0F, 2.0F}));
  MaskedTensor x = as_masked_tensor(plain, tensor({true, false}));
  x.set_requires_grad(true);
  x.retain_grad();
  autograd::backward(plain, {.gradient = tensor({3.0F, 4.0F})});
  EXPECT_EQ(gradient_of(x), (Floats{3, 0}));
  EXPECT_EQ(gradient_of(plain), (Floats{3, 4}));
}

TEST(MaskedGrad, ReplacesAStoredGradientThatCannotBeWritten) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  autograd::set_grad(x.get_data(), ops::expand(tensor({5.0F}), {2}));
  EXPECT_EQ(gradient_of(x), (Floats{5, 0}));
  x.grad()->get_data().set({0}, 6);
  EXPECT_EQ(gradient_of(x), (Floats{6, 0}));
}

TEST(MaskedGrad, OwnsTheGradientOfALeafThatBecameOneLater) {
  MaskedTensor x = as_masked_tensor(tensor({1.0F, 2.0F}), tensor({true, false}));
  x.set_requires_grad(true);
  autograd::backward(x.get_data(), {.gradient = tensor({3.0F, 4.0F})});
  x.grad()->get_data().set({0}, 8);
  EXPECT_EQ(gradient_of(x), (Floats{8, 0}));
}

TEST(MaskedRetainGrad, KeepsTheGradientOfAComputedTensor) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  MaskedTensor y = x * 2;
  y.retain_grad();
  autograd::backward(y.get_data(), {.gradient = tensor({3.0F, 4.0F})});
  y.grad()->get_data().set({0}, 8);
  EXPECT_EQ(gradient_of(y), (Floats{8, 0}));
}

TEST(MaskedRetainGrad, LeavesWhatAPlainTensorRetainsAsItIs) {
  const Tensor plain = leaf(tensor({1.0F, 2.0F})) * 1;
  autograd::retain_grad(plain);
  MaskedTensor x = as_masked_tensor(plain, tensor({true, false}));
  x.retain_grad();
  autograd::backward(plain, {.gradient = tensor({3.0F, 4.0F})});
  EXPECT_EQ(gradient_of(x), (Floats{3, 0}));
  EXPECT_EQ(gradient_of(plain), (Floats{3, 4}));
}

TEST(MaskedSetGrad, SharesAGradientThatIsZeroWhereTheMaskIsFalse) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  const Tensor given = tensor({1.0F, 0.0F});
  set_grad(x, given);
  given.set({0}, 4);
  EXPECT_EQ(gradient_of(x), (Floats{4, 0}));
}

TEST(MaskedSetGrad, CopiesAGradientThatIsNot) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  const Tensor given = tensor({1.0F, 9.0F});
  set_grad(x, given);
  EXPECT_EQ(gradient_of(x.get_data()), (Floats{1, 0}));
  EXPECT_EQ(elements<float>(given), (Floats{1, 9}));
  set_grad(x, MaskedTensor(tensor({nan_f32, nan_f32}), tensor({false, true})));
  EXPECT_EQ(gradient_of(x.get_data()), (Floats{0, 0}));
  set_grad(x, {});
  EXPECT_FALSE(x.grad().has_value());
}

TEST(MaskedSetGrad, RefusesAnotherShape) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  expect_error<ShapeError>([&] { set_grad(x, tensor({1.0F})); },
                           "grad: expected a gradient of shape [2]", "got [1]");
}

TEST(MaskedBackward, CombinesTheMasksOfTensorAndGradient) {
  const Tensor x = leaf(tensor({1.0F, 0.0F, 0.0F}));
  const MaskedTensor y = as_masked_tensor(1 / x, tensor({true, true, false}));
  backward(y, {.gradient = tensor({2.0F, nan_f32, 1.0F}), .mask = tensor({true, false, true})});
  EXPECT_EQ(gradient_of(x), (Floats{-2, 0, 0}));
}

TEST(MaskedBackward, RefusesAMaskOfAnotherShape) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  expect_error<ShapeError>([&] { backward(x, {.gradient = x.get_data(), .mask = tensor({true})}); },
                           "backward: expected a mask of shape [2]", "got [1]");
}

TEST(MaskedBackward, RunsFromSeveralRootsOfBothKinds) {
  const Tensor x = leaf(tensor({1.0F, 0.0F}));
  const std::vector<AnyTensor> roots{as_masked_tensor(1 / x, tensor({true, false})), 1 / x, x};
  const std::vector<std::optional<AnyTensor>> gradients{
      tensor({1.0F, nan_f32}), MaskedTensor(tensor({2.0F, nan_f32}), tensor({true, false})),
      tensor({10.0F, 20.0F})};
  backward(roots, gradients);
  EXPECT_EQ(gradient_of(x), (Floats{7, 20}));
}

TEST(MaskedBackward, RunsWhileNothingIsRecorded) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, nan_f32}));
  const std::vector<AnyTensor> roots{x * 3};
  const autograd::RecordingScope off(false);
  backward(roots, std::vector<std::optional<AnyTensor>>{tensor({1.0F, 1.0F})});
  EXPECT_EQ(gradient_of(x), (Floats{3, 0}));
}

TEST(MaskedBackward, RefusesRootsWithoutARecord) {
  const std::vector<AnyTensor> roots{MaskedTensor(tensor({1.0F}), tensor({true}))};
  expect_error<StateError>([&] { backward(roots); },
                           "backward: expected a tensor that requires grad",
                           "got one without a record");
}

TEST(MaskedBackward, RefusesAMaskedGradientOfAnotherShape) {
  const std::vector<AnyTensor> roots{masked_leaf(tensor({1.0F, 2.0F}))};
  const std::vector<std::optional<AnyTensor>> gradients{
      MaskedTensor(tensor({1.0F}), tensor({true}))};
  expect_error<ShapeError>([&] { backward(roots, gradients); },
                           "backward: expected a gradient of shape [2]", "got [1]");
}

TEST(MaskedGradOf, GivesMaskedGradientsOfMaskedInputs) {
  const MaskedTensor x = masked_leaf(tensor({3.0F, nan_f32}));
  const Tensor y = leaf(tensor({4.0F, 5.0F}));
  const auto found = grad({sum(x * y)}, {y, x});
  EXPECT_EQ(elements<float>(std::get<Tensor>(*found[0])), (Floats{3, 0}));
  const auto& by_x = std::get<MaskedTensor>(*found[1]);
  EXPECT_EQ(elements<float>(by_x.get_data()), (Floats{4, 0}));
  by_x.get_mask().set({1}, true);
  EXPECT_EQ(elements<bool>(x.get_mask()), (Bools{true, false}));
  EXPECT_FALSE(x.grad().has_value());
}

TEST(MaskedGradOf, LeavesTheGradientOfTheSameDataAsItIs) {
  const MaskedTensor x = masked_leaf(tensor({3.0F, 4.0F}));
  const auto found = grad({x.get_data()}, {x, x.get_data()}, {.gradients = {tensor({5.0F, 6.0F})}});
  EXPECT_EQ(elements<float>(data_of(*found[0])), (Floats{5, 0}));
  EXPECT_EQ(elements<float>(data_of(*found[1])), (Floats{5, 6}));
}

TEST(MaskedGradOf, IsRecordedWithCreateGraph) {
  const MaskedTensor x = masked_leaf(tensor({2.0F, 5.0F}));
  const Tensor cube = x.get_data() * x.get_data() * x.get_data();
  const auto first = grad({cube}, {x}, {.gradients = {tensor({1.0F, 1.0F})}, .create_graph = true});
  EXPECT_EQ(elements<float>(data_of(*first[0])), (Floats{12, 0}));
  x.get_mask().set({1}, true);  // the record has a mask of its own
  const auto second = grad({data_of(*first[0])}, {x}, {.gradients = {tensor({1.0F, 1.0F})}});
  EXPECT_EQ(elements<float>(data_of(*second[0])), (Floats{12, 0}));
}

TEST(MaskedGradOf, HasNoGradientOfUnusedInputsIfThatIsAllowed) {
  const MaskedTensor x = masked_leaf(tensor({2.0F, 5.0F}));
  const MaskedTensor unused = masked_leaf(tensor({2.0F, 5.0F}));
  const auto found = grad({sum(x)}, {unused, x}, {.allow_unused = true});
  EXPECT_FALSE(found[0].has_value());
  EXPECT_TRUE(found[1].has_value());
}

TEST(MaskedHooks, SeeTheMaskAtTheirRegistration) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  std::vector<Bools> masks;
  register_hook(x, [&](const MaskedTensor& gradient) -> std::optional<AnyTensor> {
    masks.push_back(elements<bool>(gradient.get_mask()));
    gradient.get_mask().set({0}, false);
    return std::nullopt;
  });
  x.get_mask().set({1}, true);
  backward(sum(x));
  backward(sum(x));
  EXPECT_EQ(masks, (std::vector<Bools>{{true, false}, {true, false}}));
  EXPECT_EQ(elements<bool>(x.get_mask()), (Bools{true, true}));
}

TEST(MaskedHooks, ReplaceTheGradient) {
  const MaskedTensor x = masked_leaf(tensor({1.0F, 2.0F}));
  register_hook(x, [](const MaskedTensor& gradient) -> std::optional<AnyTensor> {
    return MaskedTensor(gradient.get_data() * 10, tensor({false, true}));
  });
  autograd::backward(x.get_data(), {.gradient = tensor({3.0F, 4.0F})});
  EXPECT_EQ(gradient_of(x.get_data()), (Floats{0, 0}));
}

}  // namespace
}  // namespace loup::masked
