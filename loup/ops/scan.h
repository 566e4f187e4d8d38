#pragma once

#include <cstdint>

#include "loup/kernels/scan.h"
#include "loup/ops/normalize.h"
#include "loup/ops/reduce.h"
#include "loup/tensor/tensor.h"

// Running sums and products.

namespace loup::ops {

/// What the backward rule of a scan may need of the call it belongs to.
struct ScanRecord {
  int dim;
  bool reversed;
  Tensor input;                // in the dtype of the output
  std::optional<Tensor> mask;  // bool, of the input's shape
  Tensor output;               // empty unless the rule reads it
};
/// The gradient of the input where it flows, computed from that of the output.
using ScanRule = Tensor (*)(const ScanRecord&, const Tensor& gradient);

/// What a scan is.
struct ScanSpec {
  const char* name;
  const char* summary;
  kernels::ScanOp kernel;
  double hidden;  // what a line of which nothing counts becomes
  ScanRule backward;
  bool saves_all;  // whether the rule reads input and output
};

/// Running values along `dim` of `x`, from the last element to the first if `reversed`. Elements
/// where the mask is false are not looked at: they carry the value before them. Integers and bool
/// give int64 unless another dtype is asked for; they wrap.
LOUP_EXPORT Tensor scan(const ScanSpec& spec, const Tensor& x, std::int64_t dim,
                        const LineArguments& arguments = {}, bool reversed = false);

namespace rules {
LOUP_EXPORT Tensor cumsum(const ScanRecord& call, const Tensor& g);
LOUP_EXPORT Tensor cumprod(const ScanRecord& call, const Tensor& g);
}  // namespace rules

/// Described here, not in the list of masked operators, because backward rules need them.
inline constexpr ScanSpec cumsum_spec{.name = "cumsum",
                                      .summary = "Running sums of the elements that count.",
                                      .kernel = kernels::ScanOp::sum,
                                      .hidden = 0,
                                      .backward = rules::cumsum,
                                      .saves_all = false};
inline constexpr ScanSpec cumprod_spec{.name = "cumprod",
                                       .summary = "Running products of the elements that count.",
                                       .kernel = kernels::ScanOp::product,
                                       .hidden = 1,
                                       .backward = rules::cumprod,
                                       .saves_all = true};

}  // namespace loup::ops
