#include <gtest/gtest.h>

#include "loup/kernels/reduce.h"
#include "tests/kernels/blocks.h"
#include "tests/support/guarded.h"
#include "tests/support/settings.h"

// Elements and mask each end at the end of a page, and the next page cannot be read.

namespace loup::test {
namespace {

template <class T>
class SumAtTheEndOfMemory : public testing::Test {};
using Elements = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(SumAtTheEndOfMemory, Elements);

/// Every tail length, with one row and with several, where the last rows must not be over-read.
template <class Visit>
void for_each_tail(Visit&& visit) {
  for_each_target([&] {
    for (std::int64_t cols = 1; cols <= 100; ++cols) {
      for (const std::int64_t rows : {1, 2, 11}) visit(rows, cols);
    }
  });
}

template <class T>
void expect_block_sums(const kernels::Block& block, T along, T across) {
  for (const auto sum : sum_along<T>(block)) ASSERT_EQ(sum, along) << block.cols << " columns";
  for (const auto sum : sum_across<T>(block)) ASSERT_EQ(sum, across) << block.cols << " columns";
}

TYPED_TEST(SumAtTheEndOfMemory, ReadsNothingPastTheElements) {
  for_each_tail([&](std::int64_t rows, std::int64_t cols) {
    const Guarded<TypeParam> x(std::vector<TypeParam>(static_cast<std::size_t>(rows * cols), 1));
    expect_block_sums<TypeParam>({x.data(), cols, nullptr, 0, 0, rows, cols},
                                 static_cast<TypeParam>(cols), static_cast<TypeParam>(rows));
  });
}

TYPED_TEST(SumAtTheEndOfMemory, ReadsNothingPastAByteMask) {
  for_each_tail([&](std::int64_t rows, std::int64_t cols) {
    const auto count = static_cast<std::size_t>(rows * cols);
    const Guarded<TypeParam> x(std::vector<TypeParam>(count, 1));
    const Guarded<std::uint8_t> mask(std::vector<std::uint8_t>(count, 1));
    expect_block_sums<TypeParam>({x.data(), cols, mask.data(), cols, 1, rows, cols},
                                 static_cast<TypeParam>(cols), static_cast<TypeParam>(rows));
  });
}

TYPED_TEST(SumAtTheEndOfMemory, ReadsNothingPastAMaskThatEveryRowShares) {
  for_each_tail([&](std::int64_t rows, std::int64_t cols) {
    const Guarded<TypeParam> x(std::vector<TypeParam>(static_cast<std::size_t>(rows * cols), 1));
    const Guarded<std::uint8_t> mask(std::vector<std::uint8_t>(static_cast<std::size_t>(cols), 1));
    expect_block_sums<TypeParam>({x.data(), cols, mask.data(), 0, 1, rows, cols},
                                 static_cast<TypeParam>(cols), static_cast<TypeParam>(rows));
  });
}

TYPED_TEST(SumAtTheEndOfMemory, ReadsNothingPastAMaskOfRows) {
  for_each_tail([&](std::int64_t rows, std::int64_t cols) {
    const Guarded<TypeParam> x(std::vector<TypeParam>(static_cast<std::size_t>(rows * cols), 1));
    const Guarded<std::uint8_t> mask(std::vector<std::uint8_t>(static_cast<std::size_t>(rows), 1));
    expect_block_sums<TypeParam>({x.data(), cols, mask.data(), 1, 0, rows, cols},
                                 static_cast<TypeParam>(cols), static_cast<TypeParam>(rows));
  });
}

TYPED_TEST(SumAtTheEndOfMemory, ReadsNothingPastRowsThatAreApart) {
  for_each_tail([&](std::int64_t rows, std::int64_t cols) {
    // The gap after the last row belongs to nobody.
    const std::int64_t row = cols + 5;
    const auto count = static_cast<std::size_t>((rows - 1) * row + cols);
    const Guarded<TypeParam> x(std::vector<TypeParam>(count, 1));
    const Guarded<std::uint8_t> mask(std::vector<std::uint8_t>(count, 1));
    expect_block_sums<TypeParam>({x.data(), row, mask.data(), row, 1, rows, cols},
                                 static_cast<TypeParam>(cols), static_cast<TypeParam>(rows));
  });
}

TYPED_TEST(SumAtTheEndOfMemory, ReadsNothingPastRowsThatOverlap) {
  for_each_tail([&](std::int64_t rows, std::int64_t cols) {
    const Guarded<TypeParam> x(
        std::vector<TypeParam>(static_cast<std::size_t>(rows - 1 + cols), 1));
    expect_block_sums<TypeParam>({x.data(), 1, nullptr, 0, 0, rows, cols},
                                 static_cast<TypeParam>(cols), static_cast<TypeParam>(rows));
  });
}

}  // namespace
}  // namespace loup::test
