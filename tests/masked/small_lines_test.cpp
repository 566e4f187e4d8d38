// One small line is computed without a plan, and nobody may notice.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loup/masked/lines.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::bits_of;
using test::Random;

using Call = std::function<Tensor(const Tensor& x, const std::optional<Tensor>& mask)>;

/// Calls along the first dim, by name; those that take integers when `dtype` is one.
std::vector<std::pair<std::string, Call>> calls_for(DType dtype) {
  std::vector<std::pair<std::string, Call>> result;
  for (const Scan* const op : {&cumsum, &cumprod}) {
    result.emplace_back(
        op->name, [op](const Tensor& x, const auto& mask) { return (*op)(x, 0, {.mask = mask}); });
  }
  if (!is_floating(dtype)) return result;
  for (const Normalization* const op : {&softmax, &log_softmax, &softmin}) {
    result.emplace_back(
        op->name, [op](const Tensor& x, const auto& mask) { return (*op)(x, 0, {.mask = mask}); });
  }
  result.emplace_back("normalize", [](const Tensor& x, const auto& mask) {
    return normalize(x, 2, {0}, {.mask = mask});
  });
  return result;
}

/// Every second element of twice as many: not contiguous.
Tensor spread(const Tensor& x) {
  const std::int64_t size = x.shape()[0];
  const Tensor twice = zeros({2 * size}, x.dtype());
  Tensor result = ops::slice(twice, 0, 0, 2 * size, 2);
  ops::copy_(result, x);
  return result;
}

class SmallLines : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(, SmallLines,
                         testing::Values(DType::f16, DType::bf16, DType::f32, DType::f64,
                                         DType::i64, DType::i32, DType::u8),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(SmallLines, HaveTheBitsOfLinesThatAreNotContiguous) {
  Random random;
  for (const std::int64_t size : {1, 2, 7, 31, 64, 100, 333, 4096, 4097}) {
    const Tensor mask = test::random_mask(random, {size});
    const Tensor x = test::random_tensor(random, {size}, GetParam());
    test::poison(x, mask, random);
    test::for_each_target([&] {
      for (const auto& [name, call] : calls_for(GetParam())) {
        SCOPED_TRACE(name + " of " + std::to_string(size));
        const auto wanted = bits_of(call(spread(x), mask));
        EXPECT_EQ(bits_of(call(x, mask)), wanted);
        EXPECT_EQ(bits_of(call(x, spread(mask))), wanted);
        EXPECT_EQ(bits_of(call(x, ops::to(mask, DType::i32))), wanted);
        EXPECT_EQ(bits_of(call(ops::unsqueeze(x, 1), ops::unsqueeze(mask, 1))), wanted);
        EXPECT_EQ(bits_of(call(x, {})), bits_of(call(spread(x), {})));
      }
    });
  }
}

TEST_P(SmallLines, SeeOneMaskForAllElements) {
  const Tensor x = ops::to(tensor({1.0, 2.0, 3.0}), GetParam());
  for (const auto& [name, call] : calls_for(GetParam())) {
    for (const bool counts : {false, true}) {
      const Tensor mask = full({1}, counts, DType::boolean);
      const Tensor whole = full({3}, counts, DType::boolean);
      EXPECT_EQ(bits_of(call(x, mask)), bits_of(call(x, whole))) << name;
    }
  }
}

TEST_P(SmallLines, AreNotMistakenForColumns) {
  const Tensor x = ops::to(tensor({{1.0, 2.0, 3.0}}), GetParam());
  for (const auto& [name, call] : calls_for(GetParam())) {
    const Tensor rows = call(x, {});
    for (std::int64_t c = 0; c < 3; ++c) {
      const Tensor column = call(ops::select(x, 1, c), {});
      EXPECT_EQ(bits_of(ops::select(rows, 1, c)), bits_of(column)) << name << ' ' << c;
    }
  }
}

}  // namespace
}  // namespace loup::masked
