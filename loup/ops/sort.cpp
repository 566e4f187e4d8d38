#include "loup/ops/sort.h"

#include <algorithm>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/sort.h"
#include "loup/ops/copy.h"
#include "loup/ops/lookup.h"
#include "loup/ops/shape.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

/// Rows of fewer elements are sorted by one thread, and several of them in one task.
constexpr std::int64_t long_row = 64 * 1024;
constexpr std::int64_t task_elements = 16 * 1024;
/// Where at least this part of a row is wanted, sorting all of it is as fast.
constexpr std::int64_t worth_selecting = 8;

/// Calls `run(row, parts)` for every row: many rows on several threads, or the parts of a long one.
template <class Run>
void for_each_row(std::int64_t rows, std::int64_t count, Run&& run) {
  if (count >= long_row && rows < num_threads()) {
    for (std::int64_t row = 0; row < rows; ++row) run(row, std::int64_t{num_threads()});
    return;
  }
  const std::int64_t group = std::clamp<std::int64_t>(task_elements / count, 1, rows);
  // Sorting takes longer than reading: threads are worth it sooner.
  parallel_for((rows + group - 1) / group, 64 * rows * count, [&](std::int64_t task) {
    const std::int64_t end = std::min(rows, (task + 1) * group);
    for (std::int64_t row = task * group; row < end; ++row) run(row, 1);
  });
}

/// The first `kept` elements of the rows of a contiguous tensor whose dim to sort is the last.
Sorted sorted_rows(const Tensor& x, std::int64_t kept, bool descending, bool with_values) {
  const std::int64_t count = x.shape().back();
  Shape shape = x.shape();
  shape[x.ndim() - 1] = kept;
  Sorted result{with_values ? empty(shape, x.dtype()) : Tensor(), empty(shape, DType::i64)};
  if (result.indices.size() == 0) return result;
  const std::int64_t rows = x.size() / count;
  const std::int64_t bytes = item_bytes(x.dtype());
  const kernels::Sorting sorting{x.dtype(), count, descending};
  auto* const positions = reinterpret_cast<std::int64_t*>(result.indices.raw_data());
  for_each_row(rows, count, [&](std::int64_t row, std::int64_t parts) {
    const std::byte* const from = x.raw_data() + row * count * bytes;
    std::byte* const to = with_values ? result.values.raw_data() + row * kept * bytes : nullptr;
    if (kept < count / worth_selecting) {
      return kernels::select_row(sorting, kept, from, to, positions + row * kept, parts);
    }
    const Tensor scratch = empty({kernels::sort_scratch_bytes(sorting)}, DType::u8);
    if (kept == count) {
      return kernels::sort_row(sorting, from, to, positions + row * count, scratch.raw_data(),
                               parts);
    }
    const Tensor values = empty({count}, x.dtype());
    const Tensor places = empty({count}, DType::i64);
    auto* const all = reinterpret_cast<std::int64_t*>(places.raw_data());
    kernels::sort_row(sorting, from, values.raw_data(), all, scratch.raw_data(), parts);
    std::copy_n(all, kept, positions + row * kept);
    if (to != nullptr) std::copy_n(values.raw_data(), kept * bytes, to);
  });
  return result;
}

Sorted run_sort(const char* operation, const Tensor& x, std::int64_t dim, std::int64_t kept,
                bool descending, bool with_values) {
  const autograd::RecordingScope scope(false);
  const int d = normalize_dim(operation, dim, x.ndim());
  if (x.ndim() == 0) {
    return {with_values ? clone(x) : Tensor(), zeros({}, DType::i64)};
  }
  const Tensor lines = contiguous(movedim(x.detach(), d, -1));
  const Sorted rows = sorted_rows(lines, kept, descending, with_values);
  const auto back = [d](const Tensor& y) { return contiguous(movedim(y, -1, d)); };
  return {with_values ? back(rows.values) : Tensor(), back(rows.indices)};
}

std::int64_t count_along(const char* operation, const Tensor& x, std::int64_t dim) {
  const int d = normalize_dim(operation, dim, x.ndim());
  return x.ndim() == 0 ? 1 : x.shape()[d];
}

void record_sort(const char* operation, const Tensor& x, std::int64_t dim, Sorted& result) {
  if (!autograd::is_recorded(x)) return;
  const bool is_number = x.ndim() == 0;
  const int d = normalize_dim(operation, dim, x.ndim());
  autograd::record(operation, result.values, {x}, {SavedTensor(result.indices)},
                   [=, shape = x.shape()](const Saved& saved, const Gradient& g) {
                     if (is_number) return std::vector<Gradient>{g};
                     const Lookup lookup = element_lookup(operation, shape, d, saved[0]);
                     return std::vector<Gradient>{spread(lookup, g)};
                   });
}

}  // namespace

Sorted sort(const Tensor& x, std::int64_t dim, bool descending) {
  const std::int64_t count = count_along("sort", x, dim);
  Sorted result = run_sort("sort", x, dim, count, descending, true);
  record_sort("sort", x, dim, result);
  return result;
}

Tensor argsort(const Tensor& x, std::int64_t dim, bool descending) {
  const std::int64_t count = count_along("argsort", x, dim);
  return run_sort("argsort", x, dim, count, descending, false).indices;
}

Sorted topk(const Tensor& x, std::int64_t k, std::int64_t dim, bool largest) {
  const std::int64_t count = count_along("topk", x, dim);
  const std::int64_t least = x.ndim() == 0 ? 1 : 0;
  if (k < least || k > count) {
    throw ValueError("topk: expected k from {} to {}, got {}", least, count, k);
  }
  Sorted result = run_sort("topk", x, dim, k, largest, true);
  record_sort("topk", x, dim, result);
  return result;
}

}  // namespace loup::ops
