#include "loup/autograd/node.h"

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/tensors.h"

namespace loup::autograd {
namespace {

using test::expect_error;
using test::leaf;

TEST(Node, IsNumberedAfterItsInputs) {
  const Tensor x = leaf(ones({2}));
  const Tensor y = ops::clone(x);
  const Tensor z = ops::clone(y);
  EXPECT_LT(x.node()->number(), y.node()->number());
  EXPECT_LT(y.node()->number(), z.node()->number());
  EXPECT_EQ(z.node()->inputs().front(), y.node());
}

TEST(Node, KnowsWhetherItIsALeaf) {
  const Tensor x = leaf(ones({2}));
  EXPECT_TRUE(x.node()->is_leaf());
  EXPECT_FALSE(ops::clone(x).node()->is_leaf());
}

TEST(Node, DiesWithTheTensorThatHoldsIt) {
  const Tensor x = leaf(ones({2}));
  std::weak_ptr<Node> watched;
  {
    const Tensor y = ops::clone(ops::clone(x));
    watched = y.node()->inputs().front();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Node, FreesItsSavedTensorsWhenReleased) {
  const Tensor mask = tensor({true, false});
  Tensor y = ops::filled(leaf(ones({2})), mask, 0);
  EXPECT_GT(mask.storage().use_count(), 1U);
  y.node()->release();
  EXPECT_EQ(mask.storage().use_count(), 1U);
}

TEST(Node, ChainsOfAHundredThousandAreFreedWithoutDeepRecursion) {
  const Tensor x = leaf(ones({1}));
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) y = ops::unsqueeze(ops::squeeze(y), 0);
  std::weak_ptr<Node> last = y.node();
  y = Tensor();
  EXPECT_TRUE(last.expired());
}

TEST(SetRequiresGrad, RefusesIntegers) {
  Tensor x = tensor({1, 2});
  expect_error<DTypeError>([&] { set_requires_grad(x, true); },
                           "requires_grad: expected a floating dtype", "got int32");
}

TEST(SetRequiresGrad, AcceptsEveryFloatType) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    Tensor x = zeros({1}, dtype);
    set_requires_grad(x, true);
    EXPECT_TRUE(x.requires_grad());
  }
}

TEST(SetRequiresGrad, KeepsALeafAsItIs) {
  Tensor x = leaf(ones({1}));
  const auto before = x.node();
  set_requires_grad(x, true);
  EXPECT_EQ(x.node(), before);
}

TEST(SetRequiresGrad, CutsATensorOffTheRecord) {
  Tensor x = leaf(ones({1}));
  set_requires_grad(x, false);
  EXPECT_FALSE(x.requires_grad());
}

TEST(Grad, IsAbsentWithoutARecordAndBeforeBackward) {
  EXPECT_FALSE(grad(ones({1})).has_value());
  EXPECT_FALSE(grad(leaf(ones({1}))).has_value());
}

TEST(RecordingScope, SwitchesRecordingOffAndBack) {
  const Tensor x = leaf(ones({2}));
  {
    const RecordingScope off(false);
    EXPECT_FALSE(is_recording());
    EXPECT_FALSE(ops::clone(x).requires_grad());
    {
      const RecordingScope on(true);
      EXPECT_TRUE(ops::clone(x).requires_grad());
    }
    EXPECT_FALSE(is_recording());
  }
  EXPECT_TRUE(ops::clone(x).requires_grad());
}

/// A copy of x with a rule of its own.
Tensor recorded(const Tensor& x, Rule rule, Output keeps) {
  Tensor y = ops::clone(x).detach();
  record("test", y, {x, ones({2})}, {}, std::move(rule), keeps);
  return y;
}

TEST(Saved, KnowsWhichInputsNeedAGradient) {
  const Tensor y = recorded(
      leaf(ones({2})),
      [](const Saved& saved, const Gradient& g) {
        EXPECT_TRUE(saved.needs(0));
        EXPECT_FALSE(saved.needs(1));
        return std::vector<Gradient>{g, {}};
      },
      Output::unneeded);
  backward(y, {.gradient = ones({2})});
}

TEST(Saved, GivesTheOutputWithItsRecordWhileRecording) {
  const Rule rule = [](const Saved& saved, const Gradient& g) {
    EXPECT_EQ(saved.output().requires_grad(), is_recording());
    return std::vector<Gradient>{{saved.output(), g.mask}, {}};
  };
  const Tensor x = leaf(ones({2}));
  const Tensor y = recorded(x, rule, Output::saved);
  backward(y, {.gradient = ones({2}), .retain_graph = true});
  EXPECT_FALSE(grad(x)->requires_grad());
  backward(y, {.gradient = ones({2}), .create_graph = true});
  EXPECT_TRUE(grad(x)->requires_grad());
  set_grad(x, std::nullopt);  // its record leads back to x: they would keep each other alive
}

TEST(Saved, OutputDoesNotKeepItselfAlive) {
  std::weak_ptr<Node> watched;
  Storage storage;
  {
    const Tensor y = recorded(
        leaf(ones({2})),
        [](const Saved&, const Gradient& g) { return std::vector<Gradient>{g, {}}; },
        Output::saved);
    watched = y.node();
    storage = y.storage();
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(storage.use_count(), 1U);
}

TEST(Saved, NoticesThatTheOutputWasChanged) {
  const Tensor y = recorded(
      leaf(ones({2})),
      [](const Saved& saved, const Gradient&) {
        return std::vector<Gradient>{{saved.output(), {}}, {}};
      },
      Output::saved);
  const Tensor z = ops::clone(y);
  ops::fill_(y.detach(), 3);
  expect_error<StateError>(
      [&] { backward(z, {.gradient = ones({2})}); },
      "test backward: expected a tensor of shape [2] as it was in the forward call",
      "got one changed in place since (version 1 instead of 0)");
}

TEST(SavedTensor, GivesBackAnUnchangedTensor) {
  const Tensor x = ones({2});
  const SavedTensor saved(x);
  EXPECT_EQ(saved.unpack("test").storage(), x.storage());
}

TEST(SavedTensor, NoticesAChangeThroughAnyView) {
  const Tensor x = ones({2, 2});
  const SavedTensor saved(x);
  ops::fill_(ops::select(x, 0, 1), 5);
  expect_error<StateError>(
      [&] { saved.unpack("test"); },
      "test backward: expected a tensor of shape [2, 2] as it was in the forward call",
      "got one changed in place since (version 1 instead of 0)");
}

}  // namespace
}  // namespace loup::autograd
