#include "loup/tensor/broadcast.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace loup {
namespace {

using test::expect_error;

TEST(Broadcast, RepeatsSizeOneByAStrideOfZero) {
  const Layout got = broadcast("add", "a mask", Layout::contiguous({2, 1, 3}), {2, 4, 3});
  EXPECT_EQ(got.shape, (Shape{2, 4, 3}));
  EXPECT_EQ(got.strides, (Strides{3, 0, 1}));
}

TEST(Broadcast, AddsLeadingDims) {
  EXPECT_EQ(broadcast("add", "a mask", Layout::contiguous({3}), {5, 4, 3}).strides,
            (Strides{0, 0, 1}));
}

TEST(Broadcast, KeepsTheOffset) {
  EXPECT_EQ(broadcast("add", "a mask", {{1}, {1}, 7}, {3}).offset, 7);
}

TEST(Broadcast, RepeatsToNothing) {
  EXPECT_EQ(broadcast("add", "a mask", Layout::contiguous({1, 3}), {0, 3}).shape, (Shape{0, 3}));
}

TEST(Broadcast, RefusesToCutASize) {
  expect_error<ShapeError>([] { broadcast("add", "a mask", Layout::contiguous({2}), {1}); },
                           "add: expected a mask broadcastable to [1]", "got shape [2]");
}

TEST(Broadcast, RefusesToDropDims) {
  expect_error<ShapeError>([] { broadcast("add", "a mask", Layout::contiguous({1, 3}), {3}); },
                           "add: expected a mask broadcastable to [3]", "got shape [1, 3]");
}

TEST(CommonShape, IsWhatBothBroadcastTo) {
  EXPECT_EQ(common_shape("add", {2, 1, 3}, {4, 1}), (Shape{2, 4, 3}));
  EXPECT_EQ(common_shape("add", {}, {4, 1}), (Shape{4, 1}));
  EXPECT_EQ(common_shape("add", {1}, {0}), (Shape{0}));
}

TEST(CommonShape, RefusesShapesThatDoNotFit) {
  expect_error<ShapeError>([] { common_shape("add", {2, 3}, {2}); },
                           "add: expected shapes that broadcast together", "got [2, 3] and [2]");
}

}  // namespace
}  // namespace loup
