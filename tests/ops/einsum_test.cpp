#include "loup/ops/einsum.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loup/ops/matmul.h"
#include "loup/ops/shape.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/matrices.h"

// Results of many equations are compared with NumPy's from Python.

namespace loup::test {
namespace {

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  return ops::einsum(equation, operands);
}

TEST(Einsum, MultipliesMatricesAsMatmulDoes) {
  Random random;
  const Tensor a = random_tensor(random, {3, 40}, DType::f32);
  const Tensor b = random_tensor(random, {40, 5}, DType::f32);
  EXPECT_EQ(bits_of(einsum("ij,jk->ik", {a, b})), bits_of(ops::matmul(a, b)));
  EXPECT_EQ(bits_of(einsum("ij, jk", {a, b})), bits_of(ops::matmul(a, b)));
}

TEST(Einsum, ContractsFromLeftToRight) {
  Random random;
  const Tensor a = random_tensor(random, {3, 4}, DType::f64);
  const Tensor b = random_tensor(random, {4, 5}, DType::f64);
  const Tensor c = random_tensor(random, {5, 2}, DType::f64);
  EXPECT_EQ(bits_of(einsum("ij,jk,kl->il", {a, b, c})), bits_of(ops::matmul(ops::matmul(a, b), c)));
}

TEST(Einsum, OrdersAnImplicitOutputByTheAlphabet) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(elements<int>(einsum("ba", {x})), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(elements<int>(einsum("aB", {x})), (std::vector<int>{1, 4, 2, 5, 3, 6}));
}

TEST(Einsum, TakesDiagonalsAndTraces) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(elements<int>(einsum("ii->i", {x})), (std::vector<int>{1, 4}));
  EXPECT_EQ(elements<int>(einsum("ii", {x})), std::vector<int>{5});
}

TEST(Einsum, KeepsTheDtypeOfIntegers) {
  const Tensor x = tensor<std::int8_t>({{100, 100}, {1, 2}});
  EXPECT_EQ(einsum("ij->i", {x}).dtype(), DType::i8);
  EXPECT_EQ(elements<int>(einsum("ij->i", {x})), (std::vector<int>{-56, 3}));
}

TEST(Einsum, BroadcastsFurtherDims) {
  Random random;
  const Tensor a = random_tensor(random, {2, 1, 3, 4}, DType::f64);
  const Tensor b = random_tensor(random, {5, 4, 6}, DType::f64);
  EXPECT_EQ(bits_of(einsum("...ij,...jk->...ik", {a, b})), bits_of(ops::matmul(a, b)));
  EXPECT_EQ(bits_of(einsum("...ij,...jk", {a, b})), bits_of(ops::matmul(a, b)));
}

TEST(Einsum, SumsFurtherDimsThatTheOutputLeavesOut) {
  EXPECT_EQ(elements<int>(einsum("...i->i", {tensor({{1, 2}, {3, 4}})})), (std::vector<int>{4, 6}));
}

TEST(Einsum, HasGradients) {
  const Tensor a = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  const Tensor b = leaf(tensor({5.0, 6.0}));
  autograd::backward(einsum("ij,j->", {a, b}));
  EXPECT_EQ(grad_of(a), (std::vector<double>{5, 6, 5, 6}));
  EXPECT_EQ(grad_of(b), (std::vector<double>{4, 6}));
  const Tensor x = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  autograd::backward(einsum("ii", {x}));
  EXPECT_EQ(grad_of(x), (std::vector<double>{1, 0, 0, 1}));
}

// --- errors ---

TEST(Einsum, RefusesOtherCharacters) {
  expect_error<ValueError>([] { einsum("i%", {ones({2, 2})}); },
                           "einsum: expected letters and at most one '...' for a tensor",
                           "got 'i%' in 'i%'");
  expect_error<ValueError>([] { einsum("...i...", {ones({2, 2})}); },
                           "einsum: expected letters and at most one '...' for a tensor",
                           "got '...i...' in '...i...'");
  expect_error<ValueError>([] { einsum("..i", {ones({2, 2})}); },
                           "einsum: expected letters and at most one '...' for a tensor",
                           "got '..i' in '..i'");
  expect_error<ValueError>([] { einsum("ij->i,j", {ones({2, 2})}); },
                           "einsum: expected letters and at most one '...' for a tensor",
                           "got 'i,j' in 'ij->i,j'");
}

TEST(Einsum, RefusesAnotherNumberOfOperands) {
  expect_error<ValueError>([] { einsum("ij,jk->ik", {ones({2, 2})}); },
                           "einsum: expected 2 operands for 'ij,jk->ik'", "got 1");
  expect_error<ValueError>([] { einsum("", {}); }, "einsum: expected 1 operands for ''", "got 0");
}

TEST(Einsum, RefusesAnotherNumberOfDims) {
  expect_error<ShapeError>([] { einsum("ijk->i", {ones({2, 2})}); },
                           "einsum: expected 3 dims for 'ijk'", "got shape [2, 2]");
  expect_error<ShapeError>([] { einsum("i->i", {ones({2, 2})}); },
                           "einsum: expected 1 dims for 'i'", "got shape [2, 2]");
  expect_error<ShapeError>([] { einsum("ij...k->i", {ones({2, 2})}); },
                           "einsum: expected at least 3 dims for 'ij...k'", "got shape [2, 2]");
}

TEST(Einsum, RefusesSizesThatDiffer) {
  expect_error<ShapeError>([] { einsum("ij,jk->ik", {ones({2, 3}), ones({4, 2})}); },
                           "einsum: expected one size for index 'j'", "got 3 and 4");
  expect_error<ShapeError>([] { einsum("ii->i", {ones({2, 3})}); },
                           "einsum: expected one size for index 'i'", "got 2 and 3");
  expect_error<ShapeError>([] { einsum("...i,...i->i", {ones({2, 3}), ones({4, 3})}); },
                           "einsum: expected dims of '...' that broadcast together", "got 2 and 4");
}

TEST(Einsum, RefusesOutputsThatAreUnknownOrRepeated) {
  expect_error<ValueError>([] { einsum("ij->iz", {ones({2, 2})}); },
                           "einsum: expected output indices that an operand has",
                           "got 'z' in 'ij->iz'");
  expect_error<ValueError>([] { einsum("ij->ii", {ones({2, 2})}); },
                           "einsum: expected each output index once", "got 'i' again in 'ij->ii'");
}

TEST(Einsum, RefusesBool) {
  expect_error<DTypeError>([] { einsum("i,i", {tensor({true}), tensor({true})}); },
                           "einsum: expected numbers", "got bool");
}

}  // namespace
}  // namespace loup::test
