#include "loup/kernels/compact.h"

#include <gtest/gtest.h>

#include "loup/kernels/compact_rows.h"
#include "tests/support/guarded.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::kernels {
namespace {

using test::for_each_target;
using test::Guarded;
using test::Random;

template <class T>
std::vector<T> chosen(const std::vector<T>& values, const std::vector<std::uint8_t>& mask) {
  std::vector<T> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (mask[i] != 0) result.push_back(values[i]);
  }
  return result;
}

template <class T>
class CompactRow : public testing::Test {};
using Words = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CompactRow, Words);

TYPED_TEST(CompactRow, WritesTheTrueElementsAndNothingBeyond) {
  Random random;
  for (std::int64_t count = 0; count < 200; ++count) {
    const auto values = random.values<TypeParam>(count);
    const auto mask = random.mask_bytes(count, random.fraction());
    const auto wanted = chosen(values, mask);
    const Guarded<TypeParam> from(values);
    const Guarded<std::uint8_t> choose(mask);
    for_each_target([&] {
      EXPECT_EQ(count_true(choose.data(), count), std::ssize(wanted));
      const Guarded<TypeParam> to(std::vector<TypeParam>(wanted.size(), 0));
      const std::int64_t written = compact_row(
          reinterpret_cast<const std::byte*>(from.data()), sizeof(TypeParam), choose.data(), count,
          reinterpret_cast<std::byte*>(to.data()), std::ssize(wanted));
      EXPECT_EQ(written, std::ssize(wanted));
      EXPECT_EQ(std::vector<TypeParam>(to.data(), to.data() + written), wanted);
    });
  }
}

TEST(CompactNumbers, WritesTheNumbersOfTrueElements) {
  Random random;
  for (std::int64_t count = 0; count < 100; ++count) {
    const auto mask = random.mask_bytes(count, 0.5);
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(1000 + i);
    const auto wanted = chosen(numbers, mask);
    for_each_target([&] {
      const Guarded<std::int64_t> to(std::vector<std::int64_t>(wanted.size(), 0));
      EXPECT_EQ(compact_numbers(1000, mask.data(), count, to.data(), std::ssize(wanted)),
                std::ssize(wanted));
      EXPECT_EQ(std::vector<std::int64_t>(to.data(), to.data() + std::ssize(wanted)), wanted);
    });
  }
}

TEST(Compact, IsUndoneByPlace) {
  Random random;
  const Tensor x = test::random_tensor(random, {70, 900}, DType::f32);
  const Tensor mask = test::random_mask(random, {70, 900});
  const auto starts = count_true(x.shape(), mask.array());
  const Tensor chosen_ones = empty({starts.back()}, DType::f32);
  compact(x.shape(), mask.array(), x.array(), chosen_ones.raw_data(), starts);
  const Tensor back = zeros({70, 900});
  place(x.shape(), mask.array(), back.array(), chosen_ones.raw_data(), starts);
  test::for_each_index(x.shape(), [&](const Dims& index) {
    ASSERT_EQ(back.at<float>(index), mask.at<bool>(index) ? x.at<float>(index) : 0);
  });
}

TEST(Coordinates, TellWhereTheTrueElementsAre) {
  Random random;
  for (const Shape& shape : {Shape{5}, Shape{1, 1}, Shape{3, 1}, Shape{20, 3, 1, 500}}) {
    const Tensor mask = test::random_mask(random, shape);
    const auto starts = count_true(shape, mask.array());
    const Tensor found = empty({shape.size(), starts.back()}, DType::i64);
    coordinates(shape, mask.array(), found.data<std::int64_t>().data(), starts);
    std::int64_t next = 0;
    test::for_each_index(shape, [&](const Dims& index) {
      if (!mask.at<bool>(index)) return;
      for (int d = 0; d < shape.size(); ++d) ASSERT_EQ(found.at<std::int64_t>({d, next}), index[d]);
      ++next;
    });
    EXPECT_EQ(next, starts.back());
  }
}

}  // namespace
}  // namespace loup::kernels
