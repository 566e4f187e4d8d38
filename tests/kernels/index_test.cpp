#include "loup/kernels/index.h"

#include <gtest/gtest.h>

#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::kernels {
namespace {

using test::bits_of;
using test::Random;
using test::random_tensor;

Tensor random_indices(Random& random, const Shape& shape, std::int64_t size) {
  const Tensor result = empty(shape, DType::i64);
  for (std::int64_t& index : result.data<std::int64_t>()) index = random.integer(-size, size - 1);
  return result;
}

/// Columns of a matrix of `rows` × `size` elements chosen by one vector.
struct Columns {
  Columns(Random& random, std::int64_t rows, std::int64_t size, std::int64_t wanted, DType dtype)
      : matrix(random_tensor(random, {rows, size}, dtype)),
        indices(random_indices(random, {wanted}, size)),
        chosen(random_tensor(random, {rows, wanted}, dtype)),
        dim{{indices.raw_data(), DType::i64, {0, 1}}, size, 1} {}
  Indexed indexed() const {
    return {{matrix.raw_data(), matrix.dtype(), {matrix.strides()[0], 0}}, {&dim, 1}};
  }
  std::int64_t column(std::int64_t i) const {
    const std::int64_t index = indices.at<std::int64_t>({i});
    return index < 0 ? index + dim.size : index;
  }

  Tensor matrix, indices, chosen;
  IndexedDim dim;
};

/// Rows of a matrix chosen by one vector.
struct Rows {
  Rows(Random& random, std::int64_t size, std::int64_t cols, std::int64_t wanted, DType dtype)
      : matrix(random_tensor(random, {size, cols}, dtype)),
        indices(random_indices(random, {wanted}, size)),
        chosen(random_tensor(random, {wanted, cols}, dtype)),
        dim{{indices.raw_data(), DType::i64, {1, 0}}, size, cols} {}
  Indexed indexed() const { return {{matrix.raw_data(), matrix.dtype(), {0, 1}}, {&dim, 1}}; }
  std::int64_t row(std::int64_t i) const {
    const std::int64_t index = indices.at<std::int64_t>({i});
    return index < 0 ? index + dim.size : index;
  }

  Tensor matrix, indices, chosen;
  IndexedDim dim;
};

class EveryDType : public testing::TestWithParam<DType> {};

TEST_P(EveryDType, IsGatheredByColumns) {
  Random random;
  const Columns c(random, 5, 40, 700, GetParam());
  ASSERT_TRUE(gather(c.chosen.shape(), c.chosen.array(), c.indexed()));
  for (std::int64_t r = 0; r < 5; ++r) {
    for (std::int64_t i = 0; i < 700; ++i) {
      ASSERT_EQ(c.chosen.at<double>({r, i}), c.matrix.at<double>({r, c.column(i)}))
          << r << ' ' << i;
    }
  }
}

TEST_P(EveryDType, IsGatheredByRowsOfEveryLength) {
  Random random;
  for (const std::int64_t cols : {1, 2, 3, 4, 8, 15, 16, 32, 63, 64, 100}) {
    SCOPED_TRACE(cols);
    const Rows rows(random, 30, cols, 600, GetParam());
    ASSERT_TRUE(gather(rows.chosen.shape(), rows.chosen.array(), rows.indexed()));
    for (std::int64_t i = 0; i < 600; ++i) {
      for (std::int64_t c = 0; c < cols; ++c) {
        ASSERT_EQ(rows.chosen.at<double>({i, c}), rows.matrix.at<double>({rows.row(i), c}));
      }
    }
  }
}

TEST_P(EveryDType, IsScatteredSoThatTheLastOneStays) {
  Random random;
  const Rows rows(random, 30, 5, 600, GetParam());
  const Tensor wanted = empty(rows.matrix.shape(), GetParam());
  std::copy_n(rows.matrix.raw_data(), rows.matrix.bytes(), wanted.raw_data());
  for (std::int64_t i = 0; i < 600; ++i) {
    std::copy_n(rows.chosen.raw_data() + i * 5 * item_bytes(GetParam()), 5 * item_bytes(GetParam()),
                wanted.raw_data() + rows.row(i) * 5 * item_bytes(GetParam()));
  }
  scatter(rows.chosen.shape(), rows.indexed(), rows.chosen.array());
  EXPECT_EQ(bits_of(rows.matrix), bits_of(wanted));
}

INSTANTIATE_TEST_SUITE_P(Index, EveryDType, testing::ValuesIn(test::all_dtypes()),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(ScatterAdd, AddsInRowMajorOrderForAnyNumberOfThreads) {
  // Rows, columns and single elements are shared among threads in different ways.
  for (const std::int64_t cols : {1, 7, 1500}) {
    std::vector<std::byte> wanted;
    test::with_threads({1, 2, 7}, [&] {
      Random random(static_cast<std::uint64_t>(cols));
      const Rows rows(random, 50, cols, 300'000 / cols, DType::f32);
      scatter_add(rows.chosen.shape(), rows.indexed(), rows.chosen.array());
      if (wanted.empty()) wanted = bits_of(rows.matrix);
      EXPECT_TRUE(bits_of(rows.matrix) == wanted) << cols << " columns";
    });
  }
}

TEST(ScatterAdd, AgreesWithALoop) {
  Random random;
  const Rows rows(random, 20, 3, 1000, DType::i32);
  std::vector<std::int32_t> wanted = test::elements<std::int32_t>(rows.matrix);
  for (std::int64_t i = 0; i < 1000; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) {
      auto& sum = wanted[static_cast<std::size_t>(rows.row(i) * 3 + c)];
      sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                      rows.chosen.at<std::uint32_t>({i, c}));
    }
  }
  scatter_add(rows.chosen.shape(), rows.indexed(), rows.chosen.array());
  EXPECT_EQ(test::elements<std::int32_t>(rows.matrix), wanted);
}

TEST(Gather, SaysThatAnIndexIsOutOfRange) {
  Random random;
  for (const std::int64_t bad : {10L, -11L, INT64_MAX, INT64_MIN}) {
    const Rows rows(random, 10, 4, 2000, DType::f32);
    rows.indices.set({1777}, bad);
    EXPECT_FALSE(gather(rows.chosen.shape(), rows.chosen.array(), rows.indexed())) << bad;
    const auto found = find_out_of_range(rows.chosen.shape(), {&rows.dim, 1});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, bad);
    EXPECT_EQ(found->dim, 0);
  }
}

TEST(FindOutOfRange, FindsTheFirstOfMany) {
  Random random;
  const Tensor indices = random_indices(random, {100, 1000}, 5);
  const IndexedDim dim{indices.array(), 5, 1};
  EXPECT_FALSE(find_out_of_range(indices.shape(), {&dim, 1}));
  indices.set({70, 3}, 77);
  indices.set({40, 999}, 55);
  EXPECT_EQ(find_out_of_range(indices.shape(), {&dim, 1})->index, 55);
}

}  // namespace
}  // namespace loup::kernels
