#include "loup/ops/matmul.h"

#include <gtest/gtest.h>

#include "loup/ops/binary.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/matrices.h"

namespace loup::test {
namespace {

using ops::matmul;

// --- shapes ---

struct Shapes {
  Shape a, b, c;
};

class MatmulOf : public testing::TestWithParam<Shapes> {};

TEST_P(MatmulOf, IsTheProductOfEachPairOfMatrices) {
  Random random;
  const auto& [a_shape, b_shape, c_shape] = GetParam();
  const Tensor a = random_tensor(random, a_shape, DType::f64);
  const Tensor b = random_tensor(random, b_shape, DType::f64);
  const Tensor c = matmul(a, b);
  ASSERT_EQ(c.shape(), c_shape);
  // All as batches of matrices, element by element.
  const Tensor left = a.ndim() == 1 ? ops::unsqueeze(a, 0) : a;
  const Tensor right = b.ndim() == 1 ? ops::unsqueeze(b, 1) : b;
  Tensor result = b.ndim() == 1 ? ops::unsqueeze(c, -1) : c;
  if (a.ndim() == 1) result = ops::unsqueeze(result, -2);
  const auto at = [](const Tensor& x, const Dims& index, std::int64_t row, std::int64_t col) {
    Dims own;
    const int missing = index.size() - x.ndim();
    for (int i = missing; i < index.size() - 2; ++i) {
      own.push_back(x.shape()[i - missing] == 1 ? 0 : index[i]);
    }
    own.push_back(row);
    own.push_back(col);
    return x.at<double>(own);
  };
  for_each_index(result.shape(), [&](const Dims& index) {
    const std::int64_t row = index[index.size() - 2];
    const std::int64_t col = index.back();
    double sum = 0;
    for (std::int64_t q = 0; q < left.size(-1); ++q) {
      sum += at(left, index, row, q) * at(right, index, q, col);
    }
    EXPECT_NEAR(result.at<double>(index), sum, 1e-9) << fmt::format("{}", index);
  });
}

INSTANTIATE_TEST_SUITE_P(
    EveryKindOfOperands, MatmulOf,
    testing::Values(
        Shapes{{3}, {3}, {}}, Shapes{{0}, {0}, {}}, Shapes{{2, 3}, {3}, {2}},
        Shapes{{3}, {3, 2}, {2}}, Shapes{{2, 3}, {3, 4}, {2, 4}}, Shapes{{5, 2, 3}, {3}, {5, 2}},
        Shapes{{3}, {5, 3, 2}, {5, 2}}, Shapes{{5, 2, 3}, {3, 4}, {5, 2, 4}},
        Shapes{{2, 3}, {5, 3, 4}, {5, 2, 4}}, Shapes{{5, 2, 3}, {5, 3, 4}, {5, 2, 4}},
        Shapes{{2, 1, 2, 3}, {5, 3, 4}, {2, 5, 2, 4}}, Shapes{{1, 2, 3}, {5, 3, 4}, {5, 2, 4}},
        Shapes{{5, 2, 3}, {1, 3, 4}, {5, 2, 4}}, Shapes{{1, 1, 2, 3}, {3, 4}, {1, 1, 2, 4}},
        Shapes{{0, 3}, {3, 4}, {0, 4}}, Shapes{{2, 0}, {0, 4}, {2, 4}},
        Shapes{{0, 2, 3}, {3, 4}, {0, 2, 4}}, Shapes{{5, 2, 0}, {0, 4}, {5, 2, 4}}));

TEST(Matmul, PromotesDtypes) {
  const Tensor whole = tensor<std::int32_t>({{1, 2}, {3, 4}});
  const Tensor real = tensor<float>({{0.5F, 1}, {2, 4}});
  EXPECT_EQ(matmul(whole, real).dtype(), DType::f32);
  EXPECT_EQ(elements<double>(matmul(whole, real)), (std::vector<double>{4.5, 9, 9.5, 19}));
  EXPECT_EQ(matmul(tensor({{true}}), tensor<std::int8_t>({{3}})).dtype(), DType::i8);
  EXPECT_EQ(matmul(ops::to(real, DType::f16), ops::to(real, DType::bf16)).dtype(), DType::f32);
}

TEST(Relatives, AgreeWithMatmul) {
  Random random;
  const Tensor a = random_tensor(random, {3, 4}, DType::f32);
  const Tensor b = random_tensor(random, {4, 5}, DType::f32);
  const Tensor x = random_tensor(random, {4}, DType::f32);
  EXPECT_EQ(bits_of(ops::mm(a, b)), bits_of(matmul(a, b)));
  EXPECT_EQ(bits_of(ops::mv(a, x)), bits_of(matmul(a, x)));
  EXPECT_EQ(bits_of(ops::dot(x, x)), bits_of(matmul(x, x)));
  const Tensor batch = ops::unsqueeze(a, 0);
  EXPECT_EQ(bits_of(ops::bmm(batch, ops::unsqueeze(b, 0))), bits_of(matmul(a, b)));
}

TEST(Outer, MultipliesAllPairs) {
  EXPECT_EQ(elements<double>(ops::outer(tensor({1.0, 2.0}), tensor({3.0, 4.0, 5.0}))),
            (std::vector<double>{3, 4, 5, 6, 8, 10}));
}

TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  const Tensor x = tensor({{1.0, 2.0}});
  const Tensor weight = tensor({{3.0, 4.0}, {5.0, 6.0}, {7.0, 8.0}});
  EXPECT_EQ(elements<double>(ops::linear(x, weight)), (std::vector<double>{11, 17, 23}));
  EXPECT_EQ(elements<double>(ops::linear(x, weight, tensor({1.0, 2.0, 3.0}))),
            (std::vector<double>{12, 19, 26}));
  EXPECT_EQ(elements<double>(ops::linear(x, tensor({3.0, 4.0}), full({}, 0.5))),
            (std::vector<double>{11.5}));
}

// --- gradients; those of higher order are tested from Python ---

TEST_P(MatmulOf, HasTheGradientsOfABilinearFunction) {
  Random random;
  const auto& [a_shape, b_shape, c_shape] = GetParam();
  const Tensor a = leaf(random_tensor(random, a_shape, DType::f64));
  const Tensor b = leaf(random_tensor(random, b_shape, DType::f64));
  const Tensor g = random_tensor(random, c_shape, DType::f64);
  const Tensor c = matmul(a, b);
  autograd::backward(c, {.gradient = g});
  // <g, da · b> = <grad a, da> for every da, and likewise for b.
  const auto inner = [](const Tensor& x, const Tensor& y) {
    return sum(ops::mul(x, y)).item<double>();
  };
  const Tensor da = random_tensor(random, a_shape, DType::f64);
  const Tensor db = random_tensor(random, b_shape, DType::f64);
  const Tensor a_values = a.detach();
  const Tensor b_values = b.detach();
  EXPECT_NEAR(inner(autograd::grad(a).value(), da), inner(g, matmul(da, b_values)), 1e-6);
  EXPECT_NEAR(inner(autograd::grad(b).value(), db), inner(g, matmul(a_values, db)), 1e-6);
}

TEST(MatmulGradient, LiesInMemoryAsItsOperandDoes) {
  Random random;
  const Tensor weight = leaf(random_tensor(random, {30, 20}, DType::f32));
  const Tensor x = random_tensor(random, {5, 20}, DType::f32);
  const Tensor y = matmul(x, ops::transpose(weight, 0, 1));
  const auto found = autograd::grad({y}, {weight}, {.gradients = {ones_like(y)}});
  EXPECT_TRUE(found[0]->is_contiguous());
  EXPECT_EQ(found[0]->shape(), weight.shape());
}

TEST(MatmulGradient, IsNotComputedWhereNobodyAsks) {
  const Tensor a = leaf(ones({2, 3}));
  const Tensor b = ones({3, 4});
  autograd::backward(sum(matmul(a, b)));
  EXPECT_EQ(grad_of(a), std::vector<double>(6, 4));
  EXPECT_FALSE(autograd::grad(b).has_value());
}

// --- errors ---

TEST(Matmul, RefusesShapesThatDoNotFit) {
  expect_error<ShapeError>([] { matmul(ones({2, 3}), ones({4, 5})); },
                           "matmul: expected as many columns of the first as rows of the second",
                           "got shapes [2, 3] and [4, 5]");
  expect_error<ShapeError>([] { matmul(ones({3}), ones({4, 5})); },
                           "matmul: expected as many columns of the first as rows of the second",
                           "got shapes [3] and [4, 5]");
  expect_error<ShapeError>([] { matmul(ones({2, 4, 3}), ones({3, 3, 5})); },
                           "matmul: expected shapes that broadcast together", "got [2] and [3]");
}

TEST(Matmul, RefusesTensorsWithoutDims) {
  expect_error<ShapeError>([] { matmul(ones({}), ones({3})); },
                           "matmul: expected tensors of 1 dim or more", "got shapes [] and [3]");
  expect_error<ShapeError>([] { matmul(ones({3}), ones({})); },
                           "matmul: expected tensors of 1 dim or more", "got shapes [3] and []");
}

TEST(Matmul, RefusesBool) {
  expect_error<DTypeError>([] { matmul(tensor({{true}}), tensor({{true}})); },
                           "matmul: expected numbers", "got bool");
  expect_error<DTypeError>([] { ops::outer(tensor({true}), tensor({true})); },
                           "outer: expected numbers", "got bool");
}

TEST(Relatives, RefuseOtherNumbersOfDims) {
  const Tensor vector = ones({3});
  const Tensor matrix = ones({3, 3});
  expect_error<ShapeError>([&] { ops::mm(matrix, vector); }, "mm: expected tensors of 2 and 2 dims",
                           "got shapes [3, 3] and [3]");
  expect_error<ShapeError>([&] { ops::bmm(matrix, matrix); },
                           "bmm: expected tensors of 3 and 3 dims", "got shapes [3, 3] and [3, 3]");
  expect_error<ShapeError>([&] { ops::mv(vector, vector); }, "mv: expected tensors of 2 and 1 dims",
                           "got shapes [3] and [3]");
  expect_error<ShapeError>([&] { ops::dot(matrix, vector); },
                           "dot: expected tensors of 1 and 1 dims", "got shapes [3, 3] and [3]");
  expect_error<ShapeError>([&] { ops::outer(matrix, vector); },
                           "outer: expected tensors of 1 and 1 dims", "got shapes [3, 3] and [3]");
}

TEST(Relatives, NameThemselvesInErrors) {
  expect_error<ShapeError>([] { ops::mm(ones({2, 3}), ones({2, 3})); },
                           "mm: expected as many columns of the first as rows of the second",
                           "got shapes [2, 3] and [2, 3]");
  expect_error<ShapeError>([] { ops::mv(ones({2, 3}), ones({2})); },
                           "mv: expected as many columns of the first as rows of the second",
                           "got shapes [2, 3] and [2]");
  expect_error<ShapeError>([] { ops::dot(ones({3}), ones({2})); },
                           "dot: expected vectors of one length", "got 3 and 2");
  expect_error<ShapeError>([] { ops::bmm(ones({2, 2, 3}), ones({1, 3, 2})); },
                           "bmm: expected batches of one size",
                           "got shapes [2, 2, 3] and [1, 3, 2]");
}

TEST(Linear, RefusesShapesThatDoNotFit) {
  expect_error<ShapeError>([] { ops::linear(ones({2, 3}), ones({2, 3, 4})); },
                           "linear: expected a weight of 1 or 2 dims", "got shape [2, 3, 4]");
  expect_error<ShapeError>([] { ops::linear(ones({2, 3}), ones({3, 4})); },
                           "linear: expected an input whose last dim is that of the weight, 4",
                           "got shapes [2, 3] and [3, 4]");
  expect_error<ShapeError>([] { ops::linear(ones({}), ones({3, 4})); },
                           "linear: expected an input whose last dim is that of the weight, 4",
                           "got shapes [] and [3, 4]");
  expect_error<ShapeError>([] { ops::linear(ones({2, 3}), ones({4, 3}), ones({3})); },
                           "linear: expected a bias for 4 outputs", "got shape [3]");
}

}  // namespace
}  // namespace loup::test
