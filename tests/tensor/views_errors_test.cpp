#include <gtest/gtest.h>

#include "loup/tensor/views.h"
#include "tests/support/errors.h"

namespace loup {
namespace {

using test::expect_error;

const Layout x = Layout::contiguous({2, 3});
const Layout scalar = Layout::contiguous({});

TEST(Transpose, RefusesADimOutOfRange) {
  expect_error<IndexError>([] { transpose(x, 0, 2); }, "transpose: expected a dim from -2 to 1",
                           "got 2");
}

TEST(Transpose, AcceptsAScalar) { EXPECT_EQ(transpose(scalar, 0, -1).shape, Shape()); }

TEST(Permute, RefusesAnOrderOfAnotherLength) {
  expect_error<ShapeError>([] { permute(x, {0}); }, "permute: expected an order of 2 dims",
                           "got [0]");
}

TEST(Permute, RefusesARepeatedDim) {
  expect_error<ShapeError>([] { permute(x, {0, -2}); }, "permute: expected every dim at most once",
                           "got [0, -2]");
}

TEST(Squeeze, LeavesOtherSizesAlone) {
  EXPECT_EQ(squeeze(Layout::contiguous({1, 2, 1}), {1}).shape, (Shape{1, 2, 1}));
  EXPECT_EQ(squeeze(Layout::contiguous({1, 2, 1}), {-1}).shape, (Shape{1, 2}));
}

TEST(Unsqueeze, RefusesADimOutOfRange) {
  expect_error<IndexError>([] { unsqueeze(x, 3); }, "unsqueeze: expected a dim from -3 to 2",
                           "got 3");
}

TEST(Unsqueeze, RefusesANinthDim) {
  const Layout eight = Layout::contiguous(Dims::filled(8, 1));
  expect_error<ShapeError>([&] { unsqueeze(eight, 0); }, "shape: expected at most 8 dimensions",
                           "got 9");
}

TEST(Expand, RefusesToChangeASize) {
  expect_error<ShapeError>([] { expand(x, {4, 3}); },
                           "expand: expected a shape broadcastable to [4, 3]", "got shape [2, 3]");
}

TEST(Expand, RefusesFewerDims) {
  expect_error<ShapeError>([] { expand(x, {3}); }, "expand: expected a shape broadcastable to [3]",
                           "got shape [2, 3]");
}

TEST(Expand, RefusesAnUnknownSizeOfANewDim) {
  expect_error<ShapeError>([] { expand(x, {-1, 2, 3}); },
                           "expand: expected a size for each new dim", "got [-1, 2, 3]");
}

TEST(Expand, RefusesASizeThatOverflows) {
  const Layout ones = Layout::contiguous({1, 1});
  expect_error<ShapeError>([&] { expand(ones, {INT64_MAX, 2}); },
                           "shape: expected at most 9223372036854775807 elements",
                           "got shape [9223372036854775807, 2]");
}

TEST(Narrow, RefusesARangeBeyondTheEnd) {
  expect_error<IndexError>([] { narrow(x, 1, 2, 2); },
                           "narrow: expected a range inside of 3 elements",
                           "got start 2 and length 2");
  expect_error<IndexError>([] { narrow(x, 1, 0, -1); },
                           "narrow: expected a range inside of 3 elements",
                           "got start 0 and length -1");
}

TEST(Narrow, RefusesALengthThatOverflows) { EXPECT_THROW(narrow(x, 1, 1, INT64_MAX), IndexError); }

TEST(Narrow, CountsANegativeStartFromTheBack) { EXPECT_EQ(narrow(x, 1, -2, 2).offset, 1); }

TEST(Narrow, RefusesAScalar) {
  expect_error<ShapeError>([] { narrow(scalar, 0, 0, 0); }, "narrow: expected a tensor with dims",
                           "got 0-d");
}

TEST(Select, RefusesAnIndexOutOfRange) {
  expect_error<IndexError>([] { select(x, 1, 3); },
                           "select: expected an index from -3 to 2 for dim 1", "got 3");
  expect_error<IndexError>([] { select(x, 0, -3); },
                           "select: expected an index from -2 to 1 for dim 0", "got -3");
}

TEST(Select, RefusesAScalar) {
  expect_error<IndexError>([] { select(scalar, 0, 0); }, "select: expected a tensor with dims",
                           "got 0-d");
}

TEST(Slice, RefusesAStepThatIsNotPositive) {
  expect_error<ValueError>([] { slice(x, 0, 0, 2, 0); }, "slice: expected a positive step",
                           "got 0");
  expect_error<ValueError>([] { slice(x, 0, 0, 2, -1); }, "slice: expected a positive step",
                           "got -1");
}

TEST(Slice, WithAnEnormousStepShowsOneElement) {
  const Layout got = slice(x, 1, 1, {}, INT64_MAX);
  EXPECT_EQ(got.shape, (Shape{2, 1}));
  EXPECT_EQ(got.offset, 1);
}

TEST(ResolveShape, WorksOutOneSize) {
  EXPECT_EQ(resolve_shape("view", {2, 3}, {-1, 2}), (Shape{3, 2}));
  EXPECT_EQ(resolve_shape("view", {}, {-1}), (Shape{1}));
  EXPECT_EQ(resolve_shape("view", {0, 3}, {-1, 3}), (Shape{0, 3}));
}

TEST(ResolveShape, RefusesTwoUnknownSizes) {
  expect_error<ShapeError>([] { resolve_shape("view", {2, 3}, {-1, -1}); },
                           "view: expected at most one size of -1", "got [-1, -1]");
}

TEST(ResolveShape, RefusesASizeThatCannotBeWorkedOut) {
  expect_error<ShapeError>([] { resolve_shape("view", {2, 3}, {-1, 4}); },
                           "view: expected a shape of 6 elements", "got [-1, 4]");
  expect_error<ShapeError>([] { resolve_shape("view", {0}, {-1, 0}); },
                           "view: expected a shape of 0 elements", "got [-1, 0]");
}

TEST(ResolveShape, RefusesNegativeSizes) {
  expect_error<ShapeError>([] { resolve_shape("view", {2, 3}, {-2, -3}); },
                           "shape: expected sizes of at least 0", "got [-2, -3]");
}

TEST(FlatShape, JoinsDims) {
  EXPECT_EQ(flat_shape({2, 3, 4}, 1, -1), (Shape{2, 12}));
  EXPECT_EQ(flat_shape({2, 3, 4}, 0, 1), (Shape{6, 4}));
}

}  // namespace
}  // namespace loup
