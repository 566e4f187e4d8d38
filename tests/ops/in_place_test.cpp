#include "loup/ops/in_place.h"

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using autograd::Gradient;
using autograd::Saved;
using test::elements;
using test::expect_error;
using test::grad_of;
using test::leaf;

Tensor doubled(const Tensor& x) { return autograd::accumulate({x, {}}, {x, {}}).value; }

/// x *= 2, the smallest operator that is recorded in place.
void double_(Tensor& x) {
  prepare_in_place("double_", x);
  for (double& element :
       std::span(reinterpret_cast<double*>(x.raw_data()), static_cast<std::size_t>(x.size()))) {
    element *= 2;
  }
  if (autograd::is_recorded(x)) {
    autograd::record_in_place("double_", x, {}, {}, [](const Saved&, const Gradient& g) {
      return std::vector<Gradient>{{doubled(g.value), g.mask}};
    });
  }
}

TEST(InPlace, IsPartOfTheRecordOfItsTensor) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = clone(x);
  double_(y);
  double_(y);
  EXPECT_EQ(elements<double>(y), (std::vector<double>{4, 8}));
  autograd::backward(test::sum(y));
  EXPECT_EQ(grad_of(x), (std::vector<double>{4, 4}));
}

TEST(InPlace, ThroughAViewIsPartOfTheViewsRecord) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  const Tensor y = clone(x);
  Tensor v = select(y, 0, 1);
  double_(v);
  EXPECT_EQ(elements<double>(v), (std::vector<double>{6, 8}));
  autograd::backward(test::sum(v));
  EXPECT_EQ(grad_of(x), (std::vector<double>{0, 0, 2, 2}));
}

constexpr const char* was_changed =
    "got one changed in place through another tensor that shares its memory";

TEST(InPlace, ThroughAViewMakesOtherHandlesRefuseToBeUsed) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  const Tensor y = clone(x);
  const Tensor other = select(y, 0, 0);
  Tensor v = select(y, 0, 1);
  double_(v);
  expect_error<StateError>([&] { test::sum(y); },
                           "sum: expected a tensor of shape [2, 2] as it was computed",
                           was_changed);
  expect_error<StateError>([&] { autograd::backward(y, {.gradient = ones({2, 2}, DType::f64)}); },
                           "backward: expected a tensor of shape [2, 2] as it was computed",
                           was_changed);
  expect_error<StateError>([&] { transpose(other, 0, 0); },
                           "transpose: expected a tensor of shape [2] as it was computed",
                           was_changed);
  Tensor stale = y;
  expect_error<StateError>([&] { double_(stale); },
                           "double_: expected a tensor of shape [2, 2] as it was computed",
                           was_changed);
}

TEST(InPlace, OnATensorMakesItsEarlierViewsRefuseToBeUsed) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = clone(x);
  const Tensor v = narrow(y, 0, 0, 1);
  const Tensor copy = y;
  double_(y);
  expect_error<StateError>([&] { test::sum(v); },
                           "sum: expected a tensor of shape [1] as it was computed", was_changed);
  expect_error<StateError>([&] { test::sum(copy); },
                           "sum: expected a tensor of shape [2] as it was computed", was_changed);
  autograd::backward(test::sum(narrow(y, 0, 0, 1)));
  EXPECT_EQ(grad_of(x), (std::vector<double>{2, 0}));
}

TEST(InPlace, DoesNotDisturbWhatWasComputedBefore) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = clone(x);
  const Tensor total = test::sum(y);
  double_(y);
  autograd::backward(total);
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 1}));
}

TEST(InPlace, StaleTensorsMayStillBeReadWhileNothingIsRecorded) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = clone(x);
  Tensor v = narrow(y, 0, 0, 1);
  double_(v);
  const autograd::RecordingScope off(false);
  EXPECT_EQ(test::sum(y).item<double>(), 4);
}

TEST(InPlace, RefusesALeafWhileRecording) {
  Tensor x = leaf(tensor({1.0, 2.0}));
  expect_error<StateError>(
      [&] { double_(x); },
      "double_: expected a tensor that may change while gradients are recorded",
      "got a leaf that requires grad");
  EXPECT_EQ(elements<double>(x), (std::vector<double>{1, 2}));
  EXPECT_EQ(x.storage().version(), tensor({1.0, 2.0}).storage().version());
}

TEST(InPlace, RefusesAViewOfALeafWhileRecording) {
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  Tensor v = select(transpose(x, 0, 1), 0, 1);
  expect_error<StateError>(
      [&] { double_(v); },
      "double_: expected a tensor that may change while gradients are recorded",
      "got a view of a leaf that requires grad");
}

TEST(InPlace, ChangesALeafWhileNothingIsRecorded) {
  Tensor x = leaf(tensor({1.0, 2.0}));
  {
    const autograd::RecordingScope off(false);
    double_(x);
  }
  autograd::backward(test::sum(x));
  EXPECT_EQ(elements<double>(x), (std::vector<double>{2, 4}));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 1}));
}

TEST(InPlace, UnrecordedLeavesTheRecordOfItsTensorAndNoOther) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = clone(x);
  const Tensor v = narrow(y, 0, 0, 1);
  {
    const autograd::RecordingScope off(false);
    double_(y);
  }
  autograd::backward(test::sum(y));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 1}));
  expect_error<StateError>([&] { test::sum(v); },
                           "sum: expected a tensor of shape [1] as it was computed", was_changed);
}

TEST(InPlace, RefusesToTakeUpARecordBehindTheBackOfOtherTensors) {
  Tensor x = zeros({2}, DType::f64);
  const Tensor view = narrow(x, 0, 0, 1);
  const Tensor from = leaf(ones({2}, DType::f64));
  expect_error<StateError>(
      [&] { copy_(x, from); },
      "copy_: expected to be the only tensor of its memory when it takes up a gradient record",
      "got one shared with 1 others that would not notice");
  EXPECT_EQ(elements<double>(x), (std::vector<double>{0, 0}));
}

TEST(InPlace, NoticesThatASourceIsStale) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = clone(x);
  const Tensor v = narrow(y, 0, 0, 1);
  double_(y);
  Tensor into = zeros({1}, DType::f64);
  expect_error<StateError>([&] { copy_(into, v); },
                           "copy_: expected a tensor of shape [1] as it was computed", was_changed);
}

TEST(Replace, TakesOverElementsAndRecord) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor y = clone(x);
  replace_("double_", y, doubled(y));
  EXPECT_EQ(elements<double>(y), (std::vector<double>{2, 4}));
  autograd::backward(test::sum(y));
  EXPECT_EQ(grad_of(x), (std::vector<double>{2, 2}));
}

TEST(Replace, IsAPlainWriteWhileNothingIsRecorded) {
  Tensor x = leaf(tensor({1.0, 2.0}));
  const autograd::RecordingScope off(false);
  replace_("double_", x, doubled(x));
  EXPECT_EQ(elements<double>(x), (std::vector<double>{2, 4}));
  EXPECT_TRUE(x.node()->is_leaf());
}

}  // namespace
}  // namespace loup::ops
