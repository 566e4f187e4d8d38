#include "loup/kernels/elementwise.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "loup/tensor/create.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::kernels {
namespace {

using test::Random;

/// Any layout: contiguous, turned, stepped, standing still; `may_repeat`: also expanded dims.
Tensor operand(Random& random, const Shape& shape, DType dtype, bool may_repeat) {
  Strides strides = Dims::filled(shape.size(), 0);
  std::int64_t step = random.pick<std::int64_t>({1, 1, 2});
  const bool is_turned = random.chance(0.4);
  const bool stands_still = may_repeat && random.chance(0.4);
  for (int i = 0; i < shape.size(); ++i) {
    const int dim = is_turned ? i : shape.size() - 1 - i;
    if (stands_still && random.chance(0.6)) continue;
    strides[dim] = step;
    step *= shape[dim] + random.pick<std::int64_t>({0, 0, 1});
  }
  const Tensor base = test::random_tensor(random, {step + 1}, dtype);
  return {base.storage(), {shape, strides, 0}, dtype};
}

/// The element at `index`, as a kernel that computes with T sees it.
template <class T>
T seen(const Tensor& x, const Dims& index) {
  return visit_dtype(x.dtype(), [&]<class From>(std::type_identity<From>) {
    return convert<T>(x.at<From>(index));
  });
}

Shape random_shape(Random& random) {
  const std::vector<Shape> shapes = {{},
                                     {1},
                                     {random.integer(1, 2000)},
                                     {random.integer(1, 70), random.integer(1, 70)},
                                     {random.integer(1, 9), random.integer(1, 9), 33},
                                     {2, 3, 1, random.integer(1, 40), 2},
                                     {random.integer(1, 3), 1100},
                                     {1100, random.integer(1, 3)},
                                     {2, 2, 1, 2, 3, 1, 2, 2}};
  return random.pick(shapes);
}

/// out = x + y of any three dtypes, computed with T, against a loop over all elements.
template <class T>
void expect_sums(Random& random) {
  const Shape shape = random_shape(random);
  const auto dtype = [&] { return random.pick(test::all_dtypes()); };
  const Tensor x = operand(random, shape, dtype(), true);
  const Tensor y = operand(random, shape, dtype(), true);
  const Tensor out = operand(random, shape, dtype(), false);
  const std::vector<Array> inputs = {x.array(), y.array()};
  const ElementwiseKernel& kernel = *find_binary(BinaryOp::add, compute_type(dtype_of<T>()));
  elementwise(kernel, shape, out.array(), inputs);
  test::for_each_index(shape, [&](const Dims& index) {
    const T a = seen<T>(x, index);
    const T b = seen<T>(y, index);
    T sum;
    if constexpr (std::is_integral_v<T>) {
      sum = static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      sum = a + b;
    }
    visit_dtype(out.dtype(), [&]<class To>(std::type_identity<To>) {
      const To wanted = convert<To>(sum);
      const To got = out.at<To>(index);
      ASSERT_EQ(std::memcmp(&got, &wanted, sizeof(To)), 0)
          << "at "
          << fmt::format("{} of {}, {} + {} to {}", index, shape, x.dtype(), y.dtype(),
                         out.dtype());
    });
  });
}

TEST(Elementwise, ConvertsAndReadsAnyStrides) {
  Random random;
  test::for_each_target([&] {
    for (int i = 0; i < 150 && !testing::Test::HasFatalFailure(); ++i) {
      expect_sums<std::int32_t>(random);
      expect_sums<std::int64_t>(random);
      expect_sums<float>(random);
      expect_sums<double>(random);
    }
  });
}

TEST(Elementwise, WritesNothingBetweenTheElements) {
  Random random;
  for (const DType dtype : test::all_dtypes()) {
    SCOPED_TRACE(name(dtype));
    const std::int64_t bytes = item_bytes(dtype);
    const Shape shape = {37, 5};
    std::vector<std::byte> memory(static_cast<std::size_t>(37 * 12 * bytes), std::byte{0x5A});
    const Array out{memory.data(), dtype, {12, 2}};
    const Tensor x = test::random_tensor(random, shape, dtype);
    const std::vector<Array> inputs = {x.array(), x.array()};
    elementwise(*find_binary(BinaryOp::maximum, compute_type(dtype)), shape, out, inputs);
    for (std::int64_t i = 0; i < std::ssize(memory) / bytes; ++i) {
      const bool is_element = i % 12 % 2 == 0 && i % 12 < 10;
      if (is_element) continue;
      for (std::int64_t b = 0; b < bytes; ++b) {
        ASSERT_EQ(memory[static_cast<std::size_t>(i * bytes + b)], std::byte{0x5A});
      }
    }
  }
}

TEST(Elementwise, DoesNothingForNoElements) {
  const std::vector<Array> inputs = {{nullptr, DType::f32, {3, 1}}, {nullptr, DType::f32, {0, 0}}};
  const Array out{nullptr, DType::f32, {3, 1}};
  elementwise(*find_binary(BinaryOp::add, ComputeType::f32), {0, 3}, out, inputs);
  elementwise(*find_binary(BinaryOp::add, ComputeType::f32), {4, 0}, out, inputs);
}

/// A computation in place of one of its operands, against one that is apart.
void expect_in_place(Random& random, DType dtype, const Shape& shape, std::size_t which) {
  const Tensor x = operand(random, shape, dtype, false);
  const Tensor y = operand(random, shape, dtype, true);
  const Tensor apart = empty(shape, dtype);
  std::vector<Array> inputs = {x.array(), y.array()};
  if (which == 1) std::swap(inputs[0], inputs[1]);
  const ElementwiseKernel& kernel = *find_binary(BinaryOp::sub, compute_type(dtype));
  elementwise(kernel, shape, apart.array(), inputs);
  elementwise(kernel, shape, x.array(), inputs);
  EXPECT_EQ(test::bits_of(x), test::bits_of(apart)) << fmt::format("{} {}", dtype, shape);
}

TEST(Elementwise, MayWriteOverAnInput) {
  Random random;
  for (int i = 0; i < 300; ++i) {
    const DType dtype = random.pick(test::all_dtypes());
    expect_in_place(random, dtype, random_shape(random), i % 2 == 0 ? 0 : 1);
  }
}

TEST(Elementwise, GivesTheSameBitsForAnyNumberOfThreads) {
  Random random;
  const Shape shape = {3, 70, 1001};
  for (const DType dtype : {DType::f32, DType::f16, DType::i8}) {
    const Tensor x = test::random_tensor(random, shape, dtype);
    const Tensor y = test::random_tensor(random, {1001}, dtype);
    const std::vector<Array> inputs = {x.array(), {y.raw_data(), dtype, {0, 0, 1}}};
    std::optional<std::vector<std::byte>> first;
    test::with_threads({1, 2, 7}, [&] {
      const Tensor out = empty(shape, dtype);
      elementwise(*find_binary(BinaryOp::mul, compute_type(dtype)), shape, out.array(), inputs);
      if (!first) first = test::bits_of(out);
      EXPECT_EQ(test::bits_of(out), *first);
    });
  }
}

TEST(Elementwise, WritesLargeResultsAsItWritesSmallOnes) {
  const std::int64_t rows = 3000;
  const std::int64_t cols = 3001;
  const Shape shape = {rows, cols};
  Random random;
  const Tensor x = test::random_tensor(random, {rows, 1}, DType::f32);
  const Tensor y = test::random_tensor(random, {cols}, DType::f32);
  // Contiguous, and rows that begin anywhere, with something between them.
  for (const std::int64_t step : {cols, cols + 2}) {
    const Tensor memory = full({rows * step + 1}, 7, DType::f32);
    float* const to = reinterpret_cast<float*>(memory.raw_data()) + (step == cols ? 0 : 1);
    const std::vector<Array> inputs = {{x.raw_data(), DType::f32, {1, 0}},
                                       {y.raw_data(), DType::f32, {0, 1}}};
    elementwise(*find_binary(BinaryOp::add, ComputeType::f32), shape,
                {reinterpret_cast<std::byte*>(to), DType::f32, {step, 1}}, inputs);
    std::int64_t wrong = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        wrong += to[r * step + c] == x.at<float>({r, 0}) + y.at<float>({c}) ? 0 : 1;
      }
      if (step != cols && r + 1 < rows) wrong += to[r * step + cols] == 7 ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << step;
  }
}

TEST(Elementwise, GivesParametersToTheKernel) {
  const Tensor x = tensor({1.26, -1.26});
  const Tensor out = empty({2}, DType::f64);
  const double decimals[] = {1, 0, 0};
  const std::vector<Array> inputs = {x.array()};
  elementwise(*find_unary(UnaryOp::round, ComputeType::f64), {2}, out.array(), inputs, decimals);
  EXPECT_EQ(test::elements<double>(out), (std::vector<double>{1.3, -1.3}));
}

TEST(Elementwise, ChoosesAmongElementsOfAnyDTypeAsTheyAre) {
  Random random;
  for (const DType dtype : test::all_dtypes()) {
    const Shape shape = {41, 35};
    const Tensor chooses = operand(random, shape, DType::boolean, true);
    const Tensor yes = operand(random, shape, dtype, true);
    const Tensor no = operand(random, shape, dtype, true);
    const Tensor out = empty(shape, dtype);
    const std::vector<Array> inputs = {chooses.array(), yes.array(), no.array()};
    elementwise(where_kernel(dtype), shape, out.array(), inputs);
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      test::for_each_index(shape, [&](const Dims& index) {
        const T wanted = (chooses.at<bool>(index) ? yes : no).at<T>(index);
        const T got = out.at<T>(index);
        ASSERT_EQ(std::memcmp(&got, &wanted, sizeof(T)), 0) << fmt::format("{} {}", dtype, index);
      });
    });
  }
}

TEST(FindUnary, KnowsEveryOperatorForFloats) {
  test::for_each_target([] {
    for (int i = 0; i <= static_cast<int>(UnaryOp::i1); ++i) {
      const auto op = static_cast<UnaryOp>(i);
      if (op == UnaryOp::bitwise_not) continue;
      EXPECT_NE(find_unary(op, ComputeType::f32), nullptr) << i;
      EXPECT_NE(find_unary(op, ComputeType::f64), nullptr) << i;
    }
    EXPECT_EQ(find_unary(UnaryOp::bitwise_not, ComputeType::f32), nullptr);
    EXPECT_EQ(find_unary(UnaryOp::exp, ComputeType::i32), nullptr);
  });
}

}  // namespace
}  // namespace loup::kernels
