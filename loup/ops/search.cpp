#include "loup/ops/search.h"

#include <algorithm>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/compact.h"
#include "loup/kernels/search.h"
#include "loup/ops/copy.h"
#include "loup/ops/gather.h"
#include "loup/ops/masking.h"
#include "loup/ops/shape.h"
#include "loup/ops/sort.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

constexpr std::int64_t search_task_elements = 16 * 1024;

std::int64_t* integers_in(const Tensor& x) { return reinterpret_cast<std::int64_t*>(x.raw_data()); }

/// Numbers the runs of a sorted sequence, and writes each number where the element once stood.
Tensor inverse_of(const Tensor& is_first, const Tensor& positions) {
  const std::int64_t count = positions.size();
  const Tensor result = empty({count}, DType::i64);
  const auto marks = is_first.data<const bool>();
  const auto places = positions.data<const std::int64_t>();
  const std::int64_t parts = ceil_div(count, search_task_elements);
  const auto range = [&](std::int64_t part) {
    return std::pair{static_cast<std::size_t>(part * search_task_elements),
                     static_cast<std::size_t>(std::min(count, (part + 1) * search_task_elements))};
  };
  std::vector<std::int64_t> starts(static_cast<std::size_t>(parts) + 1, 0);
  parallel_for(parts, count, [&](std::int64_t part) {
    const auto [begin, end] = range(part);
    starts[static_cast<std::size_t>(part) + 1] =
        std::count(marks.begin() + static_cast<std::ptrdiff_t>(begin),
                   marks.begin() + static_cast<std::ptrdiff_t>(end), true);
  });
  for (std::size_t part = 1; part < starts.size(); ++part) starts[part] += starts[part - 1];
  parallel_for(parts, 16 * count, [&](std::int64_t part) {
    std::int64_t number = starts[static_cast<std::size_t>(part)] - 1;
    const auto [begin, end] = range(part);
    for (std::size_t i = begin; i < end; ++i) {
      number += marks[i] ? 1 : 0;
      integers_in(result)[places[i]] = number;
    }
  });
  return result;
}

Tensor counts_of(const Tensor& is_first) {
  const Tensor starts = nonzero_tuple(is_first)[0];
  const Tensor result = empty({starts.size()}, DType::i64);
  const auto from = starts.data<const std::int64_t>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t next = i + 1 < from.size() ? from[i + 1] : is_first.size();
    integers_in(result)[i] = next - from[i];
  }
  return result;
}

Unique unique_elements(const Tensor& x, const UniqueOptions& options) {
  const Sorted sorted = sort(reshape(x, {-1}));
  const std::int64_t count = x.size();
  const Tensor is_first = empty({count}, DType::boolean);
  kernels::mark_first(x.dtype(), sorted.values.raw_data(), nullptr, count, 1,
                      reinterpret_cast<bool*>(is_first.raw_data()));
  Unique result{masked_select(sorted.values, is_first), {}, {}};
  if (options.inverse) result.inverse = reshape(inverse_of(is_first, sorted.indices), x.shape());
  if (options.counts) result.counts = counts_of(is_first);
  return result;
}

Unique unique_slices(const Tensor& x, const UniqueOptions& options) {
  if (x.ndim() == 0) throw ShapeError("unique: expected a tensor with dims, got 0-d");
  const int dim = normalize_dim("unique", *options.dim, x.ndim());
  const Tensor slices = contiguous(movedim(x, dim, 0));
  const std::int64_t rows = x.shape()[dim];
  const std::int64_t cols = rows == 0 ? 0 : x.size() / rows;
  const Tensor positions = empty({rows}, DType::i64);
  kernels::sort_lines(x.dtype(), slices.raw_data(), rows, cols, integers_in(positions));
  const Tensor is_first = empty({rows}, DType::boolean);
  kernels::mark_first(x.dtype(), slices.raw_data(), integers_in(positions), rows, cols,
                      reinterpret_cast<bool*>(is_first.raw_data()));
  Unique result{index_select(x, dim, masked_select(positions, is_first)), {}, {}};
  if (options.inverse) result.inverse = inverse_of(is_first, positions);
  if (options.counts) result.counts = counts_of(is_first);
  return result;
}

}  // namespace

Unique unique(const Tensor& x, const UniqueOptions& options) {
  const autograd::RecordingScope scope(false);
  const Tensor own = x.detach();
  return options.dim ? unique_slices(own, options) : unique_elements(own, options);
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right) {
  if (sorted_sequence.ndim() == 0) {
    throw ShapeError("searchsorted: expected a sequence with dims, got 0-d");
  }
  const bool is_shared = sorted_sequence.ndim() == 1;
  bool fits = is_shared || sorted_sequence.ndim() == values.ndim();
  for (int i = 0; fits && !is_shared && i + 1 < values.ndim(); ++i) {
    fits = sorted_sequence.shape()[i] == values.shape()[i];
  }
  if (!fits) {
    throw ShapeError(
        "searchsorted: expected a sequence of one dim, or one that agrees with the values {} but "
        "for the last dim, got {}",
        values.shape(), sorted_sequence.shape());
  }
  const autograd::RecordingScope scope(false);
  const DType dtype = promote(sorted_sequence.dtype(), values.dtype());
  const Tensor sequence = contiguous(to(sorted_sequence.detach(), dtype));
  const Tensor wanted = contiguous(to(values.detach(), dtype));
  Tensor result = empty(values.shape(), DType::i64);
  if (result.size() == 0) return result;
  const std::int64_t count = sequence.shape().back();
  const std::int64_t per_row = is_shared ? wanted.size() : wanted.shape().back();
  const std::int64_t part = std::min(per_row, search_task_elements);
  const std::int64_t parts = (per_row + part - 1) / part;
  const std::int64_t bytes = item_bytes(dtype);
  parallel_for(wanted.size() / per_row * parts, 64 * wanted.size(), [&](std::int64_t task) {
    const std::int64_t row = task / parts;
    const std::int64_t begin = row * per_row + task % parts * part;
    const std::int64_t end = std::min((row + 1) * per_row, begin + part);
    kernels::search_row(dtype, sequence.raw_data() + row * count * bytes, count,
                        wanted.raw_data() + begin * bytes, end - begin, right,
                        integers_in(result) + begin);
  });
  return result;
}

}  // namespace loup::ops
