#include <optional>
#include <variant>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/memory/pool.h"
#include "loup/ops/views.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

// No operator of one operand has temporaries of the size of its input: beside its result it takes
// some numbers for every row, and each thread has room for some rows.

namespace loup::masked {
namespace {

constexpr std::int64_t side = 2048;  // the input has 16 MB, its mask 4

constexpr std::size_t bound(std::size_t rows, std::size_t row_length, int threads) {
  return 64 * rows + static_cast<std::size_t>(threads) * row_length * 768;
}

/// Bytes that a call took at most, without those of its result; nothing when there was no call.
template <class Call>
std::optional<std::size_t> temporary_bytes(const Call& call) {
  memory::reset_pool_peak();
  const std::size_t before = memory::pool_statistics().peak_bytes;
  const std::optional<Tensor> result = call();
  if (!result) return {};
  const std::size_t taken = memory::pool_statistics().peak_bytes - before;
  const auto own = static_cast<std::size_t>(result->bytes());
  return taken > own ? taken - own : 0;
}

/// Calls an operator along `dim`, or over everything; nothing when it has no such call.
struct Call {
  const Tensor& x;
  const Tensor& mask;
  std::optional<std::int64_t> dim;

  using Result = std::optional<Tensor>;

  Dims dims() const { return dim ? Dims{*dim} : Dims{}; }
  Result along(const auto* op) const {
    if (!dim) return {};
    return (*op)(x, *dim, {.mask = mask});
  }

  template <class Reduce>
  Result operator()(const Reduce* op) const {  // sum, var and their like
    return (*op)(x, dims(), {.mask = mask});
  }
  Result operator()(const Norm* op) const { return (*op)(x, 2, dims(), {.mask = mask}); }
  Result operator()(const PairReduction* op) const {
    if (!dim && op->takes_one_dim) return {};
    return (*op)(x, dims(), {.mask = mask}).first;
  }
  Result operator()(const Normalization* op) const { return along(op); }
  Result operator()(const Scan* op) const { return along(op); }
  Result operator()(const NormDivision* op) const { return (*op)(x, 2, dims(), {.mask = mask}); }
  Result operator()(const Median* op) const { return along(op); }
  // Selection has room for as many elements as a line has.
  Result operator()(const Quantile* op) const {
    if (!dim) return {};
    return (*op)(x, 0.3, dim, {.mask = mask});
  }
  Result operator()(const Histogram* op) const {
    if (dim) return {};
    return (*op)(x, 10, {.mask = mask}).counts;
  }
  // These have temporaries of the size of their input, and tests of their own.
  Result operator()(const WeightedMean* /*op*/) const { return {}; }
  Result operator()(const LogAddExp* /*op*/) const { return {}; }
  Result operator()(const Covariance* /*op*/) const { return {}; }
  Result operator()(const Correlation* /*op*/) const { return {}; }
};

class TemporariesOfOneOperand : public testing::TestWithParam<int> {
 protected:
  test::ThreadScope scope_{GetParam()};
};

TEST_P(TemporariesOfOneOperand, AreRowsAtMost) {
  const Tensor plain = ones({side, side});
  const Tensor masks[] = {ones({side, side}, DType::boolean), ones({side, 1}, DType::boolean),
                          ones({side}, DType::boolean)};
  for (const Tensor& x : {plain, ops::transpose(plain, 0, 1)}) {
    for (const Tensor& mask : masks) {
      for (const std::optional<std::int64_t> dim : {std::optional<std::int64_t>(), {0}, {1}}) {
        for (const Op& op : all_ops) {
          const auto taken = temporary_bytes([&] { return std::visit(Call{x, mask, dim}, op); });
          const char* const name = std::visit([](const auto* o) { return o->name; }, op);
          EXPECT_LE(taken.value_or(0), bound(side, side, GetParam())) << fmt::format(
              "{} dim {} mask {} strides {}", name, dim.value_or(-1), mask.shape(), x.strides());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(MaskedMemory, TemporariesOfOneOperand, testing::Values(1, 2, 4),
                         [](const auto& tested) { return fmt::format("{}Threads", tested.param); });

class TemporariesOfTwoOperands : public TemporariesOfOneOperand {};

TEST_P(TemporariesOfTwoOperands, AreOneOfTheSizeOfTheInputAtMost) {
  const Tensor x = ones({side, side});
  const Tensor mask = ones({side, side}, DType::boolean);
  const auto most = static_cast<std::size_t>(x.bytes()) + bound(side, side, GetParam());
  const auto mean = [&](const Dims& dims) {
    return temporary_bytes(
        [&] { return std::optional(weighted_mean(x, x, dims, {.mask = mask})); });
  };
  EXPECT_LE(*mean({}), most);
  EXPECT_LE(*mean({0}), most);
  EXPECT_LE(*mean({1}), most);
  const LogAddExpOptions options{.input_mask = mask, .other_mask = mask};
  EXPECT_LE(*temporary_bytes([&] { return std::optional(logaddexp(x, x, options)); }), most);
}

INSTANTIATE_TEST_SUITE_P(MaskedMemory, TemporariesOfTwoOperands, testing::Values(1, 4),
                         [](const auto& tested) { return fmt::format("{}Threads", tested.param); });

TEST(MaskedMemory, CovariancesHaveSomeTemporariesOfTheSizeOfTheInput) {
  const test::ThreadScope scope(2);
  const Tensor x = ones({512, 512});
  const Tensor mask = ones({512, 512}, DType::boolean);
  const std::size_t most = 10 * static_cast<std::size_t>(x.bytes());
  EXPECT_LE(*temporary_bytes([&] { return std::optional(cov(x, {.mask = mask})); }), most);
  EXPECT_LE(*temporary_bytes([&] { return std::optional(corrcoef(x, {.mask = mask})); }), most);
}

}  // namespace
}  // namespace loup::masked
