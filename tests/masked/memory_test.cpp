#include <optional>
#include <variant>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/memory/pool.h"
#include "loup/ops/views.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

// No operator has temporaries of the size of its input: beside its result it takes some numbers for
// every row, and each thread has room for some rows. Covariances take some numbers for every pair
// of rows, as their result does.

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
  Result operator()(const WeightedMean* op) const { return (*op)(x, x, dims(), {.mask = mask}); }
  Result operator()(const LogAddExp* op) const {
    if (dim) return {};
    return (*op)(x, x, {.input_mask = mask, .other_mask = mask});
  }
  // Those of pairs have a test of their own.
  Result operator()(const Covariance* /*op*/) const { return {}; }
  Result operator()(const Correlation* /*op*/) const { return {}; }
};

class Temporaries : public testing::TestWithParam<int> {
 protected:
  test::ThreadScope scope_{GetParam()};
};

TEST_P(Temporaries, AreRowsAtMost) {
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

TEST_P(Temporaries, AreRowsAtMostWhereElementsAreConverted) {
  const Tensor x = ones({side, side}, DType::bf16);
  const Tensor weights = ones({side, side}, DType::f16);
  const Tensor mask = ones({side, side}, DType::boolean);
  for (const Dims& dims : {Dims(), Dims{0}, Dims{1}}) {
    const auto mean = temporary_bytes([&] {
      return std::optional(weighted_mean(x, weights, dims, {.mask = mask, .dtype = DType::f64}));
    });
    EXPECT_LE(*mean, bound(side, side, GetParam())) << fmt::format("{}", dims);
  }
  const LogAddExpOptions options{.input_mask = mask, .dtype = DType::f64};
  const Tensor other = ones({side, side});
  const auto sums = temporary_bytes([&] { return std::optional(logaddexp(x, other, options)); });
  EXPECT_LE(*sums, bound(side, side, GetParam()));
}

TEST_P(Temporaries, OfCovariancesArePairsAndBlocksAtMost) {
  constexpr std::int64_t variables = 64;
  constexpr std::int64_t observations = 64 * 1024;  // 16 MB of float32, and as many of int32
  const std::size_t most =
      1024 * variables * variables + static_cast<std::size_t>(GetParam()) * 1024 * 1024;
  const Tensor mask = ones({variables, observations}, DType::boolean);
  const Tensor weights = ones({observations});
  const auto of_one = [](const MaskedTensor& x) { return x.get_data(); };
  for (const Tensor& x :
       {ones({variables, observations}), ones({variables, observations}, DType::i32),
        ops::transpose(ones({observations, variables}), 0, 1)}) {
    const auto taken = [&](const auto& call) {
      return *temporary_bytes([&] { return std::optional(call()); });
    };
    const std::size_t with_weights = most + 4 * static_cast<std::size_t>(weights.bytes());
    EXPECT_LE(taken([&] { return cov(x); }), most);
    EXPECT_LE(taken([&] { return cov(x, {.mask = mask}); }), most);
    EXPECT_LE(taken([&] { return cov(x, {.aweights = weights, .mask = mask}); }), with_weights);
    EXPECT_LE(taken([&] { return of_one(cov(as_masked_tensor(x, mask))); }), most);
    EXPECT_LE(taken([&] { return corrcoef(x); }), most);
    EXPECT_LE(taken([&] { return corrcoef(x, {.mask = mask}); }), most);
  }
}

INSTANTIATE_TEST_SUITE_P(MaskedMemory, Temporaries, testing::Values(1, 2, 4),
                         [](const auto& tested) { return fmt::format("{}Threads", tested.param); });

}  // namespace
}  // namespace loup::masked
