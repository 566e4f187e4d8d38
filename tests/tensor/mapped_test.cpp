#include "loup/tensor/mapped.h"

#include <array>

#include <gtest/gtest.h>

#include "loup/memory/map_error.h"
#include "loup/memory/refcounted_map_allocator.h"
#include "loup/tensor/views.h"
#include "tests/support/errors.h"
#include "tests/support/leaks.h"

namespace loup {
namespace {

using test::expect_error;

class FromFile : public test::LeakTest {
 protected:
  /// A file with the floats 0, 1, … 11.
  std::string numbers() const {
    std::array<float, 12> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return folder_.file("numbers", {reinterpret_cast<const char*>(values.data()), sizeof values});
  }
  test::TemporaryFolder folder_;
};

TEST_F(FromFile, ShowsTheWholeFile) {
  const Tensor x = from_file(numbers());
  EXPECT_EQ(x.shape(), Shape{12});
  EXPECT_EQ(x.at<float>({11}), 11.0F);
  ASSERT_NE(x.mapping(), nullptr);
  EXPECT_EQ(x.mapping()->kind, MappingKind::file);
}

TEST_F(FromFile, TakesShapeDtypeAndOffset) {
  const Tensor x = from_file(numbers(), DType::f32, Shape{2, 3}, {.offset = 8});
  EXPECT_EQ(x.at<float>({0, 0}), 2.0F);
  EXPECT_EQ(x.at<float>({1, 2}), 7.0F);
  EXPECT_EQ(from_file(numbers(), DType::u8).size(), 48);
}

TEST_F(FromFile, KeepsPrivateChangesAndWritesSharedOnes) {
  const std::string path = numbers();
  from_file(path).set({0}, 9);
  EXPECT_EQ(from_file(path).at<float>({0}), 0.0F);
  from_file(path, DType::f32, {}, {.shared = true}).set({0}, 9);
  EXPECT_EQ(from_file(path).at<float>({0}), 9.0F);
}

TEST_F(FromFile, MakesASharedFileLonger) {
  const std::string path = numbers();
  const Tensor x = from_file(path, DType::f32, Shape{100}, {.shared = true});
  EXPECT_EQ(x.at<float>({11}), 11.0F);
  EXPECT_EQ(x.at<float>({99}), 0.0F);
  EXPECT_EQ(std::filesystem::file_size(path), 400U);
}

TEST_F(FromFile, IsReadOnlyWhenAsked) {
  const Tensor x = from_file(numbers(), DType::f32, {}, {.read_only = true});
  expect_error<ValueError>([&] { x.set({0}, 1); }, "set: expected writable memory",
                           "got a read-only tensor");
}

TEST_F(FromFile, KeepsTheMappingInViews) {
  Tensor view;
  {
    const Tensor x = from_file(numbers(), DType::f32, Shape{3, 4});
    view = x.with_layout(transpose(x.layout(), 0, 1));
  }
  EXPECT_EQ(view.at<float>({3, 2}), 11.0F);
  EXPECT_NE(view.mapping(), nullptr);
  EXPECT_EQ(Tensor().mapping(), nullptr);
}

TEST_F(FromFile, RefusesWhatDoesNotFit) {
  const std::string path = numbers();
  expect_error<ValueError>([&] { from_file(path, DType::f64, {}, {.offset = 4}); },
                           "from_file: expected an offset that is a multiple of 8 for float64",
                           "got 4");
  expect_error<ValueError>(
      [&] { from_file(path, DType::f64, {}, {.offset = 56}); },
      "from_file: expected a whole number of float64 elements of 8 bytes from 56 on",
      "got \"" + path + "\" of 48 bytes");
  EXPECT_THROW(from_file(path, DType::f32, Shape{13}), MapError);
  EXPECT_THROW(from_file(folder_ / "missing"), MapError);
  EXPECT_THROW(from_file(path, DType::f32, Shape{-1}), ShapeError);
}

TEST_F(FromFile, OfNothingIsEmpty) {
  EXPECT_EQ(from_file(folder_.file("empty", "")).shape(), Shape{0});
  EXPECT_EQ(from_file(numbers(), DType::f32, Shape{0, 3}).size(), 0);
}

TEST_F(FromFile, SegmentsHoldTensorsToo) {
  const DataPtr data = RefcountedMapAllocator::makeDataPtr(
      "tensors", MapFlags::shared_mem | MapFlags::exclusive, 64);
  const Tensor x = tensor_in(data, DType::i32, {4, 2}, 32);
  x.set({3, 1}, 7);
  EXPECT_EQ(tensor_in(data, DType::i32, {16}).at<int>({15}), 7);
  EXPECT_TRUE(x.storage().is_shared());
  expect_error<ShapeError>([&] { tensor_in(data, DType::i32, {9}, 32); },
                           "tensor: expected at most 32 bytes from 32 on",
                           "got 36 for shape [9] of int32");
}

}  // namespace
}  // namespace loup
