#include <cmath>

#include <gtest/gtest.h>

#include "loup/kernels/elementwise.h"
#include "tests/kernels/maps.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

using test::Byte;
using test::expect_kernel;
using test::is_nan;
using test::mapped;

template <class T>
class Where : public testing::Test {};
/// One type of each size; elements are only moved.
using Sizes = testing::Types<std::uint8_t, std::int16_t, std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Where, Sizes);

TYPED_TEST(Where, ChoosesByAnyByteButZero) {
  test::Random random;
  const std::vector<Byte> chooses = random.mask_bytes(600, 0.5);
  const auto yes = random.values<TypeParam>(600);
  const auto no = random.values<TypeParam>(600);
  const auto wanted = mapped<TypeParam>(
      [](Byte c, TypeParam x, TypeParam y) { return c != 0 ? x : y; }, chooses, yes, no);
  test::for_each_target(
      [&] { expect_kernel(&where_kernel(dtype_of<TypeParam>()), wanted, chooses, yes, no); });
}

TEST(WhereKernels, AreThereForEveryDType) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const ElementwiseKernel& kernel = where_kernel(dtype);
    EXPECT_EQ(kernel.inputs[0], DType::boolean);
    EXPECT_EQ(kernel.inputs[1], dtype);
    EXPECT_EQ(kernel.inputs[2], dtype);
    EXPECT_EQ(kernel.output, dtype);
  }
}

template <class T>
class Ternary : public testing::Test {
 protected:
  static constexpr ComputeType type = compute_type(dtype_of<T>());

  template <class F>
  void expect(TernaryOp op, const F& f) {
    test::Random random;
    auto [x, y, z] = test::operands<T, 3>(random);
    for (auto* const list : {&x, &y, &z}) list->resize(3000);
    const auto wanted = mapped<T>(f, x, y, z);
    test::for_each_target(
        [&, &a = x, &b = y, &c = z] { expect_kernel(find_ternary(op, type), wanted, a, b, c); });
  }
};

using Every = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Ternary, Every);

TYPED_TEST(Ternary, ClampsAndLetsTheUpperBoundWin) {
  this->expect(TernaryOp::clamp, [](TypeParam x, TypeParam low, TypeParam high) {
    if (is_nan(high)) return high;
    if (is_nan(low)) return low;
    if (is_nan(x)) return x;
    const TypeParam above = x < low ? low : x;
    return above > high ? high : above;
  });
}

TYPED_TEST(Ternary, InterpolatesFloats) {
  if constexpr (std::is_floating_point_v<TypeParam>) {
    this->expect(TernaryOp::lerp, [](TypeParam a, TypeParam b, TypeParam weight) {
      const TypeParam difference = b - a;
      return std::abs(weight) < TypeParam(0.5) ? a + weight * difference
                                               : b - difference * (1 - weight);
    });
  } else {
    EXPECT_EQ(find_ternary(TernaryOp::lerp, this->type), nullptr);
  }
}

TEST(Lerp, IsExactAtItsEnds) {
  test::for_each_target([] {
    const std::vector<float> a = {0.1F, 1e10F, 3};
    const std::vector<float> b = {0.7F, -1, 3};
    for (const float weight : {0.0F, 1.0F}) {
      const std::vector<float> weights(3, weight);
      const void* const inputs[] = {a.data(), b.data(), weights.data()};
      std::vector<float> out(3);
      find_ternary(TernaryOp::lerp, ComputeType::f32)->run(inputs, out.data(), 3, nullptr);
      EXPECT_EQ(out, weight == 0 ? a : b);
    }
  });
}

}  // namespace
}  // namespace loup::kernels
