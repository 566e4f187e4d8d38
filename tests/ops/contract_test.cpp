#include "loup/ops/contract.h"

#include <limits>

#include <gtest/gtest.h>

#include "loup/ops/gather.h"
#include "loup/ops/matmul.h"
#include "loup/ops/unary.h"
#include "tests/support/gradients.h"
#include "tests/support/matrices.h"
#include "tests/support/numbers.h"
#include "tests/support/settings.h"

// Guarantee 4: what a mask hides never reaches a gradient, and what it hides as a whole does not
// even change the order of additions.

namespace loup::test {
namespace {

Tensor contract(const Tensor& a, const std::optional<Tensor>& a_mask, const Tensor& b,
                const std::optional<Tensor>& b_mask) {
  return ops::contract("contract", a, a_mask, b, b_mask);
}

Tensor rows_of(const Tensor& x, std::initializer_list<std::int64_t> rows) {
  return ops::index_select(x, 0, tensor(rows));
}

Tensor grad(const Tensor& x) { return autograd::grad(x).value(); }

/// A mask of whole rows, seen as a mask of [rows, cols].
Tensor row_mask(std::initializer_list<bool> rows, std::int64_t cols) {
  const auto count = static_cast<std::int64_t>(rows.size());
  return ops::expand(ops::unsqueeze(tensor(rows), 1), {count, cols});
}

// --- the contraction ---

struct Case {
  std::int64_t m, k, n;
  double share;
  bool is_finite;
};

class Contract : public testing::TestWithParam<Case> {};

TEST_P(Contract, AddsOnlyProductsOfElementsThatCount) {
  Random random;
  const auto& [m, k, n, share, is_finite] = GetParam();
  const Tensor a = random_tensor(random, {m, k}, DType::f64);
  const Tensor b = random_tensor(random, {k, n}, DType::f64);
  const Tensor a_mask = random_mask(random, {m, k}, share);
  const Tensor b_mask = random_mask(random, {k, n}, share);
  std::vector<double> wanted;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t q = 0; q < k; ++q) {
        if (!a_mask.at<bool>({i, q}) || !b_mask.at<bool>({q, j})) continue;
        sum += a.at<double>({i, q}) * b.at<double>({q, j});
      }
      wanted.push_back(sum);
    }
  }
  poison(a, a_mask, random);
  poison(b, b_mask, random);
  if (!is_finite) {
    // A value that counts, in a row of a and a column of b that are then not finite.
    for_each_index(a.shape(), [&](const Dims& at) {
      if (at[0] == 0 && a_mask.at<bool>(at)) a.set(at, std::numeric_limits<double>::infinity());
    });
  }
  const Tensor c = contract(a, a_mask, b, b_mask);
  for (std::int64_t i = is_finite ? 0 : 1; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_NEAR(c.at<double>({i, j}), wanted[static_cast<std::size_t>(i * n + j)], 1e-9)
          << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Matrices, Contract,
                         testing::Values(Case{1, 1, 1, 0.5, true}, Case{5, 6, 7, 0.5, true},
                                         Case{5, 6, 7, 0.5, false}, Case{20, 30, 40, 0.1, true},
                                         Case{20, 30, 40, 0.1, false}, Case{20, 30, 40, 0, true},
                                         Case{20, 30, 40, 1, true}, Case{40, 300, 1, 0.8, true},
                                         Case{1, 300, 40, 0.8, false}, Case{9, 2, 70, 0.3, true}));

TEST(Contract, LeavesOutWholeIndicesBitForBit) {
  Random random;
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{20, 30}, {1, 30}, {20, 1}}) {
    for (const char* const how : {"contiguous", "turned"}) {
      const Tensor a = random_tensor(random, {m, 5}, DType::f32);
      const Tensor b = random_tensor(random, {5, n}, DType::f32);
      const Tensor a_mask = ops::expand(tensor({{true, true, false, true, true}}), {m, 5});
      const Tensor b_mask = row_mask({false, true, true, true, true}, n);
      const Tensor kept_a = ops::transpose(rows_of(ops::transpose(a, 0, 1), {1, 3, 4}), 0, 1);
      const Tensor wanted = ops::product(laid_out(kept_a, how), rows_of(b, {1, 3, 4}));
      a.set({0, 2}, nan);
      b.set({0, 0}, nan);
      EXPECT_EQ(bits_of(contract(laid_out(a, how), a_mask, b, b_mask)), bits_of(wanted))
          << m << ", " << n << ", " << how;
    }
  }
}

TEST(Contract, GivesExactZerosWhereNothingCounts) {
  Tensor a = full({3, 4}, nan);
  const Tensor c = contract(a, full({3, 4}, false), ones({4, 2}), {});
  EXPECT_EQ(elements<double>(c), std::vector<double>(6, 0));
}

TEST(Contract, OfABatchLooksAtEachEntryAlone) {
  Random random;
  const Tensor a = random_tensor(random, {3, 4, 5}, DType::f64);
  const Tensor b = random_tensor(random, {3, 5, 6}, DType::f64);
  const Tensor a_mask = random_mask(random, {3, 4, 5});
  const Tensor b_mask = random_mask(random, {3, 5, 6});
  const Tensor c = contract(a, a_mask, b, b_mask);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto entry = [i](const Tensor& x) { return ops::select(x, 0, i); };
    EXPECT_EQ(bits_of(entry(c)),
              bits_of(contract(entry(a), entry(a_mask), entry(b), entry(b_mask))));
  }
}

TEST(Contract, HasTheSameBitsForEveryNumberOfThreads) {
  Random random;
  const Tensor a = random_tensor(random, {6, 90, 80}, DType::f32);
  const Tensor b = random_tensor(random, {6, 80, 70}, DType::f32);
  const Tensor mask = random_mask(random, {6, 90, 80});
  std::vector<std::byte> bits;
  with_threads({1, 2, 7}, [&] {
    const std::vector<std::byte> found = bits_of(contract(a, mask, b, {}));
    if (bits.empty()) bits = found;
    EXPECT_TRUE(found == bits);
  });
}

// --- gradients under masks ---

TEST(MatmulGradient, OfTheWeightIsThatWithoutTheMaskedRowsBitForBit) {
  Random random;
  for (const auto& [in, out] :
       {std::pair<std::int64_t, std::int64_t>{30, 20}, {30, 1}, {1, 20}, {1, 1}, {200, 300}}) {
    const Tensor x = random_tensor(random, {5, in}, DType::f32);
    const Tensor weight = random_tensor(random, {in, out}, DType::f32);
    const Tensor mask = row_mask({true, false, true, true, false}, out);

    const Tensor without = leaf(ops::clone(weight));
    autograd::backward(sum(ops::matmul(rows_of(x, {0, 2, 3}), without)));
    for (std::int64_t j = 0; j < in; ++j) x.set({1, j}, nan);
    x.set({4, 0}, std::numeric_limits<double>::infinity());
    const Tensor w = leaf(weight);
    autograd::backward(sum(ops::matmul(x, w), {}, &mask));
    EXPECT_EQ(bits_of(grad(w)), bits_of(grad(without))) << in << " to " << out;
  }
}

TEST(MatmulGradient, OfTheWeightIsThatWithoutTheMaskedRowsOfABatch) {
  Random random;
  const Tensor x = random_tensor(random, {2, 3, 30}, DType::f32);
  const Tensor weight = random_tensor(random, {30, 20}, DType::f32);
  const Tensor flat_mask = row_mask({true, true, false, true, false, false}, 20);
  const Tensor mask = ops::reshape(flat_mask, {2, 3, 20});

  const Tensor without = leaf(ops::clone(weight));
  autograd::backward(sum(ops::matmul(rows_of(ops::reshape(x, {6, 30}), {0, 1, 3}), without)));
  for (std::int64_t j = 0; j < 30; ++j) x.set({1, 2, j}, nan);
  const Tensor w = leaf(weight);
  autograd::backward(sum(ops::matmul(x, w), {}, &mask));
  EXPECT_EQ(bits_of(grad(w)), bits_of(grad(without)));
}

TEST(LinearGradient, OfWeightAndBiasIsThatWithoutTheMaskedRows) {
  Random random;
  const Tensor x = random_tensor(random, {2, 3, 30}, DType::f32);
  const Tensor weight = random_tensor(random, {20, 30}, DType::f32);
  const Tensor bias = random_tensor(random, {20}, DType::f32);
  const Tensor mask =
      ops::reshape(row_mask({true, true, false, true, false, false}, 20), {2, 3, 20});

  const Tensor w0 = leaf(ops::clone(weight));
  const Tensor b0 = leaf(ops::clone(bias));
  autograd::backward(sum(ops::linear(rows_of(ops::reshape(x, {6, 30}), {0, 1, 3}), w0, b0)));
  for (std::int64_t j = 0; j < 30; ++j) x.set({1, 2, j}, nan);
  const Tensor w = leaf(weight);
  const Tensor b = leaf(bias);
  autograd::backward(sum(ops::linear(x, w, b), {}, &mask));
  EXPECT_EQ(bits_of(grad(w)), bits_of(grad(w0)));
  EXPECT_EQ(grad_of(b), grad_of(b0));
}

TEST(MatmulGradient, OfMaskedRowsIsAStructuralZero) {
  // d log(x) / dx is inf at 0: an ordinary zero would become NaN there.
  const Tensor x = leaf(tensor({{1.0, 2.0}, {0.0, 4.0}}));
  const Tensor y = ops::matmul(ops::log(x), tensor({{1.0}, {1.0}}));
  const Tensor mask = row_mask({true, false}, 1);
  autograd::backward(sum(y, {}, &mask));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 0.5, 0, 0}));
}

TEST(MatmulGradient, OfMaskedColumnsIsAStructuralZero) {
  const Tensor x = leaf(tensor({{1.0, 0.0}, {2.0, 4.0}}));
  const Tensor y = ops::matmul(tensor({{1.0, 1.0}}), ops::log(x));
  const Tensor mask = tensor({{true, false}});
  autograd::backward(sum(y, {}, &mask));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 0, 0.5, 0}));
}

TEST(MatmulGradient, IgnoresAMaskedElementBesideAnInfiniteWeight) {
  // Element (0, 1) of y is inf and masked; 0 · inf must not reach x.
  const Tensor x = leaf(tensor({{1.0, 1.0}}));
  const Tensor w = tensor({{1.0, std::numeric_limits<double>::infinity()}, {2.0, 3.0}});
  const Tensor mask = tensor({{true, false}});
  autograd::backward(sum(ops::matmul(x, w), {}, &mask));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 2}));
}

TEST(MatmulGradient, IgnoresScatteredMaskedGarbage) {
  Random random;
  const Tensor a = random_tensor(random, {2, 6, 5}, DType::f64);
  const Tensor b = random_tensor(random, {5, 7}, DType::f64);
  const Tensor mask = random_mask(random, {2, 6, 7});
  const Tensor g = random_tensor(random, {2, 6, 7}, DType::f64);
  const auto gradients = [&](const Tensor& gradient, const std::optional<Tensor>& live) {
    const Tensor x = leaf(ops::clone(a));
    const Tensor y = leaf(ops::clone(b));
    autograd::backward(ops::matmul(x, y), {.gradient = gradient, .mask = live});
    return std::pair(grad_of(x), grad_of(y));
  };
  const auto wanted = gradients(ops::filled(g, mask, 0), {});
  poison(g, mask, random);
  const auto found = gradients(g, mask);
  for (std::size_t i = 0; i < wanted.first.size(); ++i) {
    EXPECT_NEAR(found.first[i], wanted.first[i], 1e-12);
  }
  for (std::size_t i = 0; i < wanted.second.size(); ++i) {
    EXPECT_NEAR(found.second[i], wanted.second[i], 1e-12);
  }
}

TEST(ContractGradient, OfWhatDoesNotCountIsZero) {
  const Tensor a = leaf(tensor({{1.0, nan}, {2.0, 3.0}}));
  const Tensor b = leaf(tensor({{5.0, 6.0}, {7.0, nan}}));
  const Tensor a_mask = tensor({{true, false}, {true, true}});
  const Tensor b_mask = tensor({{true, true}, {true, false}});
  const Tensor c = contract(a, a_mask, b, b_mask);
  EXPECT_EQ(elements<double>(c), (std::vector<double>{5, 6, 31, 12}));
  autograd::backward(sum(c));
  EXPECT_EQ(grad_of(a), (std::vector<double>{11, 0, 11, 7}));
  EXPECT_EQ(grad_of(b), (std::vector<double>{3, 3, 3, 0}));
}

}  // namespace
}  // namespace loup::test
