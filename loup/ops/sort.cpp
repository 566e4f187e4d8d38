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
constexpr std::int64_t sort_task_elements = 16 * 1024;
/// Where a row is short, or at least this part of it is wanted, sorting all of it is as fast.
constexpr std::int64_t short_row = 64;
constexpr std::int64_t worth_selecting = 8;

/// The first `kept` elements of rows that lie one after the other.
class RowSorting {
 public:
  RowSorting(const Tensor& x, std::int64_t kept, bool descending, const Sorted& result)
      : sorting_{x.dtype(), x.shape().back(), descending},
        bytes_(item_bytes(x.dtype())),
        kept_(kept),
        from_(x.raw_data()),
        values_(result.values.raw_data()),
        positions_(reinterpret_cast<std::int64_t*>(result.indices.raw_data())) {}

  void run(std::int64_t rows) const {
    const std::int64_t count = sorting_.count;
    if (count >= long_row && rows < num_threads()) {
      for (std::int64_t row = 0; row < rows; ++row) sort_group(row, 1, num_threads());
      return;
    }
    const std::int64_t group = std::clamp<std::int64_t>(sort_task_elements / count, 1, rows);
    // Sorting takes longer than reading: threads are worth it sooner.
    parallel_for((rows + group - 1) / group, 64 * rows * count, [&](std::int64_t task) {
      sort_group(task * group, std::min(group, rows - task * group), 1);
    });
  }

 private:
  void sort_group(std::int64_t first, std::int64_t rows, std::int64_t parts) const {
    const std::int64_t count = sorting_.count;
    const std::byte* const from = from_ + first * count * bytes_;
    std::byte* const values = values_ != nullptr ? values_ + first * kept_ * bytes_ : nullptr;
    std::int64_t* const positions = positions_ + first * kept_;
    if (kept_ == count) return sort_whole(from, rows, values, positions, parts);
    if (count > short_row && kept_ < count / worth_selecting) {
      for (std::int64_t row = 0; row < rows; ++row) {
        kernels::select_row(sorting_, kept_, from + row * count * bytes_,
                            values != nullptr ? values + row * kept_ * bytes_ : nullptr,
                            positions + row * kept_, parts);
      }
      return;
    }
    const Tensor all_values = empty({rows * count * bytes_}, DType::u8);
    const Tensor all_positions = empty({rows * count}, DType::i64);
    auto* const places = reinterpret_cast<std::int64_t*>(all_positions.raw_data());
    sort_whole(from, rows, all_values.raw_data(), places, parts);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(places + row * count, kept_, positions + row * kept_);
      std::copy_n(all_values.raw_data() + row * count * bytes_, kept_ * bytes_,
                  values + row * kept_ * bytes_);
    }
  }

  void sort_whole(const std::byte* from, std::int64_t rows, std::byte* values,
                  std::int64_t* positions, std::int64_t parts) const {
    const Tensor scratch = empty({kernels::sort_scratch_bytes(sorting_)}, DType::u8);
    if (parts > 1) {
      kernels::sort_row(sorting_, from, values, positions, scratch.raw_data(), parts);
    } else {
      kernels::sort_rows(sorting_, rows, from, values, positions, scratch.raw_data());
    }
  }

  kernels::Sorting sorting_;
  std::int64_t bytes_;
  std::int64_t kept_;
  const std::byte* from_;
  std::byte* values_;  // null: not wanted
  std::int64_t* positions_;
};

/// Of a contiguous tensor whose dim to sort is the last.
Sorted sorted_rows(const Tensor& x, std::int64_t kept, bool descending, bool with_values) {
  Shape shape = x.shape();
  shape[x.ndim() - 1] = kept;
  const Sorted result{with_values ? empty(shape, x.dtype()) : Tensor(), empty(shape, DType::i64)};
  if (result.indices.size() == 0) return result;
  RowSorting(x, kept, descending, result).run(x.size() / x.shape().back());
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
                     return std::vector<Gradient>{spread_found(lookup, g)};
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
