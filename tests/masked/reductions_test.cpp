#include "loup/masked/reductions.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/numbers.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::for_each_target;
using test::Random;

/// Longer than what is searched for a position at once.
constexpr std::int64_t long_row = 2000;

/// False for the first `count` elements.
Tensor mask_from(std::int64_t count) {
  Tensor mask = ones({long_row}, DType::boolean);
  for (std::int64_t i = 0; i < count; ++i) mask.set({i}, false);
  return mask;
}

TEST(MaskedArgmax, OfTheLeastNumbersIsTheFirstThatCounts) {
  const double least = -std::numeric_limits<double>::infinity();
  const Tensor reals = full({long_row}, least, DType::f32);
  const Tensor integers = full({long_row}, std::numeric_limits<std::int32_t>::lowest(), DType::i32);
  for_each_target([&] {
    for (const Tensor& x : {reals, integers}) {
      EXPECT_EQ(argmax(x, 0, {.mask = mask_from(777)}).item<std::int64_t>(), 777);
    }
  });
}

TEST(MaskedArgmin, OfSeveralNaNIsTheFirstThatCounts) {
  for_each_target([&] {
    for (const DType dtype : {DType::f32, DType::f64}) {
      // In one lane of every vector: all are multiples of 64 apart.
      Tensor x = ones({long_row}, dtype);
      for (const std::int64_t i : {70, 646, 1158, 1926}) x.set({i}, std::nan(""));
      EXPECT_EQ(argmin(x, 0, {.mask = mask_from(100)}).item<std::int64_t>(), 646);
      EXPECT_EQ(argmax(x, 0, {.mask = mask_from(700)}).item<std::int64_t>(), 1158);
    }
  });
}

TEST(MaskedLogsumexp, OfColumnsWithoutFiniteElementsIsDefined) {
  constexpr std::int64_t rows = 100;
  const Tensor x = empty({rows, 20}, DType::f32);
  const Tensor mask = ones(x.shape(), DType::boolean);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < 20; ++c) x.set({r, c}, c % 4 == 0 ? -test::inf : 1.0);
    for (std::int64_t c = 1; c < 20; c += 4) mask.set({r, c}, false);
  }
  for (std::int64_t c = 2; c < 20; c += 4) {
    x.set({50 + c, c}, test::inf);
    x.set({70 + c, c}, test::inf);
    x.set({60 + c, c + 1}, test::nan);
  }
  for_each_target([&] {
    const Tensor result = logsumexp(x, 0, {.mask = mask});
    for (std::int64_t c = 0; c < 20; c += 4) {
      EXPECT_EQ(result.at<float>({c}), -test::inf) << "only -inf";
      EXPECT_EQ(result.at<float>({c + 1}), -test::inf) << "nothing";
      EXPECT_EQ(result.at<float>({c + 2}), test::inf) << "inf";
      EXPECT_TRUE(std::isnan(result.at<float>({c + 3}))) << "NaN";
    }
  });
}

/// What a reduction makes of a tensor, along its last dim.
template <class Op>
Tensor along_rows(const Op& op, const Tensor& x, const Tensor& mask) {
  if constexpr (std::is_same_v<Op, Norm>) {
    return op(x, 2, -1, {.mask = mask});
  } else {
    return op(x, -1, {.mask = mask});
  }
}

// A small row is reduced without a plan, and nobody may notice.
TEST(MaskedReductions, OfOneRowHaveTheBitsOfThatRowAmongOthers) {
  constexpr std::int64_t rows = 9;
  Random random;
  for_each_target([&] {
    for (const std::int64_t size : {1, 7, 64, 1000, 4096, 4097}) {
      for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i8}) {
        const Tensor x = test::random_tensor(random, {rows, size}, dtype);
        Tensor mask = test::random_mask(random, {rows, size});
        for (std::int64_t i = 0; i < size; ++i) mask.set({3, i}, false);
        test::poison(x, mask, random);
        const auto check = [&](const auto& op) {
          const Tensor all = along_rows(op, x, mask);
          for (std::int64_t r = 0; r < rows; ++r) {
            const Tensor row = along_rows(op, ops::select(x, 0, r), ops::select(mask, 0, r));
            EXPECT_EQ(test::bits_of(row), test::bits_of(ops::select(all, 0, r)))
                << op.name << " of " << size << " " << name(dtype) << ", row " << r;
          }
        };
        for (const Reduction* op : {&sum, &prod, &amax, &amin, &argmax, &argmin, &mean}) check(*op);
        if (!is_floating(dtype)) continue;
        check(logsumexp);
        check(var);
        check(loup::masked::std);
        check(norm);
      }
    }
  });
}

TEST(MaskedReductions, OfOneRowSeeMasksOfEveryKind) {
  const Tensor x = tensor({{1.0F, 2.0F, 4.0F, 8.0F}});
  const Tensor every_second = tensor({true, false, true, false, true, false, true, false});
  const Tensor stepped = ops::slice(every_second, 0, 0, 8, 2);
  EXPECT_EQ(sum(x, -1, {.mask = stepped}).at<float>({0}), 15);
  EXPECT_EQ(sum(x, -1, {.mask = tensor({0, 1, 0, 3})}).at<float>({0}), 10);
  EXPECT_EQ(sum(x, -1, {.mask = tensor({false})}).at<float>({0}), 0);
  EXPECT_EQ(sum(x, -1, {.mask = ops::slice(every_second, 0, 2, 6, 1)}).at<float>({0}), 5);
  EXPECT_EQ(argmax(x, {}, {.mask = ops::slice(every_second, 0, 2, 6, 1)}).item<std::int64_t>(), 2);
  EXPECT_EQ(norm(x, 3, {}, {.mask = ops::slice(every_second, 0, 1, 5, 1)}).item<float>(),
            std::cbrt(8.0F + 512.0F));
}

}  // namespace
}  // namespace loup::masked
