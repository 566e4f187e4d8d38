#include "loup/kernels/triangle.h"

#include <gtest/gtest.h>

#include "tests/support/tensors.h"

namespace loup::kernels {
namespace {

TEST(Triangle, KeepsOneSideOfEveryDiagonal) {
  test::Random random;
  const Tensor x = test::random_tensor(random, {3, 5, 4}, DType::f64);
  const Tensor turned = x.with_layout({{3, 4, 5}, {20, 1, 4}, 0});
  for (const Tensor& from : {x, turned}) {
    for (std::int64_t diagonal = -7; diagonal < 8; ++diagonal) {
      const Tensor lower = empty(from.shape(), DType::f64);
      const Tensor upper = empty(from.shape(), DType::f64);
      triangle(from.shape(), lower.array(), from.array(), Triangle::lower, diagonal);
      triangle(from.shape(), upper.array(), from.array(), Triangle::upper, diagonal);
      test::for_each_index(from.shape(), [&](const Dims& at) {
        const std::int64_t above = at[2] - at[1];
        ASSERT_EQ(lower.at<double>(at), above <= diagonal ? from.at<double>(at) : 0);
        ASSERT_EQ(upper.at<double>(at), above >= diagonal ? from.at<double>(at) : 0);
      });
    }
  }
}

}  // namespace
}  // namespace loup::kernels
