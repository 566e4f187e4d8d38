#include "loup/ops/copy.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::elements;
using test::expect_error;
using test::leaf;

Tensor read_only(const Tensor& x) {
  class Keeper : public MemoryContext {
   public:
    explicit Keeper(Tensor kept) : kept_(std::move(kept)) {}

   private:
    Tensor kept_;
  };
  const auto bytes = static_cast<std::size_t>(x.bytes());
  return {Storage::adopt({x.raw_data(), bytes, std::make_shared<Keeper>(x), false}), x.layout(),
          x.dtype()};
}

TEST(Clone, IsContiguousAndHasItsOwnElements) {
  const Tensor x = transpose(tensor({{1, 2, 3}, {4, 5, 6}}), 0, 1);
  const Tensor copy = clone(x);
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_EQ(elements<int>(copy), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  copy.set({0, 0}, 9);
  EXPECT_EQ(x.at<int>({0, 0}), 1);
}

TEST(Clone, OfEveryDTypeKeepsEveryBit) {
  test::Random random;
  for (const DType dtype : test::all_dtypes()) {
    const Tensor x = permute(test::random_tensor(random, {3, 4, 5}, dtype), {2, 0, 1});
    EXPECT_EQ(test::bits_of(clone(x)), test::bits_of(x)) << name(dtype);
  }
}

TEST(Clone, PassesItsGradientOn) {
  Tensor x = tensor({1.0, 2.0});
  autograd::set_requires_grad(x, true);
  autograd::backward(clone(x), {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(elements<double>(*autograd::grad(x)), (std::vector<double>{3, 4}));
}

TEST(Contiguous, ReturnsTheTensorItselfWhenItIs) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(contiguous(x).storage(), x.storage());
}

TEST(Contiguous, CopiesAStridedTensor) {
  const Tensor x = slice(tensor({1, 2, 3, 4, 5}), 0, 0, 5, 2);
  const Tensor y = contiguous(x);
  EXPECT_FALSE(y.storage() == x.storage());
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_EQ(elements<int>(y), (std::vector<int>{1, 3, 5}));
}

TEST(To, ReturnsTheTensorItselfForItsOwnDType) {
  const Tensor x = tensor({1.0F});
  EXPECT_EQ(to(x, DType::f32).storage(), x.storage());
}

TEST(To, TruncatesFloatsToInts) {
  EXPECT_EQ(elements<int>(to(tensor({1.9, -1.9, 0.5}), DType::i32)), (std::vector<int>{1, -1, 0}));
}

TEST(To, MakesEverythingButZeroTrue) {
  EXPECT_EQ(elements<bool>(to(tensor({0.0, -0.0, 0.1, std::nan("")}), DType::boolean)),
            (std::vector<bool>{false, false, true, true}));
}

TEST(To, ConvertsTheGradientBack) {
  Tensor x = tensor({1.0F, 2.0F});
  autograd::set_requires_grad(x, true);
  autograd::backward(to(x, DType::f64), {.gradient = tensor({3.0, 4.0})});
  EXPECT_EQ(autograd::grad(x)->dtype(), DType::f32);
  EXPECT_EQ(elements<float>(*autograd::grad(x)), (std::vector<float>{3, 4}));
}

TEST(To, CutsTheRecordForIntegers) {
  Tensor x = tensor({1.0F});
  autograd::set_requires_grad(x, true);
  EXPECT_FALSE(to(x, DType::i32).requires_grad());
}

TEST(Filled, TakesTheValueWhereTheMaskIsFalse) {
  const Tensor x = tensor({{1.0, std::nan("")}, {3.0, 4.0}});
  EXPECT_EQ(elements<double>(filled(x, tensor({true, false}), -1)),
            (std::vector<double>{1, -1, 3, -1}));
}

TEST(Filled, PassesGradientOnlyWhereTheMaskIsTrue) {
  Tensor x = tensor({1.0, std::nan(""), 3.0});
  autograd::set_requires_grad(x, true);
  autograd::backward(filled(x, tensor({true, false, true}), 0),
                     {.gradient = tensor({5.0, std::nan(""), 7.0})});
  EXPECT_EQ(elements<double>(*autograd::grad(x)), (std::vector<double>{5, 0, 7}));
}

TEST(Filled, RefusesAMaskThatIsNotBool) {
  expect_error<DTypeError>([] { filled(tensor({1.0}), tensor({1}), 0); },
                           "filled: expected a mask of bool", "got int32");
}

TEST(Filled, RefusesAMaskThatDoesNotBroadcast) {
  expect_error<ShapeError>([] { filled(zeros({2, 3}), zeros({2}, DType::boolean), 0); },
                           "filled: expected a mask broadcastable to [2, 3]", "got shape [2]");
}

TEST(CopyInPlace, BroadcastsAndConverts) {
  const Tensor x = zeros({2, 3}, DType::f64);
  copy_(x, tensor({1, 2, 3}));
  EXPECT_EQ(elements<double>(x), (std::vector<double>{1, 2, 3, 1, 2, 3}));
}

TEST(CopyInPlace, WritesThroughAView) {
  const Tensor x = zeros({3, 3}, DType::i32);
  copy_(select(x, 1, 1), tensor({7, 8, 9}));
  EXPECT_EQ(elements<int>(x), (std::vector<int>{0, 7, 0, 0, 8, 0, 0, 9, 0}));
}

TEST(CopyInPlace, ReadsAnOverlappingSourceBeforeItWrites) {
  const Tensor x = arange(0, 6);
  copy_(narrow(x, 0, 1, 5), narrow(x, 0, 0, 5));
  EXPECT_EQ(elements<int>(x), (std::vector<int>{0, 0, 1, 2, 3, 4}));
}

TEST(CopyInPlace, TransposesATensorOntoItself) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  copy_(x, transpose(x, 0, 1));
  EXPECT_EQ(elements<int>(x), (std::vector<int>{1, 3, 2, 4}));
}

TEST(CopyInPlace, CountsAsAChange) {
  const Tensor x = zeros({2});
  const auto before = x.storage().version();
  copy_(x, ones({2}));
  EXPECT_GT(x.storage().version(), before);
}

TEST(CopyInPlace, RefusesReadOnlyMemory) {
  const Tensor x = read_only(zeros({2}));
  expect_error<ValueError>([&] { copy_(x, ones({2})); }, "copy_: expected writable memory",
                           "got a read-only tensor");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 0}));
}

TEST(CopyInPlace, RefusesAnExpandedDestination) {
  const Tensor x = expand(zeros({2, 1}), {2, 3});
  expect_error<ValueError>([&] { copy_(x, ones({2, 3})); },
                           "copy_: expected a tensor that holds each element once",
                           "got one expanded along dim 1");
}

TEST(CopyInPlace, TakesUpTheRecordOfItsSource) {
  const Tensor from = leaf(tensor({1.0F, 2.0F}));
  Tensor x = zeros({3, 2}, DType::f64);
  copy_(x, from);
  EXPECT_EQ(elements<double>(x), (std::vector<double>{1, 2, 1, 2, 1, 2}));
  autograd::backward(x, {.gradient = tensor({{1.0, 2.0}, {10.0, 20.0}, {100.0, 200.0}})});
  EXPECT_EQ(autograd::grad(from)->dtype(), DType::f32);
  EXPECT_EQ(elements<float>(*autograd::grad(from)), (std::vector<float>{111, 222}));
}

TEST(CopyInPlace, SendsNothingToWhatWasThereBefore) {
  const Tensor before = leaf(tensor({1.0, 2.0}));
  const Tensor from = leaf(tensor({3.0, 4.0}));
  Tensor x = clone(before);
  copy_(x, from);
  autograd::backward(x, {.gradient = tensor({5.0, std::nan("")})});
  EXPECT_EQ(elements<double>(*autograd::grad(before)), (std::vector<double>{0, 0}));
  EXPECT_EQ(elements<double>(*autograd::grad(from)).front(), 5);
}

TEST(CopyInPlace, OfARecordIntoIntegersIsNotRecorded) {
  Tensor x = zeros({2}, DType::i32);
  const Tensor shares = x;
  copy_(x, leaf(tensor({1.5, 2.5})));
  EXPECT_FALSE(x.requires_grad());
  EXPECT_EQ(elements<int>(shares), (std::vector<int>{1, 2}));
}

TEST(CopyInPlace, ReadsARecordedViewOfItself) {
  const Tensor before = leaf(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  Tensor x = clone(before);
  copy_(x, transpose(x, 0, 1));
  EXPECT_EQ(elements<double>(x), (std::vector<double>{1, 3, 2, 4}));
  autograd::backward(x, {.gradient = tensor({{1.0, 2.0}, {3.0, 4.0}})});
  EXPECT_EQ(elements<double>(*autograd::grad(before)), (std::vector<double>{1, 3, 2, 4}));
}

TEST(CopyInPlace, RefusesASourceThatDoesNotBroadcast) {
  expect_error<ShapeError>([] { copy_(zeros({2, 3}), ones({3, 2})); },
                           "copy_: expected a source broadcastable to [2, 3]", "got shape [3, 2]");
}

TEST(FillInPlace, WritesEveryElementOfAViewAndNoOther) {
  const Tensor x = zeros({5}, DType::i32);
  fill_(slice(x, 0, 1, {}, 2), 4.7);
  EXPECT_EQ(elements<int>(x), (std::vector<int>{0, 4, 0, 4, 0}));
}

TEST(FillInPlace, RefusesReadOnlyMemory) {
  expect_error<ValueError>([] { fill_(read_only(zeros({2})), 1); },
                           "fill_: expected writable memory", "got a read-only tensor");
}

TEST(FillInPlace, SendsNothingToWhatWasThereBefore) {
  const Tensor before = leaf(tensor({1.0, 2.0}));
  Tensor x = clone(before);
  fill_(x, 7);
  autograd::backward(x, {.gradient = tensor({5.0, std::nan("")})});
  EXPECT_EQ(elements<double>(*autograd::grad(before)), (std::vector<double>{0, 0}));
}

TEST(FillInPlace, AcceptsALeafWhileNothingIsRecorded) {
  Tensor x = zeros({2});
  autograd::set_requires_grad(x, true);
  const autograd::RecordingScope off(false);
  fill_(x, 3);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{3, 3}));
}

TEST(FillInPlace, FillsLargeTensorsOnEveryNumberOfThreads) {
  test::with_threads({1, 2, 7}, [] {
    const Tensor x = zeros({1000, 1003}, DType::i32);
    fill_(transpose(x, 0, 1), 5);
    for (const int value : x.data<const int>()) ASSERT_EQ(value, 5);
  });
}

}  // namespace
}  // namespace loup::ops
