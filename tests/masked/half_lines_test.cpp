// Operators along lines of float16 and bfloat16: computed as floats, and rounded once.

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/masked/lines.h"
#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/numbers.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::bits_of;
using test::Random;

struct Op {
  std::string name;
  std::function<Tensor(const Tensor& x, std::int64_t dim, const std::optional<Tensor>& mask)> call;
};

const std::vector<Op>& line_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> result;
    for (const Normalization* const op : {&softmax, &log_softmax, &softmin}) {
      result.push_back({op->name, [op](const Tensor& x, std::int64_t dim, const auto& mask) {
                          return (*op)(x, dim, {.mask = mask});
                        }});
    }
    for (const Scan* const op : {&cumsum, &cumprod}) {
      result.push_back({op->name, [op](const Tensor& x, std::int64_t dim, const auto& mask) {
                          return (*op)(x, dim, {.mask = mask});
                        }});
    }
    for (const double order : {2.0, 1.0, 3.0, test::inf}) {
      result.push_back({"normalize " + std::to_string(order),
                        [order](const Tensor& x, std::int64_t dim, const auto& mask) {
                          return normalize(x, order, {dim}, {.mask = mask});
                        }});
    }
    return result;
  }();
  return ops;
}

/// Elements about 1, so that running products stay in range; NaN and infinities in a few places.
Tensor halves(Random& random, const Shape& shape, DType dtype) {
  const Tensor x = test::random_tensor(random, shape, DType::f32);
  for (float& element : x.data<float>()) {
    element = static_cast<float>((random.chance(0.3) ? -1 : 1) * (0.7 + 0.6 * random.fraction()));
    if (random.chance(1e-4)) {
      element =
          static_cast<float>(random.pick<double>({-test::inf, test::inf, test::nan, 0, 6e4, 6e-8}));
    }
  }
  return ops::to(x, dtype);
}

/// Writes random bits wherever the mask, which has the shape of x, is false.
void poison(Random& random, const Tensor& x, const Tensor& mask) {
  const auto counts = mask.data<bool>();
  auto* const at = reinterpret_cast<std::uint16_t*>(x.storage().data());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i]) at[i] = static_cast<std::uint16_t>(random.bits());
  }
}

/// Of contiguous tensors.
bool have_equal_bytes(const Tensor& a, const Tensor& b) {
  const auto bytes = static_cast<std::size_t>(a.bytes());
  return std::memcmp(a.storage().data(), b.storage().data(), bytes) == 0;
}

void expect_rounded_floats(const Tensor& x, std::int64_t dim, const std::optional<Tensor>& mask) {
  for (const Op& op : line_ops()) {
    const Tensor wanted = ops::to(op.call(ops::to(x, DType::f32), dim, mask), x.dtype());
    EXPECT_TRUE(have_equal_bytes(op.call(x, dim, mask), wanted))
        << op.name << " of " << name(x.dtype()) << ' ' << fmt::format("{}", x.shape()) << " along "
        << dim;
  }
}

class HalfLines : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(, HalfLines, testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(HalfLines, AreFloatsRoundedOnce) {
  Random random;
  for (const std::int64_t count : {1, 2, 7, 15, 16, 17, 31, 33, 64, 70, 127, 300, 1027}) {
    const Shape shape{5, count};
    const Tensor mask = test::random_mask(random, shape);
    const Tensor x = halves(random, shape, GetParam());
    poison(random, x, mask);
    const auto turned = [](const Tensor& t) { return ops::transpose(t, 0, 1); };
    const Tensor dense = ops::clone(turned(x));
    test::for_each_target([&] {
      expect_rounded_floats(x, 1, mask);
      expect_rounded_floats(x, 0, mask);
      expect_rounded_floats(turned(x), 0, turned(mask));
      expect_rounded_floats(dense, 0, turned(mask));
    });
  }
}

TEST_P(HalfLines, StartAnywhereInMemory) {
  Random random;
  const Shape shape{9, 150};
  const Tensor mask = test::random_mask(random, shape);
  const Tensor x = halves(random, shape, GetParam());
  poison(random, x, mask);
  test::for_each_target([&] {
    for (const std::int64_t first : {1, 2, 3, 31}) {
      const auto part = [&](const Tensor& t) {
        return ops::narrow(ops::narrow(t, 1, first, 97), 0, 1, 7);
      };
      expect_rounded_floats(part(x), 1, part(mask));
      expect_rounded_floats(part(x), 0, part(mask));
    }
  });
}

TEST_P(HalfLines, TakeMasksOfEveryForm) {
  Random random;
  const Tensor x = halves(random, {6, 131}, GetParam());
  test::for_each_target([&] {
    for (const std::int64_t dim : {0, 1}) {
      expect_rounded_floats(x, dim, {});
      expect_rounded_floats(x, dim, test::random_mask(random, {131}));
      expect_rounded_floats(x, dim, test::random_mask(random, {6, 1}));
      expect_rounded_floats(x, dim, zeros({1, 131}, DType::boolean));
    }
  });
}

/// Results of more than 8 MB are written past the caches, and in several parts.
TEST_P(HalfLines, OfLargeTensorsAreThoseOfFewLines) {
  Random random;
  const Shape shape{1100, 4003};
  const Tensor mask = test::random_mask(random, shape);
  const Tensor x = halves(random, shape, GetParam());
  poison(random, x, mask);
  test::for_each_target([&] {
    for (const Op& op : line_ops()) {
      for (const std::int64_t dim : {0, 1}) {
        const Tensor whole = op.call(x, dim, mask);
        for (const std::int64_t first : {0, 1, 513, 1099 - 32}) {
          const auto part = [&](const Tensor& t) { return ops::narrow(t, 1 - dim, first, 33); };
          EXPECT_TRUE(bits_of(part(whole)) == bits_of(op.call(part(x), dim, part(mask))))
              << op.name << " along " << dim << " from " << first;
        }
      }
    }
  });
}

TEST_P(HalfLines, HaveTheSameBitsOnEveryNumberOfThreads) {
  Random random;
  for (const Shape& shape : {Shape{3, 300'001}, Shape{301, 3003}}) {
    const Tensor mask = test::random_mask(random, shape);
    const Tensor x = halves(random, shape, GetParam());
    poison(random, x, mask);
    for (const Op& op : line_ops()) {
      for (const std::int64_t dim : {0, 1}) {
        const Tensor wanted = op.call(x, dim, mask);
        test::with_threads({1, 2, 7}, [&] {
          EXPECT_TRUE(have_equal_bytes(op.call(x, dim, mask), wanted))
              << op.name << " along " << dim;
        });
      }
    }
  }
}

}  // namespace
}  // namespace loup::masked
