#include "loup/ops/product.h"

#include "loup/base/axes.h"
#include "loup/ops/copy.h"
#include "loup/ops/product_plan.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using kernels::depth_block;

namespace {

/// Fewer multiplications than these are done faster by one thread.
constexpr std::int64_t serial_work = 1024 * 1024;
/// A right side of fewer bytes is packed by every thread for itself: panels that another core has
/// just written take longer to fetch than to pack.
constexpr std::int64_t own_right_bytes = 1024 * 1024;

ConstPlane plane_of(const Tensor& x) {
  const int last = x.ndim() - 1;
  return {x.raw_data(), x.dtype(), x.strides()[last - 1], x.strides()[last]};
}

Axes<2> batch_axes(const Tensor& a, const Tensor& b) {
  Axes<2> axes;
  for (int i = 0; i + 2 < a.ndim(); ++i) {
    axes.push({a.shape()[i], {a.strides()[i], b.strides()[i]}});
  }
  axes.merge();
  return axes;
}

void multiply_some(const ProductSize& size, const ProductOperands& first, const Axes<2>& batch,
                   Range part, bool is_parallel);

/// One product whose rows are shared out evenly.
void multiply_by_rows(const ProductSize& size, const ProductOperands& x) {
  const std::int64_t panel = size.kernel.tile_rows;
  const std::int64_t rows = ceil_div(ceil_div(size.m, num_threads()), panel) * panel;
  parallel_for(ceil_div(size.m, rows), [&](std::int64_t task) {
    const Range here = part_of(size.m, rows, task);
    ProductSize part = size;
    part.m = here.count;
    const ProductOperands own{shifted(x.a, here.first, 0), x.b,
                              x.c + here.first * size.n * size.item()};
    multiply_some(part, own, {}, {0, 1}, false);
  });
}

/// The entries `part` of a batch.
void multiply_some(const ProductSize& size, const ProductOperands& first, const Axes<2>& batch,
                   Range part, bool is_parallel) {
  const auto for_entries = [&](const auto& run) {
    for (std::int64_t i = part.first; i < part.first + part.count; ++i) {
      Offsets<2> offsets{};
      batch.advance(i, offsets);
      ProductOperands x = first;
      x.a.data += offsets[0] * item_bytes(x.a.dtype);
      x.b.data += offsets[1] * item_bytes(x.b.dtype);
      x.c += i * size.m * size.n * size.item();
      run(x);
    }
  };
  if (size.m == 1 || size.n == 1) {
    const VectorPlan plan(size, first, is_parallel);
    const Scratch buffer(static_cast<std::size_t>(plan.bytes()));
    for_entries([&](const ProductOperands& x) { plan(x, buffer.data()); });
  } else if (is_parallel && size.n * size.k * size.item() <= own_right_bytes &&
             size.m >= 4 * size.kernel.tile_rows * num_threads()) {
    for_entries([&](const ProductOperands& x) { multiply_by_rows(size, x); });
  } else {
    const MatrixPlan plan(size, first, is_parallel);
    const Scratch shared(static_cast<std::size_t>(plan.shared_bytes()));
    const Scratch own(static_cast<std::size_t>(is_parallel ? 0 : plan.own_bytes()));
    for_entries([&](const ProductOperands& x) { plan(x, shared.data(), own.data()); });
  }
}

/// Threads share the entries of a batch when there are many, otherwise each entry.
void multiply_all(const ProductSize& size, const ProductOperands& first, const Axes<2>& batch) {
  constexpr std::int64_t many = 8;
  const std::int64_t count = batch.iterations();
  if (count < many) return multiply_some(size, first, batch, {0, count}, size.work() > serial_work);
  const std::int64_t group = std::max<std::int64_t>(1, task_work / size.work());
  for_each(ceil_div(count, group), size.work() * count > serial_work, [&](std::int64_t task) {
    multiply_some(size, first, batch, part_of(count, group, task), false);
  });
}

}  // namespace

bool is_row_major(const Tensor& x) { return is_row_major(plane_of(x)); }

Tensor product(const Tensor& a, const Tensor& b) {
  const int last = a.ndim() - 1;
  Shape shape = a.shape();
  shape[last] = b.shape()[last];
  const ComputeType type = compute_type(a.dtype());
  const Tensor c = empty(shape, storage_type(type));
  const ProductSize size{kernels::matmul_kernel(type), c.dtype(), shape[last - 1], shape[last],
                         a.shape()[last]};
  if (size.k == 0) {
    fill_(c, 0);
  } else if (c.size() > 0) {
    multiply_all(size, {plane_of(a), plane_of(b), c.raw_data()}, batch_axes(a, b));
  }
  return to(c, a.dtype());
}

Tensor product_counted(const Tensor& a, const std::optional<Tensor>& a_mask, const Tensor& b,
                       const std::optional<Tensor>& b_mask) {
  const ComputeType type = compute_type(a.dtype());
  const kernels::MatmulKernel& kernel = kernels::matmul_kernel(type);
  const Tensor c = zeros({a.size(0), b.size(1)}, storage_type(type));
  const ProductSize size{kernel, c.dtype(), a.size(0), b.size(1), a.size(1)};
  const Tensor all = ones({1, 1}, DType::boolean);
  const auto mask_of = [&](const std::optional<Tensor>& mask, const Tensor& x) {
    return mask ? plane_of(*mask)
                : plane_of(all.with_layout(broadcast("", "", all.layout(), x.shape())));
  };
  const ProductOperands values{plane_of(a), plane_of(b), c.raw_data()};
  const ProductOperands masks{mask_of(a_mask, a), mask_of(b_mask, b), nullptr};
  const Side left(size, true);
  const Side right(size, false);
  const std::int64_t block = 8 * kernel.tile_rows;
  parallel_for(ceil_div(size.m, block), size.work(), [&](std::int64_t task) {
    const Range rows = part_of(size.m, block, task);
    const Range cols{0, size.n};
    const std::int64_t most = std::min(size.k, depth_block);
    const Scratch a_values(static_cast<std::size_t>(left.bytes(rows.count, most)));
    const Scratch a_counts(static_cast<std::size_t>(left.bytes(rows.count, most)));
    const Scratch b_values(static_cast<std::size_t>(right.bytes(size.n, most)));
    const Scratch b_counts(static_cast<std::size_t>(right.bytes(size.n, most)));
    for (std::int64_t q = 0; q < size.k; q += depth_block) {
      const Range depth{q, std::min(depth_block, size.k - q)};
      left.pack(values, rows, depth, a_values.data());
      left.pack(masks, rows, depth, a_counts.data());
      right.pack(values, cols, depth, b_values.data());
      right.pack(masks, cols, depth, b_counts.data());
      kernel.multiply_counted(a_values.data(), a_counts.data(), b_values.data(), b_counts.data(),
                              rows.count, depth.count, cols.count,
                              values.c + rows.first * size.n * size.item(), size.n, q > 0);
    }
  });
  return to(c, a.dtype());
}

}  // namespace loup::ops
