#include "loup/ops/product.h"

#include <gtest/gtest.h>

#include "tests/support/matrices.h"
#include "tests/support/settings.h"

namespace loup::test {
namespace {

using ops::product;

Tensor small_integers(Random& random, const Shape& shape, DType dtype) {
  const Tensor result = empty(shape, DType::i64);
  for (std::int64_t& x : result.data<std::int64_t>()) x = random.integer(-8, 8);
  return ops::to(result, dtype);
}

struct Sizes {
  std::int64_t m, k, n;
};
/// Vectors, thin and wide ones, every kind of rest, deep ones, and ones that threads share.
const std::vector<Sizes> sizes = {{1, 1, 1},      {1, 70, 1},      {1, 9000, 1},  {5, 300, 1},
                                  {1, 300, 5},    {1, 5000, 40},   {70, 5000, 1}, {2, 3, 4},
                                  {13, 257, 33},  {40, 600, 7},    {7, 600, 40},  {100, 20, 300},
                                  {300, 20, 100}, {130, 260, 129}, {30, 3000, 20}};

class ProductOf : public testing::TestWithParam<DType> {};

TEST_P(ProductOf, IntegersIsExactForEverySizeAndLayout) {
  Random random;
  for (const auto& [m, k, n] : sizes) {
    // The sums of halves are exact in float32, but not always as halves.
    const Tensor a = small_integers(random, {m, k}, GetParam());
    const Tensor b = small_integers(random, {k, n}, GetParam());
    const Tensor wide =
        ops::to(product(ops::to(a, DType::i64), ops::to(b, DType::i64)), GetParam());
    for (const char* const left : {"contiguous", "turned", "stepped"}) {
      for (const char* const right : {"contiguous", "turned", "stepped"}) {
        const Tensor c = product(laid_out(a, left), laid_out(b, right));
        EXPECT_EQ(c.dtype(), GetParam());
        EXPECT_EQ(elements<double>(c), elements<double>(wide))
            << m << " x " << k << " x " << n << ", " << left << " and " << right;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDType, ProductOf,
                         testing::Values(DType::u8, DType::i8, DType::i16, DType::i32, DType::i64,
                                         DType::f16, DType::bf16, DType::f32, DType::f64));

TEST(Product, OfInt64IsRight) {
  Random random;
  for (const auto& [m, k, n] : sizes) {
    const Tensor a = small_integers(random, {m, k}, DType::i64);
    const Tensor b = small_integers(random, {k, n}, DType::i64);
    expect_product(product(a, b), a, b);
  }
}

TEST(Product, OfIntegersWraps) {
  const Tensor a = tensor<std::int8_t>({{100, 100}, {1, 2}});
  EXPECT_EQ(elements<int>(product(a, a)),
            (std::vector<int>{static_cast<std::int8_t>(10100), static_cast<std::int8_t>(10200), 102,
                              104}));
}

TEST(Product, OfFloatsIsWithinItsRounding) {
  Random random;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const auto& [m, k, n] : sizes) {
      const Tensor a = random_tensor(random, {m, k}, dtype);
      const Tensor b = random_tensor(random, {k, n}, dtype);
      SCOPED_TRACE(fmt::format("{} {} x {} x {}", dtype, m, k, n));
      // Products of halves may be larger than any half.
      if (dtype != DType::f16 || k < 100) expect_product(product(a, b), a, b);
    }
  }
}

TEST(Product, OfHalvesIsAddedInFloat32AndRoundedOnce) {
  Random random;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor a = random_tensor(random, {20, 50}, dtype);
    const Tensor b = random_tensor(random, {50, 40}, dtype);
    const Tensor wide = product(ops::to(a, DType::f32), ops::to(b, DType::f32));
    EXPECT_EQ(bits_of(product(a, b)), bits_of(ops::to(wide, dtype)));
  }
}

TEST(Product, HasTheSameBitsForEveryNumberOfThreads) {
  Random random;
  for (const auto& [m, k, n] : {Sizes{200, 700, 150}, Sizes{150, 300, 260}, Sizes{1, 70000, 40},
                                Sizes{40, 70000, 1}, Sizes{1, 3000000, 1}, Sizes{3000, 500, 1}}) {
    const Tensor a = random_tensor(random, {m, k}, DType::f32);
    const Tensor b = random_tensor(random, {k, n}, DType::f32);
    std::vector<std::byte> bits;
    with_threads({1, 2, 7}, [&, rows = m, depth = k, cols = n] {
      const std::vector<std::byte> found = bits_of(product(a, b));
      if (bits.empty()) bits = found;
      EXPECT_TRUE(found == bits) << rows << " x " << depth << " x " << cols;
    });
  }
}

TEST(Product, DependsOnNothingButItsRowAndItsColumn) {
  Random random;
  const Tensor a = random_tensor(random, {150, 600}, DType::f32);
  const Tensor b = random_tensor(random, {600, 170}, DType::f32);
  const Tensor whole = product(a, b);
  for (const auto& [row, rows, col, cols] :
       {std::array<std::int64_t, 4>{0, 2, 0, 2}, {17, 3, 100, 70}, {30, 120, 5, 2}}) {
    const Tensor part = product(laid_out(ops::narrow(a, 0, row, rows), "turned"),
                                laid_out(ops::narrow(b, 1, col, cols), "stepped"));
    const Tensor seen = ops::narrow(ops::narrow(whole, 0, row, rows), 1, col, cols);
    EXPECT_TRUE(bits_of(part) == bits_of(seen));
  }
}

TEST(Product, OfABatchIsThatOfItsEntries) {
  Random random;
  for (const auto& [count, m, k, n] : {std::array<std::int64_t, 4>{3, 5, 6, 7},
                                       {20, 8, 8, 8},
                                       {3, 200, 90, 80},
                                       {40, 1, 30, 9},
                                       {9, 60, 70, 80}}) {
    const Tensor a = random_tensor(random, {count, 2, m, k}, DType::f32);
    const Tensor b = ops::transpose(random_tensor(random, {count, 2, n, k}, DType::f32), -2, -1);
    const Tensor c = product(a, b);
    ASSERT_EQ(c.shape(), (Shape{count, 2, m, n}));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto entry = [i](const Tensor& x) { return ops::select(ops::select(x, 0, i), 0, 1); };
      EXPECT_TRUE(bits_of(entry(c)) == bits_of(product(entry(a), entry(b)))) << "entry " << i;
    }
  }
}

TEST(Product, ReadsRepeatedElements) {
  const Tensor a = ops::expand(tensor({{2.0F}, {3.0F}}), {2, 500});
  const Tensor b = ops::expand(full({1, 1}, 0.5F), {500, 3});
  EXPECT_EQ(elements<double>(product(a, b)), (std::vector<double>{500, 500, 500, 750, 750, 750}));
}

TEST(Product, OfEmptyMatricesIsZeroOrEmpty) {
  EXPECT_EQ(elements<double>(product(empty({2, 0}), empty({0, 2}))), std::vector<double>(4, 0));
  EXPECT_EQ(product(empty({0, 3}), empty({3, 2})).shape(), (Shape{0, 2}));
  EXPECT_EQ(product(empty({4, 2, 3}), empty({4, 3, 0})).shape(), (Shape{4, 2, 0}));
  EXPECT_EQ(product(empty({0, 2, 3}), empty({0, 3, 5})).shape(), (Shape{0, 2, 5}));
}

TEST(Product, PassesOnNanAndInfinity) {
  Tensor a = ones({20, 300});
  a.set({7, 100}, std::nan(""));
  a.set({9, 200}, std::numeric_limits<double>::infinity());
  const std::vector<double> c = elements<double>(product(a, ones({300, 30})));
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (i / 30 == 7) {
      EXPECT_TRUE(std::isnan(c[i]));
    } else {
      EXPECT_EQ(c[i], i / 30 == 9 ? std::numeric_limits<double>::infinity() : 300);
    }
  }
}

TEST(ProductCounted, NeverLooksAtWhatDoesNotCount) {
  Random random;
  for (const auto& [m, k, n] : {Sizes{1, 1, 1}, Sizes{30, 300, 40}, Sizes{200, 20, 7}}) {
    const Tensor a = random_tensor(random, {m, k}, DType::f64);
    const Tensor b = random_tensor(random, {k, n}, DType::f64);
    const Tensor a_mask = random_mask(random, {m, k});
    const Tensor b_mask = random_mask(random, {k, n});
    const Tensor zeroed = product(ops::filled(a, a_mask, 0), ops::filled(b, b_mask, 0));
    poison(a, a_mask, random);
    poison(b, b_mask, random);
    const Tensor c = ops::product_counted(a, a_mask, b, b_mask);
    for_each_index(c.shape(), [&](const Dims& at) {
      EXPECT_NEAR(c.at<double>(at), zeroed.at<double>(at), 1e-9);
    });
  }
}

TEST(ProductCounted, TakesAnAbsentMaskForAllTrue) {
  Random random;
  const Tensor a = random_tensor(random, {13, 20}, DType::f32);
  const Tensor b = random_tensor(random, {20, 35}, DType::f32);
  EXPECT_EQ(bits_of(ops::product_counted(a, {}, b, {})), bits_of(product(a, b)));
}

}  // namespace
}  // namespace loup::test
