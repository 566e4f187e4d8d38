#include "loup/io/dlpack.h"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "loup/autograd/node.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::dlpack {
namespace {

using test::elements;
using test::expect_error;

/// A tensor of another library: it counts how often it is given back.
template <class Managed>
struct Foreign {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> shape = {2, 3};
  std::vector<std::int64_t> strides = {3, 1};
  int deleted = 0;
  Managed managed{};

  Foreign() {
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    managed.dl_tensor = {values.data(), {device_cpu, 0}, 2, {type_float, 32, 1},
                         shape.data(),  strides.data(),  0};
    if constexpr (std::is_same_v<Managed, ManagedTensorVersioned>) managed.version = version;
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
};

template <class Managed>
class FromDlpack : public testing::Test {
 protected:
  Foreign<Managed> foreign_;
  DLTensor& dl_ = foreign_.managed.dl_tensor;

  /// A refused tensor stays with the caller: the deleter is not called.
  template <class E>
  void expect_refused(const std::string& rule, const std::string& value) {
    expect_error<E>([this] { from_dlpack(&foreign_.managed); }, rule, value);
    EXPECT_EQ(foreign_.deleted, 0);
  }
};
using Forms = testing::Types<ManagedTensor, ManagedTensorVersioned>;
TYPED_TEST_SUITE(FromDlpack, Forms);

TYPED_TEST(FromDlpack, SharesTheElements) {
  const Tensor x = from_dlpack(&this->foreign_.managed);
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.dtype(), DType::f32);
  this->foreign_.values[4] = 50;
  EXPECT_EQ(x.template at<float>({1, 1}), 50);
  x.set({0, 0}, 9);
  EXPECT_EQ(this->foreign_.values[0], 9);
}

TYPED_TEST(FromDlpack, CallsTheDeleterOnceWhenTheLastHandleIsGone) {
  {
    Tensor view;
    {
      const Tensor x = from_dlpack(&this->foreign_.managed);
      view = ops::select(x, 0, 1);
    }
    EXPECT_EQ(this->foreign_.deleted, 0);
    EXPECT_EQ(elements<float>(view), (std::vector<float>{4, 5, 6}));
  }
  EXPECT_EQ(this->foreign_.deleted, 1);
}

TYPED_TEST(FromDlpack, AcceptsATensorWithoutADeleter) {
  this->foreign_.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&this->foreign_.managed).size(), 6);
}

TYPED_TEST(FromDlpack, TakesMissingStridesAsRowMajor) {
  this->dl_.strides = nullptr;
  EXPECT_EQ(from_dlpack(&this->foreign_.managed).strides(), (Strides{3, 1}));
}

TYPED_TEST(FromDlpack, AcceptsNegativeStrides) {
  this->dl_.data = this->foreign_.values.data() + 5;
  this->foreign_.strides = {-3, -1};
  this->dl_.strides = this->foreign_.strides.data();
  EXPECT_EQ(elements<float>(from_dlpack(&this->foreign_.managed)),
            (std::vector<float>{6, 5, 4, 3, 2, 1}));
}

TYPED_TEST(FromDlpack, AcceptsStridesOfBothSigns) {
  this->dl_.data = this->foreign_.values.data() + 2;
  this->foreign_.strides = {3, -1};
  this->dl_.strides = this->foreign_.strides.data();
  EXPECT_EQ(elements<float>(from_dlpack(&this->foreign_.managed)),
            (std::vector<float>{3, 2, 1, 6, 5, 4}));
}

TYPED_TEST(FromDlpack, AcceptsStridesOfZero) {
  this->foreign_.strides = {0, 1};
  this->dl_.strides = this->foreign_.strides.data();
  EXPECT_EQ(elements<float>(from_dlpack(&this->foreign_.managed)),
            (std::vector<float>{1, 2, 3, 1, 2, 3}));
}

TYPED_TEST(FromDlpack, AddsTheByteOffset) {
  this->dl_.byte_offset = 8;
  this->foreign_.shape = {2, 2};
  this->dl_.shape = this->foreign_.shape.data();
  this->foreign_.strides = {2, 1};
  this->dl_.strides = this->foreign_.strides.data();
  EXPECT_EQ(elements<float>(from_dlpack(&this->foreign_.managed)),
            (std::vector<float>{3, 4, 5, 6}));
}

TYPED_TEST(FromDlpack, AcceptsNoElementsWithoutData) {
  this->foreign_.shape = {0, 3};
  this->dl_.shape = this->foreign_.shape.data();
  this->dl_.data = nullptr;
  {
    const Tensor x = from_dlpack(&this->foreign_.managed);
    EXPECT_EQ(x.shape(), (Shape{0, 3}));
    EXPECT_EQ(this->foreign_.deleted, 0);
  }
  EXPECT_EQ(this->foreign_.deleted, 1);
}

TYPED_TEST(FromDlpack, AcceptsAScalar) {
  this->dl_.ndim = 0;
  this->dl_.shape = nullptr;
  this->dl_.strides = nullptr;
  EXPECT_EQ(from_dlpack(&this->foreign_.managed).template item<float>(), 1);
}

TYPED_TEST(FromDlpack, RefusesANullPointerWithElements) {
  this->dl_.data = nullptr;
  this->template expect_refused<ValueError>("from_dlpack: expected the address of 6 elements",
                                            "got a null pointer");
}

TYPED_TEST(FromDlpack, RefusesAnotherDevice) {
  this->dl_.device = {2, 0};
  this->template expect_refused<ValueError>("from_dlpack: expected memory of the CPU",
                                            "got DLPack device type 2");
}

TYPED_TEST(FromDlpack, RefusesADTypeItDoesNotHave) {
  const std::string rule =
      "from_dlpack: expected bool, uint8, int8 to int64, float16, bfloat16, float32 or float64";
  this->dl_.dtype = {5, 64, 1};
  this->template expect_refused<DTypeError>(rule,
                                            "got DLPack type code 5 with 64 bits and 1 lanes");
  this->dl_.dtype = {type_uint, 32, 1};
  this->template expect_refused<DTypeError>(rule,
                                            "got DLPack type code 1 with 32 bits and 1 lanes");
  this->dl_.dtype = {type_float, 32, 4};
  this->template expect_refused<DTypeError>(rule,
                                            "got DLPack type code 2 with 32 bits and 4 lanes");
}

TYPED_TEST(FromDlpack, RefusesNineDims) {
  this->foreign_.shape.assign(9, 1);
  this->dl_.shape = this->foreign_.shape.data();
  this->dl_.strides = nullptr;
  this->dl_.ndim = 9;
  this->template expect_refused<ShapeError>("from_dlpack: expected at most 8 dimensions", "got 9");
}

TYPED_TEST(FromDlpack, RefusesASizeThatOverflows) {
  this->foreign_.shape = {INT64_MAX, 4};
  this->dl_.shape = this->foreign_.shape.data();
  this->dl_.strides = nullptr;
  this->template expect_refused<ShapeError>("shape: expected at most 9223372036854775807 elements",
                                            "got shape [9223372036854775807, 4]");
}

TYPED_TEST(FromDlpack, RefusesStridesThatOverflow) {
  this->foreign_.strides = {INT64_MAX, INT64_MAX};
  this->dl_.strides = this->foreign_.strides.data();
  EXPECT_THROW(from_dlpack(&this->foreign_.managed), ShapeError);
  EXPECT_EQ(this->foreign_.deleted, 0);
}

TYPED_TEST(FromDlpack, RefusesElementsThatAreNotAligned) {
  this->dl_.byte_offset = 1;
  this->foreign_.shape = {1, 1};
  this->dl_.shape = this->foreign_.shape.data();
  this->template expect_refused<ValueError>(
      "from_dlpack: expected float32 elements aligned to 4 bytes", "got an address that is not");
}

TEST(FromDlpackVersioned, RespectsTheReadOnlyFlag) {
  Foreign<ManagedTensorVersioned> foreign;
  foreign.managed.flags = read_only;
  const Tensor x = from_dlpack(&foreign.managed);
  EXPECT_FALSE(x.storage().is_writable());
  expect_error<ValueError>([&] { ops::fill_(x, 0); }, "fill_: expected writable memory",
                           "got a read-only tensor");
  EXPECT_EQ(foreign.values[0], 1);
}

TEST(FromDlpackVersioned, RefusesAnotherMajorVersion) {
  Foreign<ManagedTensorVersioned> foreign;
  foreign.managed.version = {2, 0};
  expect_error<ValueError>([&] { from_dlpack(&foreign.managed); },
                           "from_dlpack: expected DLPack version 1", "got 2.0");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(FromDlpackVersioned, AcceptsALaterMinorVersion) {
  Foreign<ManagedTensorVersioned> foreign;
  foreign.managed.version = {1, 99};
  EXPECT_EQ(from_dlpack(&foreign.managed).size(), 6);
}

TEST(ToDlpack, RoundTripsEveryDTypeInBothForms) {
  test::Random random;
  for (const DType dtype : test::all_dtypes()) {
    const Tensor x = ops::transpose(test::random_tensor(random, {3, 4}, dtype), 0, 1);
    for (const Tensor& back : {from_dlpack(to_dlpack(x)), from_dlpack(to_dlpack_unversioned(x))}) {
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), x.shape());
      EXPECT_EQ(back.strides(), x.strides());
      EXPECT_EQ(back.raw_data(), x.raw_data());
    }
  }
}

TEST(ToDlpack, TellsWhatTheElementsAre) {
  ManagedTensorVersioned* const managed = to_dlpack(zeros({2, 3}, DType::boolean), is_copied);
  EXPECT_EQ(managed->version.major, 1U);
  EXPECT_EQ(managed->flags, std::uint64_t{is_copied});
  EXPECT_EQ(managed->dl_tensor.dtype.code, type_bool);
  EXPECT_EQ(managed->dl_tensor.dtype.bits, 8);
  EXPECT_EQ(managed->dl_tensor.ndim, 2);
  EXPECT_EQ(managed->dl_tensor.shape[1], 3);
  EXPECT_EQ(managed->dl_tensor.strides[0], 3);
  managed->deleter(managed);
}

TEST(ToDlpack, KeepsTheElementsAliveUntilTheLoanEnds) {
  Tensor x = tensor({1, 2, 3});
  const Storage watched = x.storage();
  ManagedTensor* const managed = to_dlpack_unversioned(x);
  x = Tensor();
  EXPECT_EQ(watched.use_count(), 2U);
  EXPECT_EQ(static_cast<int*>(managed->dl_tensor.data)[2], 3);
  managed->deleter(managed);
  EXPECT_EQ(watched.use_count(), 1U);
}

class ReadOnly : public testing::Test {
 protected:
  float value_ = 5;
  Tensor x_{Storage::adopt({&value_, sizeof value_, nullptr, false}), Layout::contiguous({1}),
            DType::f32};
};

TEST_F(ReadOnly, IsFlaggedInTheVersionedForm) {
  ManagedTensorVersioned* const managed = to_dlpack(x_);
  EXPECT_EQ(managed->flags, std::uint64_t{read_only});
  managed->deleter(managed);
}

TEST_F(ReadOnly, IsRefusedInTheOldForm) {
  expect_error<ValueError>([this] { to_dlpack_unversioned(x_); },
                           "to_dlpack: expected a consumer of DLPack 1 for a read-only tensor",
                           "got one of the form before");
}

TEST(ToDlpack, RefusesATensorInTheGradientRecord) {
  Tensor x = zeros({2});
  autograd::set_requires_grad(x, true);
  expect_error<StateError>([&] { to_dlpack(x); },
                           "to_dlpack: expected a tensor without a gradient record",
                           "got one that requires grad");
}

}  // namespace
}  // namespace loup::dlpack
