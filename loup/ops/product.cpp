#include "loup/ops/product.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "loup/base/axes.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/matmul.h"
#include "loup/memory/pool.h"
#include "loup/ops/copy.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

using kernels::ConstPlane;
using kernels::depth_block;
using kernels::LeftBlock;
using kernels::MatmulKernel;

/// A packed block that is used again and again stays in the second-level cache.
constexpr std::int64_t block_bytes = 256 * 1024;
/// What is packed for all tasks at once: at most 32 MB of float32.
constexpr std::int64_t shared_lanes = 4096;
constexpr std::int64_t shared_depth = 8 * depth_block;
/// Enough tasks for a handful of threads to finish together, each of them worth starting.
constexpr std::int64_t most_tasks = 24;
constexpr std::int64_t task_work = 128 * 1024;
/// Fewer multiplications than these are done faster by one thread.
constexpr std::int64_t serial_work = 1024 * 1024;
/// Vectors are multiplied in parts of this length, and the results are added.
constexpr std::int64_t vector_part = 16 * depth_block;
constexpr std::int64_t vector_task = 64 * 1024;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Memory of the pool.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        data_(static_cast<std::byte*>(memory::allocate(bytes_))) {}
  ~Buffer() { memory::release(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

struct Range {
  std::int64_t first, count;
};
/// Part i of [0, count) in pieces of `piece`.
Range part_of(std::int64_t count, std::int64_t piece, std::int64_t i) {
  return {i * piece, std::min(piece, count - i * piece)};
}

template <class Body>
void for_each(std::int64_t count, bool is_parallel, const Body& body) {
  if (is_parallel) return parallel_for(count, body);
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// Products c[m, n] = a[m, k] b[k, n] of one size.
struct Size {
  const MatmulKernel& kernel;
  DType computed;
  std::int64_t m, n, k;

  std::int64_t item() const { return item_bytes(computed); }
  std::int64_t work() const { return m * n * k; }
};
/// The operands of one of them; c is contiguous and of the compute type.
struct Operands {
  ConstPlane a, b;
  std::byte* c;
};

ConstPlane shifted(ConstPlane x, std::int64_t row, std::int64_t col) {
  x.data += (row * x.row + col * x.col) * item_bytes(x.dtype);
  return x;
}

/// Rows of a or columns of b: what is packed in panels.
class Side {
 public:
  Side(const Size& size, bool is_left) : size_(size), is_left_(is_left) {}

  bool is_left() const { return is_left_; }
  std::int64_t lanes() const { return is_left_ ? size_.m : size_.n; }
  std::int64_t panel() const { return is_left_ ? size_.kernel.tile_rows : size_.kernel.tile_cols; }
  /// How much a packed block takes. Blocks of whole panels follow each other.
  std::int64_t bytes(std::int64_t lanes, std::int64_t depth) const {
    const std::int64_t unit = is_left_ ? size_.kernel.tile_rows : size_.kernel.lanes;
    return ceil_div(lanes, unit) * unit * depth * size_.item();
  }
  void pack(const Operands& x, Range lanes, Range depth, std::byte* to) const {
    if (is_left_) {
      size_.kernel.pack_left(shifted(x.a, lanes.first, depth.first), lanes.count, depth.count, to);
    } else {
      size_.kernel.pack_right(shifted(x.b, depth.first, lanes.first), depth.count, lanes.count, to);
    }
  }

 private:
  const Size& size_;
  bool is_left_;
};

/// The shorter side is packed as a whole, the longer one is cut into tasks that pack their own
/// part.
class MatrixPlan {
 public:
  MatrixPlan(const Size& size, const Operands& like, bool is_parallel)
      : size_(size),
        split_(size_, size.m >= size.n),
        shared_(size_, size.m < size.n),
        is_parallel_(is_parallel) {
    const std::int64_t panels = ceil_div(split_.lanes(), split_.panel());
    const std::int64_t most = block_bytes / (depth_block * size.item() * split_.panel());
    const std::int64_t wanted =
        is_parallel ? std::clamp<std::int64_t>(size.work() / task_work, 1, most_tasks) : 1;
    block_ = split_.panel() * std::max<std::int64_t>(1, std::min(most, ceil_div(panels, wanted)));
    // Packing pays when an element is used often enough.
    reads_left_ = split_.is_left() && size.n <= 4 * size.kernel.tile_cols &&
                  like.a.dtype == size.computed && (like.a.row == 1 || like.a.col == 1);
  }

  /// How much memory a run needs, for all tasks and for each.
  std::int64_t shared_bytes() const {
    return shared_.bytes(std::min(shared_.lanes(), shared_lanes), std::min(size_.k, shared_depth));
  }
  std::int64_t own_bytes() const {
    if (reads_left_) return 0;
    return split_.bytes(std::min(split_.lanes(), block_), std::min(size_.k, depth_block));
  }

  void operator()(const Operands& x, std::byte* shared, std::byte* own) const {
    for (std::int64_t i = 0; i < shared_.lanes(); i += shared_lanes) {
      for (std::int64_t q = 0; q < size_.k; q += shared_depth) {
        const Range lanes{i, std::min(shared_lanes, shared_.lanes() - i)};
        const Range depth{q, std::min(shared_depth, size_.k - q)};
        pack_shared(x, lanes, depth, shared);
        for_each(ceil_div(split_.lanes(), block_), is_parallel_, [&](std::int64_t task) {
          const Range part = part_of(split_.lanes(), block_, task);
          if (!is_parallel_) return multiply(x, part, lanes, depth, shared, own);
          const Buffer buffer(own_bytes());
          multiply(x, part, lanes, depth, shared, buffer.data());
        });
      }
    }
  }

 private:
  void pack_shared(const Operands& x, Range lanes, Range depth, std::byte* to) const {
    const std::int64_t group = is_parallel_ ? 8 * shared_.panel() : lanes.count;
    const std::int64_t groups = ceil_div(lanes.count, group);
    for_each(ceil_div(depth.count, depth_block) * groups, is_parallel_, [&](std::int64_t task) {
      const Range part = part_of(lanes.count, group, task % groups);
      const Range layer = part_of(depth.count, depth_block, task / groups);
      shared_.pack(
          x, {lanes.first + part.first, part.count}, {depth.first + layer.first, layer.count},
          to + shared_.bytes(lanes.count, layer.first) + shared_.bytes(part.first, layer.count));
    });
  }

  void multiply(const Operands& x, Range part, Range lanes, Range depth, const std::byte* shared,
                std::byte* own) const {
    const Range rows = split_.is_left() ? part : lanes;
    const Range cols = split_.is_left() ? lanes : part;
    std::byte* const c = x.c + (rows.first * size_.n + cols.first) * size_.item();
    for (std::int64_t q = 0; q < depth.count; q += depth_block) {
      const Range here{depth.first + q, std::min(depth_block, depth.count - q)};
      if (!reads_left_) split_.pack(x, part, here, own);
      const std::byte* const layer = shared + shared_.bytes(lanes.count, q);
      const LeftBlock left = reads_left_ ? read_left(x.a, rows, here)
                                         : packed_left(split_.is_left() ? own : layer, here.count);
      size_.kernel.multiply(left, split_.is_left() ? layer : own, rows.count, here.count,
                            cols.count, c, size_.n, here.first > 0);
    }
  }

  LeftBlock packed_left(const std::byte* data, std::int64_t depth) const {
    const std::int64_t rows = size_.kernel.tile_rows;
    return {data, rows * depth, 1, rows};
  }
  LeftBlock read_left(const ConstPlane& a, Range rows, Range depth) const {
    return {shifted(a, rows.first, depth.first).data, size_.kernel.tile_rows * a.row, a.row, a.col};
  }

  Size size_;
  Side split_, shared_;
  bool is_parallel_;
  bool reads_left_;
  std::int64_t block_;
};

/// A layout is one or the other whatever its role, so that a packed copy gives the same bits.
bool is_row_major(const ConstPlane& x) { return std::abs(x.col) <= std::abs(x.row); }

/// Products in which a or b is a vector: c[lane] is the product of the vector and one lane of the
/// other operand. The matrix is only read once, so nothing is packed that need not be.
class VectorPlan {
 public:
  VectorPlan(const Size& size, const Operands& like, bool is_parallel)
      : size_(size),
        is_parallel_(is_parallel),
        lanes_(size.n == 1 ? size.m : size.n),
        is_along_(lanes_ == 1 || is_row_major(size.n == 1 ? like.a : like.b) == (size.n == 1)),
        parts_(ceil_div(size.k, vector_part)),
        group_(ceil_div(vector_task / std::min(size.k, vector_part), 64) * 64) {}

  std::int64_t bytes() const {
    return vector_bytes() + (parts_ > 1 ? parts_ * lanes_ * size_.item() : 0);
  }

  void operator()(const Operands& x, std::byte* buffer) const {
    const bool is_left = size_.n == 1;  // the matrix is a
    const ConstPlane matrix = is_left ? x.a : ConstPlane{x.b.data, x.b.dtype, x.b.col, x.b.row};
    const ConstPlane vector = is_left ? ConstPlane{x.b.data, x.b.dtype, 0, x.b.row} : x.a;
    const std::int64_t item = size_.item();
    std::byte* const sums = parts_ > 1 ? buffer + vector_bytes() : x.c;
    kernels::copy_plane({buffer, size_.computed, 0, 1}, vector, 1, size_.k);
    const std::int64_t groups = ceil_div(lanes_, group_);
    for_each(groups * parts_, is_parallel_, [&](std::int64_t task) {
      const std::int64_t part = task / groups;
      const Range lanes = part_of(lanes_, group_, task % groups);
      const Range depth = part_of(size_.k, vector_part, part);
      multiply(shifted(matrix, lanes.first, depth.first), lanes.count, depth.count,
               buffer + depth.first * item, sums + (part * lanes_ + lanes.first) * item);
    });
    for (std::int64_t part = 0; parts_ > 1 && part < parts_; ++part) {
      const Array c{x.c, size_.computed, {1}};
      const Array sum{sums + part * lanes_ * item, size_.computed, {1}};
      part == 0 ? kernels::copy({lanes_}, c, sum) : kernels::add({lanes_}, c, c, sum);
    }
  }

 private:
  std::int64_t vector_bytes() const { return ceil_div(size_.k * size_.item(), 64) * 64; }

  /// Elements come from `matrix`, of which rows are lanes.
  void multiply(const ConstPlane& matrix, std::int64_t lanes, std::int64_t depth,
                const std::byte* x, std::byte* out) const {
    const bool is_contiguous = is_along_ ? matrix.col == 1 || depth == 1 : matrix.row == 1;
    if (matrix.dtype == size_.computed && is_contiguous) {
      run(matrix.data, is_along_ ? matrix.row : matrix.col, lanes, depth, x, out, false);
    } else {
      multiply_converted(matrix, lanes, depth, x, out);
    }
  }

  void run(const std::byte* block, std::int64_t step, std::int64_t lanes, std::int64_t depth,
           const std::byte* x, std::byte* out, bool adds) const {
    if (is_along_) {
      size_.kernel.rows_times_vector(block, step, lanes, depth, x, out, adds);
    } else {
      size_.kernel.vector_times_columns(x, block, step, depth, lanes, out, adds);
    }
  }

  /// Converts pieces that stay in the first-level cache.
  void multiply_converted(const ConstPlane& matrix, std::int64_t lanes, std::int64_t depth,
                          const std::byte* x, std::byte* out) const {
    alignas(64) std::byte piece[vector_part * 8];
    const std::int64_t depths = is_along_ ? depth : std::min(depth, depth_block);
    const std::int64_t height = vector_part / depths;
    for (std::int64_t i = 0; i < lanes; i += height) {
      const std::int64_t here = std::min(height, lanes - i);
      for (std::int64_t q = 0; q < depth; q += depths) {
        const std::int64_t count = std::min(depths, depth - q);
        const ConstPlane from = shifted(matrix, i, q);
        if (is_along_) {
          kernels::copy_plane({piece, size_.computed, count, 1}, from, here, count);
        } else {
          kernels::copy_plane({piece, size_.computed, here, 1},
                              {from.data, from.dtype, from.col, from.row}, count, here);
        }
        run(piece, is_along_ ? count : here, here, count, x + q * size_.item(),
            out + i * size_.item(), q > 0);
      }
    }
  }

  Size size_;
  bool is_parallel_;
  std::int64_t lanes_;
  bool is_along_;
  std::int64_t parts_, group_;
};

ConstPlane plane_of(const Tensor& x) {
  const int last = x.ndim() - 1;
  return {x.raw_data(), x.dtype(), x.strides()[last - 1], x.strides()[last]};
}

Axes<2> batch_of(const Tensor& a, const Tensor& b) {
  Axes<2> axes;
  for (int i = 0; i + 2 < a.ndim(); ++i) {
    axes.push({a.shape()[i], {a.strides()[i], b.strides()[i]}});
  }
  axes.merge();
  return axes;
}

void multiply_some(const Size& size, const Operands& first, const Axes<2>& batch, Range part,
                   bool is_parallel) {
  const auto for_entries = [&](const auto& run) {
    for (std::int64_t i = part.first; i < part.first + part.count; ++i) {
      Offsets<2> offsets{};
      batch.advance(i, offsets);
      Operands x = first;
      x.a.data += offsets[0] * item_bytes(x.a.dtype);
      x.b.data += offsets[1] * item_bytes(x.b.dtype);
      x.c += i * size.m * size.n * size.item();
      run(x);
    }
  };
  if (size.m == 1 || size.n == 1) {
    const VectorPlan plan(size, first, is_parallel);
    const Buffer buffer(plan.bytes());
    for_entries([&](const Operands& x) { plan(x, buffer.data()); });
  } else {
    const MatrixPlan plan(size, first, is_parallel);
    const Buffer shared(plan.shared_bytes());
    const Buffer own(is_parallel ? 0 : plan.own_bytes());
    for_entries([&](const Operands& x) { plan(x, shared.data(), own.data()); });
  }
}

/// Threads share the entries of a batch when there are many, otherwise each entry.
void multiply_all(const Size& size, const Operands& first, const Axes<2>& batch) {
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
  const Size size{kernels::matmul_kernel(type), c.dtype(), shape[last - 1], shape[last],
                  a.shape()[last]};
  if (size.k == 0) {
    fill_(c, 0);
  } else if (c.size() > 0) {
    multiply_all(size, {plane_of(a), plane_of(b), c.raw_data()}, batch_of(a, b));
  }
  return to(c, a.dtype());
}

Tensor product_counted(const Tensor& a, const std::optional<Tensor>& a_mask, const Tensor& b,
                       const std::optional<Tensor>& b_mask) {
  const ComputeType type = compute_type(a.dtype());
  const kernels::MatmulKernel& kernel = kernels::matmul_kernel(type);
  const Tensor c = zeros({a.size(0), b.size(1)}, storage_type(type));
  const Size size{kernel, c.dtype(), a.size(0), b.size(1), a.size(1)};
  const Tensor all = ones({1, 1}, DType::boolean);
  const auto mask_of = [&](const std::optional<Tensor>& mask, const Tensor& x) {
    return mask ? plane_of(*mask)
                : plane_of(all.with_layout(broadcast("", "", all.layout(), x.shape())));
  };
  const Operands values{plane_of(a), plane_of(b), c.raw_data()};
  const Operands masks{mask_of(a_mask, a), mask_of(b_mask, b), nullptr};
  const Side left(size, true);
  const Side right(size, false);
  const std::int64_t block = 8 * kernel.tile_rows;
  parallel_for(ceil_div(size.m, block), size.work(), [&](std::int64_t task) {
    const Range rows = part_of(size.m, block, task);
    const Range cols{0, size.n};
    const std::int64_t most = std::min(size.k, depth_block);
    const Buffer a_values(left.bytes(rows.count, most));
    const Buffer a_counts(left.bytes(rows.count, most));
    const Buffer b_values(right.bytes(size.n, most));
    const Buffer b_counts(right.bytes(size.n, most));
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
