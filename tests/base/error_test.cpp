#include "loup/base/error.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace loup {
namespace {

TEST(Error, FormatsItsMessage) {
  const ShapeError error("op: expected {}, got {}", 1, "two");
  EXPECT_STREQ(error.what(), "op: expected 1, got two");
}

TEST(IoError, CarriesErrnoAndPath) {
  const IoError error(2, "/some/path", "open: expected {}, got {}", "a file", "none");
  EXPECT_STREQ(error.what(), "open: expected a file, got none");
  EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(error.path(), "/some/path");
  EXPECT_TRUE((std::is_base_of_v<Error, IoError>));
}

TEST(Error, IsNeverThrownItself) { EXPECT_TRUE(std::is_abstract_v<Error>); }

template <class E>
class EveryError : public testing::Test {};
using Errors =
    testing::Types<ShapeError, DTypeError, IndexError, ValueError, StateError, LayoutError>;
TYPED_TEST_SUITE(EveryError, Errors);

TYPED_TEST(EveryError, IsCaughtAsTheBaseAndAsARuntimeError) {
  EXPECT_THROW(throw TypeParam("op: expected this"), Error);
  EXPECT_THROW(throw TypeParam("op: expected this"), std::runtime_error);
}

}  // namespace
}  // namespace loup
