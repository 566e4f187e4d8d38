#include <variant>

#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/memory/pool.h"
#include "loup/ops/views.h"
#include "tests/support/tensors.h"

// No operator has temporaries of the size of its input: what it takes beside its result is bounded.

namespace loup::masked {
namespace {

constexpr std::int64_t side = 2048;
constexpr std::size_t bound = std::size_t{4} << 20U;  // the input has 16 MB, its mask 4

/// Calls an operator along `dim`, or over everything.
struct Call {
  const Tensor& x;
  const Tensor& mask;
  std::optional<std::int64_t> dim;

  Dims dims() const { return dim ? Dims{*dim} : Dims{}; }

  template <class Reduce>
  Tensor operator()(const Reduce* op) const {  // sum, var and their like
    return (*op)(x, dims(), {.mask = mask});
  }
  Tensor operator()(const Norm* op) const { return (*op)(x, 2, dims(), {.mask = mask}); }
  Tensor operator()(const PairReduction* op) const {
    if (!dim && op->takes_one_dim) return zeros({1});
    return (*op)(x, dims(), {.mask = mask}).first;
  }
  Tensor operator()(const Normalization* op) const {
    return (*op)(x, dim.value_or(1), {.mask = mask});
  }
  Tensor operator()(const Scan* op) const { return (*op)(x, dim.value_or(1), {.mask = mask}); }
  Tensor operator()(const NormDivision* op) const { return (*op)(x, 2, dims(), {.mask = mask}); }
  Tensor operator()(const Median* op) const { return (*op)(x, dim.value_or(1), {.mask = mask}); }
  // Selection has room for as many elements as a line has.
  Tensor operator()(const Quantile* op) const {
    return (*op)(x, 0.3, dim.value_or(1), {.mask = mask});
  }
  Tensor operator()(const Histogram* op) const { return (*op)(x, 10, {.mask = mask}).counts; }
  // Those of two operands, and products of matrices, which are packed.
  Tensor operator()(const WeightedMean* /*op*/) const { return zeros({1}); }
  Tensor operator()(const LogAddExp* /*op*/) const { return zeros({1}); }
  Tensor operator()(const Covariance* /*op*/) const { return zeros({1}); }
  Tensor operator()(const Correlation* /*op*/) const { return zeros({1}); }
};

TEST(MaskedMemory, TemporariesAreSmall) {
  const Tensor plain = ones({side, side});
  const Tensor masks[] = {ones({side, side}, DType::boolean), ones({side, 1}, DType::boolean),
                          ones({side}, DType::boolean)};
  for (const Tensor& x : {plain, ops::transpose(plain, 0, 1)}) {
    for (const Tensor& mask : masks) {
      for (const std::optional<std::int64_t> dim : {std::optional<std::int64_t>(), {0}, {1}}) {
        for (const Op& op : all_ops) {
          memory::reset_pool_peak();
          const std::size_t before = memory::pool_statistics().peak_bytes;
          const Tensor result = std::visit(Call{x, mask, dim}, op);
          const std::size_t taken = memory::pool_statistics().peak_bytes - before;
          const char* const name = std::visit([](const auto* o) { return o->name; }, op);
          EXPECT_LE(taken, static_cast<std::size_t>(result.bytes()) + bound) << fmt::format(
              "{} dim {} mask {} strides {}", name, dim.value_or(-1), mask.shape(), x.strides());
        }
      }
    }
  }
}

}  // namespace
}  // namespace loup::masked
