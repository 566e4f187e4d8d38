#include "loup/ops/reduce.h"

#include <cmath>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/memory/pool.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::elements;
using test::expect_error;

Tensor sum(const Tensor& x, const Dims& dims, const ReduceArguments& arguments = {}) {
  return reduce(sum_spec, x, dims, arguments);
}

const Tensor x23 = tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}});

TEST(Reduce, LeavesOutReducedDims) {
  EXPECT_EQ(elements<float>(sum(x23, 1)), (std::vector<float>{6, 15}));
  EXPECT_EQ(elements<float>(sum(x23, 0)), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(sum(x23, {}).item<float>(), 21);
}

TEST(Reduce, KeepsReducedDimsWithSizeOneWhenAsked) {
  EXPECT_EQ(sum(x23, 1, {.keepdim = true}).shape(), (Shape{2, 1}));
  EXPECT_EQ(sum(x23, {}, {.keepdim = true}).shape(), (Shape{1, 1}));
}

TEST(Reduce, GivesAScalarForAScalarEvenWithKeepdim) {
  EXPECT_EQ(sum(full({}, 5.0), -1, {.keepdim = true}).shape(), Shape());
  EXPECT_EQ(sum(full({}, 5.0), 0).item<float>(), 5);
}

TEST(Reduce, ConvertsTheInputBeforeItReduces) {
  const Tensor x = tensor({0.6, 0.6, 0.6});
  EXPECT_EQ(sum(x, {}, {.dtype = DType::i32}).item<int>(), 0);
}

TEST(Reduce, GivesTheIdentityForDimsOfSizeZero) {
  EXPECT_EQ(elements<float>(sum(zeros({2, 0}), 1)), (std::vector<float>{0, 0}));
}

TEST(Reduce, GivesAnEmptyResultForAKeptDimOfSizeZero) {
  EXPECT_EQ(sum(zeros({0, 3}), 1).shape(), (Shape{0}));
}

TEST(Reduce, RefusesADimOutOfRange) {
  expect_error<IndexError>([] { sum(x23, 2); }, "sum: expected a dim from -2 to 1", "got 2");
  expect_error<IndexError>([] { sum(x23, -3); }, "sum: expected a dim from -2 to 1", "got -3");
}

TEST(Reduce, RefusesADimOutOfRangeOfAScalar) {
  expect_error<IndexError>([] { sum(zeros({}), 1); }, "sum: expected a dim from -1 to 0", "got 1");
}

TEST(Reduce, RefusesARepeatedDimInEverySpelling) {
  expect_error<ShapeError>([] { sum(x23, {0, 0}); }, "sum: expected every dim at most once",
                           "got [0, 0]");
  expect_error<ShapeError>([] { sum(x23, {1, -1}); }, "sum: expected every dim at most once",
                           "got [1, -1]");
}

TEST(Reduce, RefusesAFloatMask) {
  const Tensor mask = zeros({2, 3});
  expect_error<DTypeError>([&] { sum(x23, {}, {.mask = &mask}); },
                           "sum: expected a mask of bool or integers", "got float32");
}

TEST(Reduce, RefusesAMaskWithMoreDims) {
  const Tensor mask = zeros({1, 2, 3}, DType::boolean);
  expect_error<IndexError>([&] { sum(x23, {}, {.mask = &mask}); },
                           "sum: expected a mask of at most 2 dims", "got shape [1, 2, 3]");
}

TEST(Reduce, RefusesAMaskThatDoesNotBroadcast) {
  const Tensor mask = zeros({2, 2}, DType::boolean);
  expect_error<ShapeError>([&] { sum(x23, {}, {.mask = &mask}); },
                           "sum: expected a mask broadcastable to [2, 3]", "got shape [2, 2]");
}

TEST(Reduce, NeverBroadcastsTheInputToTheMask) {
  const Tensor mask = ones({2, 3}, DType::boolean);
  expect_error<ShapeError>([&] { sum(zeros({1, 3}), {}, {.mask = &mask}); },
                           "sum: expected a mask broadcastable to [1, 3]", "got shape [2, 3]");
}

TEST(Reduce, IsRecordedOnlyWhenTheResultIsFloating) {
  Tensor x = ones({3});
  autograd::set_requires_grad(x, true);
  EXPECT_TRUE(sum(x, {}).requires_grad());
  EXPECT_FALSE(sum(x, {}, {.dtype = DType::i64}).requires_grad());
}

TEST(Reduce, ChangesNeitherArgument) {
  const Tensor mask = tensor({{true, false, true}, {false, true, true}});
  const auto x_version = x23.storage().version();
  const auto mask_version = mask.storage().version();
  sum(x23, 1, {.mask = &mask});
  EXPECT_EQ(x23.storage().version(), x_version);
  EXPECT_EQ(mask.storage().version(), mask_version);
}

TEST(Reduce, OfALongRowDoesNotDependOnTheRowsAroundIt) {
  // One element in each of four parts; adding the parts two by two would lose the last one.
  const Tensor row = zeros({1, 200000});
  row.set({0, 0}, 1.0);
  row.set({0, 70000}, 1e17);
  row.set({0, 140000}, -1e17);
  row.set({0, 199999}, 1.0);
  const Tensor many = clone(expand(row, {100, 200000}));
  EXPECT_EQ(sum(row, 1).item<float>(), sum(many, 1).at<float>({99}));
}

TEST(Reduce, OfDoublesKeepsWhatRoundingLostInEveryPart) {
  constexpr std::int64_t part = 65'536;
  const Tensor x = zeros({3 * part}, DType::f64);
  for (std::int64_t first = 0; first < 3 * part; first += part) {
    x.set({first}, 0x1p60);
    x.set({first + 256}, 1.0);  // in other blocks
    x.set({first + 512}, -0x1p60);
  }
  EXPECT_EQ(sum(x, {}).item<double>(), 3);
}

TEST(Any, IsTrueWhereASliceHasATrueElement) {
  const Tensor x = tensor({{false, false, true}, {false, false, false}});
  EXPECT_EQ(elements<bool>(any("test", x, 1, false)), (std::vector<bool>{true, false}));
  EXPECT_EQ(elements<bool>(any("test", x, 0, false)), (std::vector<bool>{false, false, true}));
}

TEST(Any, IsFalseForAnEmptySlice) {
  EXPECT_EQ(elements<bool>(any("test", zeros({2, 0}, DType::boolean), 1, false)),
            (std::vector<bool>{false, false}));
}

TEST(Any, LooksThroughExpandedDims) {
  const Tensor x = expand(tensor({{true}, {false}}), {2, 1'000'000});
  EXPECT_EQ(elements<bool>(any("test", x, 1, true)), (std::vector<bool>{true, false}));
  EXPECT_EQ(any("test", x, 1, true).shape(), (Shape{2, 1}));
}

TEST(Any, CountsMoreThanABytesWorthOfTrue) {
  EXPECT_TRUE(any("test", ones({256}, DType::boolean), {}, false).item<bool>());
  EXPECT_TRUE(any("test", ones({65536}, DType::boolean), {}, false).item<bool>());
}

TEST(Any, NamesTheCallerInItsErrors) {
  expect_error<IndexError>([] { any("test", ones({2}, DType::boolean), 1, false); },
                           "test: expected a dim from -1 to 0", "got 1");
}

/// Bytes of large temporaries at the same time, beyond what was there before.
template <class Call>
std::size_t extra_bytes(Call&& call) {
  memory::reset_pool_peak();
  const std::size_t before = memory::pool_statistics().bytes_in_use;
  call();
  return memory::pool_statistics().peak_bytes - before;
}

TEST(ReduceMemory, OfALargeMatrixNeedsNoTemporaryOfItsSize) {
  const Tensor x = ones({4096, 4096});
  const Tensor mask = ones({4096, 4096}, DType::boolean);
  const Tensor column = ones({4096, 1}, DType::boolean);
  const Tensor row = ones({4096}, DType::boolean);
  for (const Tensor& m : {mask, column, row}) {
    for (const Dims& dims : {Dims{1}, Dims{0}, Dims{}}) {
      const std::size_t bytes = extra_bytes([&] { sum(x, dims, {.mask = &m}); });
      EXPECT_LE(bytes, std::size_t{4} << 20U) << fmt::format("{} {}", m.shape(), dims);
    }
  }
}

TEST(ReduceMemory, AlongRowsAsksForNoLargeBlockAtAll) {
  const Tensor x = ones({4096, 4096});
  const Tensor mask = ones({4096, 4096}, DType::boolean);
  const auto before = memory::pool_statistics().allocations;
  sum(x, 1, {.mask = &mask});
  EXPECT_EQ(memory::pool_statistics().allocations, before);
}

TEST(ReduceMemory, OfHalvesAndTransposedInputConvertsPieceByPiece) {
  const Tensor x = transpose(ones({4096, 4096}, DType::f16), 0, 1);
  const std::size_t bytes = extra_bytes([&] { sum(x, 1); });
  EXPECT_LE(bytes, std::size_t{4} << 20U);
}

TEST(ReduceMemory, BackwardKeepsTheMaskAsABroadcastView) {
  Tensor x = ones({4096, 4096});
  autograd::set_requires_grad(x, true);
  const Tensor mask = ones({4096, 1}, DType::boolean);
  Tensor y;
  EXPECT_LE(extra_bytes([&] { y = sum(x, {}, {.mask = &mask}); }), std::size_t{1} << 20U);
}

TEST(Reduce, WorksInAForkedChild) {
  const Tensor x = ones({2000, 2000});
  ASSERT_EQ(sum(x, {}).item<float>(), 4'000'000);
  const test::ThreadScope threads(2);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(sum(x, {}).item<float>() == 4'000'000 && num_threads() == 2 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace loup::ops
