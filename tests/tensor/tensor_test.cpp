#include "loup/tensor/tensor.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "loup/tensor/create.h"
#include "loup/tensor/tensor_ref.h"
#include "loup/tensor/views.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup {
namespace {

using test::elements;
using test::expect_error;

Tensor transposed(const Tensor& x) { return x.with_layout(transpose(x.layout(), 0, 1)); }

TEST(Tensor, WithoutArgumentsIsEmpty) {
  const Tensor x;
  EXPECT_EQ(x.shape(), (Shape{0}));
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(x.size(), 0);
  EXPECT_TRUE(x.data<const float>().empty());
}

TEST(Tensor, SharesItsElementsWithItsCopies) {
  const Tensor x = zeros({2});
  const Tensor copy = x;  // NOLINT(performance-unnecessary-copy-initialization): the test
  copy.set({1}, 5);
  EXPECT_EQ(x.at<float>({1}), 5);
}

TEST(Tensor, TellsItsSizes) {
  const Tensor x = zeros({2, 3}, DType::i16);
  EXPECT_EQ(x.ndim(), 2);
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.size(), 6);
  EXPECT_EQ(x.bytes(), 12);
}

TEST(Tensor, RefusesTheSizeOfADimOutOfRange) {
  expect_error<IndexError>([] { zeros({2, 3}).size(2); }, "size: expected a dim from -2 to 1",
                           "got 2");
  expect_error<IndexError>([] { zeros({}).size(0); }, "size: expected a tensor with dims",
                           "got 0-d and dim 0");
}

TEST(Tensor, RefusesALayoutOutsideOfItsStorage) {
  const Storage storage = Storage::allocate(6 * sizeof(float));
  EXPECT_NO_THROW(Tensor(storage, {{2, 3}, {3, 1}, 0}, DType::f32));
  expect_error<ShapeError>([&] { Tensor(storage, {{2, 3}, {3, 1}, 1}, DType::f32); },
                           "tensor: expected a layout inside of 6 elements",
                           "got shape [2, 3], strides [3, 1], offset 1");
  EXPECT_THROW(Tensor(storage, {{2}, {-1}, 0}, DType::f32), ShapeError);
  EXPECT_THROW(Tensor(storage, {{3, 3}, {INT64_MAX / 2, INT64_MAX / 2}, 0}, DType::f32),
               ShapeError);
}

TEST(Tensor, AcceptsNegativeStridesInsideOfItsStorage) {
  const Tensor base = tensor({1, 2, 3});
  const Tensor x(base.storage(), {{3}, {-1}, 2}, DType::i32);
  EXPECT_EQ(elements<int>(x), (std::vector<int>{3, 2, 1}));
}

TEST(Tensor, RefusesStridesThatDoNotFitTheShape) {
  const Storage storage = Storage::allocate(64);
  expect_error<ShapeError>([&] { Tensor(storage, {{2, 3}, {1}, 0}, DType::f32); },
                           "tensor: expected as many strides as dims",
                           "got shape [2, 3] and strides [1]");
}

TEST(Item, IsTheOnlyElement) {
  EXPECT_EQ(full({}, 2.5).item<double>(), 2.5);
  EXPECT_EQ(tensor({{7}}).item<float>(), 7.0F);
}

TEST(Item, RefusesManyElementsAndNone) {
  expect_error<ValueError>([] { zeros({2, 3}).item<float>(); },
                           "item: expected a tensor of one element", "got shape [2, 3]");
  expect_error<ValueError>([] { zeros({0}).item<float>(); },
                           "item: expected a tensor of one element", "got shape [0]");
}

TEST(At, ReadsAnyLayoutAndConverts) {
  const Tensor x = transposed(tensor({{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(x.at<double>({2, 1}), 6.0);
  EXPECT_EQ(x.at<int>({-1, -2}), 3);
}

TEST(At, RefusesAnIndexOutOfRange) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>([&] { x.at<float>({0, 3}); },
                           "at: expected an index from -3 to 2 for dim 1", "got 3");
  expect_error<IndexError>([&] { x.at<float>({-3, 0}); },
                           "at: expected an index from -2 to 1 for dim 0", "got -3");
}

TEST(At, RefusesAnotherNumberOfIndices) {
  expect_error<IndexError>([] { zeros({2, 3}).at<float>({0}); },
                           "at: expected 2 indices for shape [2, 3]", "got 1");
}

TEST(Set, WritesThroughAViewAndConverts) {
  const Tensor x = zeros({2, 3}, DType::i32);
  transposed(x).set({2, 1}, 4.9);
  EXPECT_EQ(x.at<int>({1, 2}), 4);
}

TEST(Set, CountsAsAChangeButNotWhenItFails) {
  const Tensor x = zeros({2});
  x.set({0}, 1);
  EXPECT_EQ(x.storage().version(), 1U);
  EXPECT_THROW(x.set({2}, 1), IndexError);
  EXPECT_EQ(x.storage().version(), 1U);
}

class ReadOnlyTensor : public testing::Test {
 protected:
  float values_[2] = {1, 2};
  Tensor x_{Storage::adopt({values_, sizeof values_, nullptr, false}), Layout::contiguous({2}),
            DType::f32};
};

TEST_F(ReadOnlyTensor, RefusesWrites) {
  expect_error<ValueError>([&] { x_.set({0}, 5); }, "set: expected writable memory",
                           "got a read-only tensor");
  expect_error<ValueError>([&] { x_.data<float>(); }, "data: expected writable memory",
                           "got a read-only tensor");
  EXPECT_EQ(values_[0], 1);
}

TEST_F(ReadOnlyTensor, CanBeRead) {
  EXPECT_EQ(x_.data<const float>()[1], 2);
  EXPECT_EQ(x_.at<float>({0}), 1);
}

TEST(Data, IsTheElementsInOrder) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  const auto data = x.data<const int>();
  EXPECT_EQ(std::vector<int>(data.begin(), data.end()), (std::vector<int>{1, 2, 3, 4}));
}

TEST(Data, StartsAtTheOffset) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(x.with_layout(narrow(x.layout(), 0, 1, 2)).data<const int>()[0], 2);
}

TEST(Data, RefusesAnotherType) {
  expect_error<DTypeError>([] { zeros({2}).data<const double>(); }, "data: expected float32",
                           "got float64");
}

TEST(Data, RefusesAStridedTensor) {
  expect_error<ShapeError>([] { transposed(zeros({2, 3})).data<const float>(); },
                           "data: expected a contiguous tensor",
                           "got shape [3, 2] with strides [1, 3]");
}

TEST(Data, CountsAsAChangeOnlyWhenItMayWrite) {
  const Tensor x = zeros({2});
  x.data<const float>();
  EXPECT_EQ(x.storage().version(), 0U);
  x.data<float>();
  EXPECT_EQ(x.storage().version(), 1U);
}

TEST(IsContiguous, IgnoresStridesOfSizeOne) {
  EXPECT_TRUE((Layout{{2, 1, 3}, {3, 77, 1}, 0}.is_contiguous()));
  EXPECT_FALSE((Layout{{2, 2}, {1, 2}, 0}.is_contiguous()));
  EXPECT_FALSE((Layout{{2, 2}, {2, 0}, 0}.is_contiguous()));
}

TEST(IsContiguous, HoldsForEverythingWithoutElements) {
  EXPECT_TRUE((Layout{{0, 3}, {6, 2}, 0}.is_contiguous()));
  EXPECT_TRUE((Layout{{3, 0}, {0, 9}, 0}.is_contiguous()));
}

TEST(Detach, SharesElementsButNotTheRecord) {
  const Tensor x = zeros({2});
  EXPECT_EQ(x.detach().storage(), x.storage());
  EXPECT_FALSE(x.detach().requires_grad());
}

TEST(TensorRef, RefersToTheTensorItIsMadeOf) {
  const Tensor x = zeros({2});
  const TensorRef ref = x;
  EXPECT_EQ(ref.get(), &x);
  const TensorRef copy = ref;  // NOLINT(performance-unnecessary-copy-initialization): the test
  EXPECT_EQ(copy.get(), &x);
}

TEST(TensorRef, HoldsWhatIsMovedIntoIt) {
  TensorRef ref = ones({3});
  EXPECT_EQ(elements<float>(*ref), (std::vector<float>{1, 1, 1}));
  const TensorRef copy = ref;
  EXPECT_NE(copy.get(), ref.get());
  EXPECT_EQ(copy->storage(), ref->storage());
  const Tensor other = zeros({1});
  ref = other;
  EXPECT_EQ(ref.get(), &other);
  EXPECT_EQ(elements<float>(*copy), (std::vector<float>{1, 1, 1}));
  ref = TensorRef(ones({1}));
  ref = *ref;
  EXPECT_EQ(elements<float>(*ref), (std::vector<float>{1}));
  const TensorRef moved = std::move(ref);
  EXPECT_EQ(moved->size(), 1);
}

TEST(TensorRef, MayBeNone) {
  TensorRef ref;
  EXPECT_FALSE(ref);
  EXPECT_EQ(ref.get(), nullptr);
  ref = ones({1});
  EXPECT_TRUE(ref);
  ref = TensorRef();
  EXPECT_FALSE(ref);
}

}  // namespace
}  // namespace loup
