#include <gtest/gtest.h>

#include "loup/kernels/elementwise.h"
#include "tests/kernels/maps.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

using test::Byte;
using test::expect_kernel;
using test::mapped;

template <class T>
class Compare : public testing::Test {
 protected:
  static constexpr ComputeType type = compute_type(dtype_of<T>());

  template <class F>
  void expect(BinaryOp op, const F& f) {
    test::Random random;
    const auto [x, y] = test::operands<T, 2>(random);
    const auto wanted = mapped<Byte>(f, x, y);
    test::for_each_target([&, &a = x, &b = y] {
      const ElementwiseKernel* const kernel = find_binary(op, type);
      ASSERT_NE(kernel, nullptr);
      EXPECT_EQ(kernel->output, DType::boolean);
      expect_kernel(kernel, wanted, a, b);
    });
  }
};

using Every = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Compare, Every);

TYPED_TEST(Compare, IsTrueForEquals) {
  this->expect(BinaryOp::eq, [](TypeParam x, TypeParam y) { return x == y; });
}
TYPED_TEST(Compare, IsTrueForOthersAndNaN) {
  this->expect(BinaryOp::ne, [](TypeParam x, TypeParam y) { return x != y; });
}
TYPED_TEST(Compare, IsTrueForLess) {
  this->expect(BinaryOp::lt, [](TypeParam x, TypeParam y) { return x < y; });
}
TYPED_TEST(Compare, IsTrueForLessAndEquals) {
  this->expect(BinaryOp::le, [](TypeParam x, TypeParam y) { return x <= y; });
}
TYPED_TEST(Compare, IsTrueForGreater) {
  this->expect(BinaryOp::gt, [](TypeParam x, TypeParam y) { return x > y; });
}
TYPED_TEST(Compare, IsTrueForGreaterAndEquals) {
  this->expect(BinaryOp::ge, [](TypeParam x, TypeParam y) { return x >= y; });
}
TYPED_TEST(Compare, TakesAnythingButZeroForTrueAlsoNaN) {
  this->expect(BinaryOp::logical_and, [](TypeParam x, TypeParam y) { return x != 0 && y != 0; });
  this->expect(BinaryOp::logical_or, [](TypeParam x, TypeParam y) { return x != 0 || y != 0; });
  this->expect(BinaryOp::logical_xor,
               [](TypeParam x, TypeParam y) { return (x != 0) != (y != 0); });
}

/// Bytes of bool from elsewhere may hold anything.
class BooleanKernels : public testing::Test {
 protected:
  template <class F>
  void expect(BinaryOp op, const F& f) {
    test::Random random;
    const std::vector<Byte> x = random.mask_bytes(500, 0.5);
    const std::vector<Byte> y = random.mask_bytes(500, 0.5);
    const auto wanted = mapped<Byte>([&](Byte a, Byte b) { return f(a != 0, b != 0); }, x, y);
    test::for_each_target([&] {
      const ElementwiseKernel* const kernel = find_boolean(op);
      ASSERT_NE(kernel, nullptr);
      EXPECT_EQ(kernel->inputs[0], DType::boolean);
      EXPECT_EQ(kernel->inputs[1], DType::boolean);
      EXPECT_EQ(kernel->output, DType::boolean);
      expect_kernel(kernel, wanted, x, y);
    });
  }
};

TEST_F(BooleanKernels, CombineTruth) {
  for (const BinaryOp op : {BinaryOp::logical_and, BinaryOp::bitwise_and}) {
    expect(op, [](bool x, bool y) { return x && y; });
  }
  for (const BinaryOp op : {BinaryOp::logical_or, BinaryOp::bitwise_or}) {
    expect(op, [](bool x, bool y) { return x || y; });
  }
  for (const BinaryOp op : {BinaryOp::logical_xor, BinaryOp::bitwise_xor, BinaryOp::ne}) {
    expect(op, [](bool x, bool y) { return x != y; });
  }
  expect(BinaryOp::eq, [](bool x, bool y) { return x == y; });
}

TEST_F(BooleanKernels, AreThereForNothingElse) {
  for (const BinaryOp op : {BinaryOp::add, BinaryOp::lt, BinaryOp::maximum, BinaryOp::left_shift}) {
    EXPECT_EQ(find_boolean(op), nullptr);
  }
}

}  // namespace
}  // namespace loup::kernels
