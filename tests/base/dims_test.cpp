#include "loup/base/dims.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace loup {
namespace {

using test::expect_error;

TEST(Dims, HoldUpToEightIntegers) {
  const Dims dims = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(dims.size(), 8);
  EXPECT_EQ(dims[7], 8);
  EXPECT_EQ(dims.back(), 8);
}

TEST(Dims, RefuseANinthHoweverItComes) {
  const std::vector<std::int64_t> nine(9, 1);
  const auto expect = [](auto&& make) {
    expect_error<ShapeError>(make, "shape: expected at most 8 dimensions", "got 9");
  };
  expect([&] { Dims{nine}; });
  expect([] { Dims{1, 1, 1, 1, 1, 1, 1, 1, 1}; });
  expect([] { Dims::filled(9, 1); });
  expect([] { Dims::filled(8, 1).push_back(1); });
  expect([] { Dims::filled(8, 1).insert(0, 1); });
}

TEST(Dims, ComeFromContiguousRanges) {
  EXPECT_EQ(Dims(std::array<std::int64_t, 2>{4, 5}), (Dims{4, 5}));
  EXPECT_EQ(Dims(std::vector<std::int64_t>{}), Dims());
}

TEST(Dims, ComeFromOneInteger) {
  const Dims dims = -1;
  EXPECT_EQ(dims, (Dims{-1}));
}

TEST(Dims, CompareSizeAndValues) {
  EXPECT_EQ((Dims{1, 2}), (Dims{1, 2}));
  EXPECT_NE((Dims{1, 2}), (Dims{1, 2, 0}));
  EXPECT_NE((Dims{1, 2}), (Dims{2, 1}));
}

TEST(Dims, InsertAndEraseAnywhere) {
  Dims dims = {1, 2, 3};
  dims.insert(0, 0);
  dims.insert(2, 9);
  dims.push_back(7);
  EXPECT_EQ(dims, (Dims{0, 1, 9, 2, 3, 7}));
  dims.erase(0);
  dims.erase(4);
  dims.erase(1);
  EXPECT_EQ(dims, (Dims{1, 2, 3}));
}

TEST(Dims, PrintInBrackets) {
  EXPECT_EQ(fmt::format("{}", Dims{1, -2}), "[1, -2]");
  EXPECT_EQ(fmt::format("{}", Dims()), "[]");
}

TEST(ElementCount, MultipliesSizes) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({5, 0, 7}), 0);
  EXPECT_EQ(element_count({INT64_MAX}), INT64_MAX);
}

TEST(ElementCount, RefusesAProductThatOverflows) {
  expect_error<ShapeError>([] { element_count({std::int64_t{1} << 32, std::int64_t{1} << 31}); },
                           "shape: expected at most 9223372036854775807 elements",
                           "got shape [4294967296, 2147483648]");
}

TEST(ElementCount, RefusesAnOverflowEvenBesideASizeOfZero) {
  EXPECT_THROW(element_count({INT64_MAX, 2, 0}), ShapeError);
}

TEST(ElementCount, RefusesNegativeSizes) {
  expect_error<ShapeError>([] { element_count({3, -1}); }, "shape: expected sizes of at least 0",
                           "got [3, -1]");
}

TEST(ContiguousStrides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Strides());
}

TEST(ContiguousStrides, CountASizeOfZeroAsOne) {
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Strides{4, 4, 1}));
}

TEST(NormalizeDim, CountsNegativeDimsFromTheBack) {
  EXPECT_EQ(normalize_dim("op", 2, 3), 2);
  EXPECT_EQ(normalize_dim("op", -1, 3), 2);
  EXPECT_EQ(normalize_dim("op", -3, 3), 0);
}

TEST(NormalizeDim, OfAScalarAcceptsZeroAndMinusOne) {
  EXPECT_EQ(normalize_dim("op", 0, 0), 0);
  EXPECT_EQ(normalize_dim("op", -1, 0), 0);
  expect_error<IndexError>([] { normalize_dim("op", 1, 0); }, "op: expected a dim from -1 to 0",
                           "got 1");
  EXPECT_THROW(normalize_dim("op", -2, 0), IndexError);
}

TEST(NormalizeDim, RefusesADimOutOfRange) {
  expect_error<IndexError>([] { normalize_dim("op", 3, 3); }, "op: expected a dim from -3 to 2",
                           "got 3");
  expect_error<IndexError>([] { normalize_dim("op", -4, 3); }, "op: expected a dim from -3 to 2",
                           "got -4");
  EXPECT_THROW(normalize_dim("op", INT64_MIN, 3), IndexError);
}

TEST(DimBits, AreASetInAnyOrder) {
  EXPECT_EQ(dim_bits("op", {2, 0}, 3), 0b101U);
  EXPECT_EQ(dim_bits("op", {-1, -3}, 3), 0b101U);
  EXPECT_EQ(dim_bits("op", {}, 3), 0b111U);
  EXPECT_EQ(dim_bits("op", {}, 0), 0U);
}

TEST(DimBits, RefuseARepeatedDimInEverySpelling) {
  expect_error<ShapeError>([] { dim_bits("op", {2, -1}, 3); },
                           "op: expected every dim at most once", "got [2, -1]");
  EXPECT_THROW(dim_bits("op", {0, 0}, 3), ShapeError);
  EXPECT_THROW(dim_bits("op", {0, -1}, 0), ShapeError);
}

}  // namespace
}  // namespace loup
