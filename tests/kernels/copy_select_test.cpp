#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "loup/kernels/copy.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

// The kernels of kernels/copy.h that combine arrays: select, add, logical_and.

namespace loup::kernels {
namespace {

using test::Random;

template <class T>
Array array_of(std::vector<T>& values, const Strides& strides) {
  return {reinterpret_cast<std::byte*>(values.data()), dtype_of<T>(), strides};
}
/// std::vector<bool> has no bytes.
Array mask_of(std::vector<std::uint8_t>& bytes, const Strides& strides) {
  return {reinterpret_cast<std::byte*>(bytes.data()), DType::boolean, strides};
}

TEST(Select, TakesTheFirstWhereTheMaskIsTrue) {
  std::vector<std::uint8_t> mask = {1, 0, 1, 0};
  std::vector<float> yes = {1, 2, 3, 4, 5, 6};
  std::vector<float> no = {-9};
  std::vector<float> to(6);
  // Element (i, j) is chosen by byte i + j, and `yes` is transposed.
  select({3, 2}, array_of(to, {2, 1}), mask_of(mask, {1, 1}), array_of(yes, {1, 3}),
         array_of(no, {0, 0}));
  EXPECT_EQ(to, (std::vector<float>{1, -9, -9, 5, 3, -9}));
}

TEST(Select, CarriesNanThroughUntouched) {
  std::vector<std::uint8_t> mask = {1, 0};
  std::vector<double> yes = {std::nan(""), std::nan("")};
  std::vector<double> no = {0, 0};
  std::vector<double> to(2);
  select({2}, array_of(to, {1}), mask_of(mask, {1}), array_of(yes, {1}), array_of(no, {1}));
  EXPECT_TRUE(std::isnan(to[0]));
  EXPECT_EQ(to[1], 0);
}

TEST(Add, WrapsIntegers) {
  std::vector<std::int8_t> a = {127, -128, 1};
  std::vector<std::int8_t> b = {1, -1, 2};
  add({3}, array_of(a, {1}), array_of(a, {1}), array_of(b, {1}));
  EXPECT_EQ(a, (std::vector<std::int8_t>{-128, 127, 3}));
}

TEST(Add, IsOrForBool) {
  std::vector<std::uint8_t> a = {0, 0, 1, 1};
  std::vector<std::uint8_t> b = {0, 1, 0, 1};
  std::vector<std::uint8_t> to(4, 9);
  add({4}, mask_of(to, {1}), mask_of(a, {1}), mask_of(b, {1}));
  EXPECT_EQ(to, (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

TEST(Add, RoundsHalvesOnce) {
  std::vector<Float16> a = {Float16(2048.0F), Float16(1.5F)};
  std::vector<Float16> b = {Float16(1.0F), Float16(0.25F)};
  std::vector<Float16> to(2);
  add({2}, array_of(to, {1}), array_of(a, {1}), array_of(b, {1}));
  EXPECT_EQ(static_cast<float>(to[0]), 2048.0F);
  EXPECT_EQ(static_cast<float>(to[1]), 1.75F);
}

TEST(Add, ReadsAnyStrides) {
  std::vector<double> a = {1, 2, 3, 4, 5, 6};
  std::vector<double> b = {10, 20};
  std::vector<double> to(6);
  add({2, 3}, array_of(to, {3, 1}), array_of(a, {1, 2}), array_of(b, {1, 0}));
  EXPECT_EQ(to, (std::vector<double>{11, 13, 15, 22, 24, 26}));
}

TEST(LogicalAnd, IsTrueWhereBothAre) {
  std::vector<std::uint8_t> a = {0, 0, 1, 1};
  std::vector<std::uint8_t> b = {0, 1, 0, 255};
  logical_and({4}, mask_of(a, {1}), mask_of(a, {1}), mask_of(b, {1}));
  EXPECT_EQ(a, (std::vector<std::uint8_t>{0, 0, 0, 1}));
}

/// An operand of any layout: contiguous, transposed, stepped or standing still in some dims.
Tensor random_operand(Random& random, const Shape& shape, DType dtype) {
  Strides strides = Dims::filled(shape.size(), 0);
  std::int64_t step = random.pick<std::int64_t>({1, 1, 2});
  const bool is_turned = random.chance(0.3);
  const bool stands_still = random.chance(0.3);
  for (int i = 0; i < shape.size(); ++i) {
    const int dim = is_turned ? i : shape.size() - 1 - i;
    if (stands_still && random.chance(0.6)) continue;
    strides[dim] = step;
    step *= shape[dim];
  }
  const Tensor base = test::random_tensor(random, {step + 1}, dtype);
  return {base.storage(), {shape, strides, 0}, dtype};
}

TEST(Select, AgreesWithALoopForAnyStridesAndDType) {
  Random random;
  for (int i = 0; i < 600; ++i) {
    const Shape shape = {random.integer(1, 5), random.integer(1, 70)};
    const DType dtype = random.pick(test::all_dtypes());
    const Tensor mask = random_operand(random, shape, DType::boolean);
    const Tensor yes = random_operand(random, shape, dtype);
    const Tensor no = random_operand(random, shape, dtype);
    const Tensor to = zeros(shape, dtype);
    select(shape, to.array(), mask.array(), yes.array(), no.array());
    const Tensor wanted = zeros(shape, dtype);
    test::for_each_index(shape, [&](const Dims& index) {
      const Tensor& chosen = mask.at<bool>(index) ? yes : no;
      visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
        wanted.data<T>()[static_cast<std::size_t>(index[0] * shape[1] + index[1])] =
            chosen.at<T>(index);
      });
    });
    ASSERT_EQ(test::bits_of(to), test::bits_of(wanted)) << fmt::format(
        "{} {} mask {} yes {} no {}", dtype, shape, mask.strides(), yes.strides(), no.strides());
  }
}

TEST(Add, AgreesWithALoopForAnyStridesAndDType) {
  Random random;
  for (int i = 0; i < 600; ++i) {
    const Shape shape = {random.integer(1, 5), random.integer(1, 70)};
    const DType dtype = random.pick<DType>({DType::u8, DType::i64, DType::f32, DType::f64});
    const Tensor a = random_operand(random, shape, dtype);
    const Tensor b = random_operand(random, shape, dtype);
    const Tensor to = zeros(shape, dtype);
    add(shape, to.array(), a.array(), b.array());
    test::for_each_index(shape, [&](const Dims& index) {
      visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>) {
          const auto wanted = static_cast<std::uint64_t>(a.at<std::int64_t>(index)) +
                              static_cast<std::uint64_t>(b.at<std::int64_t>(index));
          ASSERT_EQ(to.at<T>(index), static_cast<T>(wanted));
        } else if constexpr (std::is_floating_point_v<T>) {
          ASSERT_EQ(to.at<T>(index), a.at<T>(index) + b.at<T>(index));
        }
      });
    });
    if (HasFailure()) return;
  }
}

TEST(Add, IsTheSameOnEveryNumberOfThreads) {
  Random random;
  const Shape shape = {600, 700};
  const Tensor a = test::random_tensor(random, shape, DType::f32);
  const Tensor b = random_operand(random, shape, DType::f32);
  const Tensor once = zeros(shape);
  add(shape, once.array(), a.array(), b.array());
  test::with_threads({1, 2, 7}, [&] {
    const Tensor again = zeros(shape);
    add(shape, again.array(), a.array(), b.array());
    EXPECT_EQ(test::bits_of(again), test::bits_of(once));
  });
}

}  // namespace
}  // namespace loup::kernels
