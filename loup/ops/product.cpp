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
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

using kernels::ConstPlane;
using kernels::depth_block;
using kernels::MatmulKernel;

/// A packed block that is used again and again stays in the second-level cache.
constexpr std::int64_t block_bytes = 256 * 1024;
/// What is packed for all tasks at once: at most 32 MB of float32.
constexpr std::int64_t shared_lanes = 4096;
constexpr std::int64_t shared_depth = 8 * depth_block;
/// Enough tasks for a handful of threads to finish together, each of them worth starting.
constexpr std::int64_t most_tasks = 32;
constexpr std::int64_t task_work = 128 * 1024;
/// Fewer multiplications than these are done faster by one thread.
constexpr std::int64_t serial_work = 1024 * 1024;
/// Vectors are multiplied in parts of this length, and the results are added.
constexpr std::int64_t vector_part = 16 * depth_block;
constexpr std::int64_t vector_task = 64 * 1024;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

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

/// One product: c[m, n] = a[m, k] b[k, n], c contiguous and of the compute type.
struct Product {
  const MatmulKernel& kernel;
  DType computed;
  ConstPlane a, b;
  std::byte* c;
  std::int64_t m, n, k;

  std::int64_t item() const { return item_bytes(computed); }
};

/// Rows of a or columns of b: what is packed in panels.
class Side {
 public:
  Side(const Product& p, bool is_left)
      : kernel_(p.kernel),
        matrix_(is_left ? p.a : p.b),
        item_(p.item()),
        is_left_(is_left),
        lanes_(is_left ? p.m : p.n) {}

  bool is_left() const { return is_left_; }
  std::int64_t lanes() const { return lanes_; }
  std::int64_t panel() const { return is_left_ ? kernel_.tile_rows : kernel_.tile_cols; }
  /// How much a packed block takes. Blocks of whole panels follow each other.
  std::int64_t bytes(std::int64_t lanes, std::int64_t depth) const {
    const std::int64_t padded = is_left_ ? lanes : ceil_div(lanes, kernel_.lanes) * kernel_.lanes;
    return padded * depth * item_;
  }
  void pack(Range lanes, Range depth, std::byte* to) const {
    ConstPlane block = matrix_;
    const std::int64_t row = is_left_ ? lanes.first : depth.first;
    const std::int64_t col = is_left_ ? depth.first : lanes.first;
    block.data += (row * block.row + col * block.col) * item_bytes(block.dtype);
    if (is_left_) {
      kernel_.pack_left(block, lanes.count, depth.count, to);
    } else {
      kernel_.pack_right(block, depth.count, lanes.count, to);
    }
  }

 private:
  const MatmulKernel& kernel_;
  const ConstPlane& matrix_;
  std::int64_t item_;
  bool is_left_;
  std::int64_t lanes_;
};

/// The shorter side is packed as a whole, the longer one is cut into tasks that pack their own
/// part.
class MatrixRun {
 public:
  MatrixRun(const Product& product, bool is_parallel)
      : p_(product),
        split_(product, product.m >= product.n),
        shared_(product, product.m < product.n),
        is_parallel_(is_parallel) {
    const std::int64_t panels = ceil_div(split_.lanes(), split_.panel());
    const std::int64_t most = block_bytes / (depth_block * p_.item() * split_.panel());
    const std::int64_t wanted =
        is_parallel ? std::clamp<std::int64_t>(p_.m * p_.n * p_.k / task_work, 1, most_tasks) : 1;
    block_ = split_.panel() * std::max<std::int64_t>(1, std::min(most, ceil_div(panels, wanted)));
  }

  std::int64_t shared_bytes() const {
    return shared_.bytes(std::min(shared_.lanes(), shared_lanes), std::min(p_.k, shared_depth));
  }
  std::int64_t own_bytes() const {
    return split_.bytes(std::min(split_.lanes(), block_), std::min(p_.k, depth_block));
  }

  void operator()(std::byte* shared, std::byte* own) const {
    for (std::int64_t i = 0; i < shared_.lanes(); i += shared_lanes) {
      for (std::int64_t q = 0; q < p_.k; q += shared_depth) {
        const Range lanes{i, std::min(shared_lanes, shared_.lanes() - i)};
        const Range depth{q, std::min(shared_depth, p_.k - q)};
        pack_shared(lanes, depth, shared);
        for_each(ceil_div(split_.lanes(), block_), is_parallel_, [&](std::int64_t task) {
          const Range part = part_of(split_.lanes(), block_, task);
          if (!is_parallel_) return multiply(part, lanes, depth, shared, own);
          const Buffer buffer(own_bytes());
          multiply(part, lanes, depth, shared, buffer.data());
        });
      }
    }
  }

 private:
  void pack_shared(Range lanes, Range depth, std::byte* to) const {
    const std::int64_t group = is_parallel_ ? 8 * shared_.panel() : lanes.count;
    const std::int64_t groups = ceil_div(lanes.count, group);
    for_each(ceil_div(depth.count, depth_block) * groups, is_parallel_, [&](std::int64_t task) {
      const Range part = part_of(lanes.count, group, task % groups);
      const Range layer = part_of(depth.count, depth_block, task / groups);
      shared_.pack(
          {lanes.first + part.first, part.count}, {depth.first + layer.first, layer.count},
          to + shared_.bytes(lanes.count, layer.first) + shared_.bytes(part.first, layer.count));
    });
  }

  void multiply(Range part, Range lanes, Range depth, const std::byte* shared,
                std::byte* own) const {
    const Range rows = split_.is_left() ? part : lanes;
    const Range cols = split_.is_left() ? lanes : part;
    std::byte* const c = p_.c + (rows.first * p_.n + cols.first) * p_.item();
    for (std::int64_t q = 0; q < depth.count; q += depth_block) {
      const std::int64_t count = std::min(depth_block, depth.count - q);
      split_.pack(part, {depth.first + q, count}, own);
      const std::byte* const layer = shared + shared_.bytes(lanes.count, q);
      p_.kernel.multiply(split_.is_left() ? own : layer, split_.is_left() ? layer : own, rows.count,
                         count, cols.count, c, p_.n, depth.first + q > 0);
    }
  }

  const Product& p_;
  Side split_, shared_;
  bool is_parallel_;
  std::int64_t block_;
};

/// A product in which a or b is a vector: c[lane] is the product of the vector and one lane of the
/// other operand. It only reads the matrix once, so nothing is packed that need not be.
class VectorRun {
 public:
  VectorRun(const Product& product, bool is_parallel)
      : p_(product),
        is_parallel_(is_parallel),
        lanes_(product.n == 1 ? product.m : product.n),
        matrix_(product.n == 1
                    ? product.a
                    : ConstPlane{product.b.data, product.b.dtype, product.b.col, product.b.row}),
        vector_(product.n == 1 ? ConstPlane{product.b.data, product.b.dtype, 0, product.b.row}
                               : product.a),
        is_along_(lanes_ == 1 || is_row_major(product)),
        parts_(ceil_div(product.k, vector_part)),
        group_(ceil_div(std::max<std::int64_t>(1, vector_task / std::min(product.k, vector_part)),
                        64) *
               64) {}

  std::int64_t bytes() const {
    return vector_bytes() + (parts_ > 1 ? parts_ * lanes_ * item() : 0);
  }

  void operator()(std::byte* buffer) const {
    std::byte* const sums = parts_ > 1 ? buffer + vector_bytes() : p_.c;
    kernels::copy_plane({buffer, p_.computed, 0, 1}, vector_, 1, p_.k);
    const std::int64_t groups = ceil_div(lanes_, group_);
    for_each(groups * parts_, is_parallel_, [&](std::int64_t task) {
      const std::int64_t part = task / groups;
      const Range depth = part_of(p_.k, vector_part, part);
      multiply(part_of(lanes_, group_, task % groups), depth, buffer + depth.first * item(),
               sums + part * lanes_ * item());
    });
    if (parts_ == 1) return;
    const Array c{p_.c, p_.computed, {1}};
    for (std::int64_t part = 0; part < parts_; ++part) {
      const Array sum{sums + part * lanes_ * item(), p_.computed, {1}};
      part == 0 ? kernels::copy({lanes_}, c, sum) : kernels::add({lanes_}, c, c, sum);
    }
  }

 private:
  std::int64_t item() const { return p_.item(); }
  std::int64_t vector_bytes() const { return ceil_div(p_.k * item(), 64) * 64; }
  /// A layout is one or the other whatever its role, so that a packed copy gives the same bits.
  static bool is_row_major(const Product& p) {
    const ConstPlane& matrix = p.n == 1 ? p.a : p.b;
    return (std::abs(matrix.col) <= std::abs(matrix.row)) == (p.n == 1);
  }

  void multiply(Range lanes, Range depth, const std::byte* x, std::byte* out) const {
    const std::byte* const block =
        matrix_.data +
        (lanes.first * matrix_.row + depth.first * matrix_.col) * item_bytes(matrix_.dtype);
    out += lanes.first * item();
    const bool is_contiguous =
        is_along_ ? matrix_.col == 1 || depth.count == 1 : matrix_.row == 1 || lanes.count == 1;
    if (matrix_.dtype == p_.computed && is_contiguous) {
      return run(block, is_along_ ? matrix_.row : matrix_.col, lanes.count, depth.count, x, out,
                 false);
    }
    multiply_converted({block, matrix_.dtype, matrix_.row, matrix_.col}, lanes.count, depth.count,
                       x, out);
  }

  void run(const std::byte* block, std::int64_t step, std::int64_t lanes, std::int64_t depth,
           const std::byte* x, std::byte* out, bool adds) const {
    if (is_along_) {
      p_.kernel.rows_times_vector(block, step, lanes, depth, x, out, adds);
    } else {
      p_.kernel.vector_times_columns(x, block, step, depth, lanes, out, adds);
    }
  }

  /// Converts pieces that stay in the first-level cache.
  void multiply_converted(const ConstPlane& block, std::int64_t lanes, std::int64_t depth,
                          const std::byte* x, std::byte* out) const {
    constexpr std::int64_t most = vector_part;
    alignas(64) std::byte piece[most * 8];
    const std::int64_t depths = is_along_ ? depth : std::min(depth, depth_block);
    const std::int64_t height = std::max<std::int64_t>(1, most / depths);
    for (std::int64_t i = 0; i < lanes; i += height) {
      const std::int64_t here = std::min(height, lanes - i);
      for (std::int64_t q = 0; q < depth; q += depths) {
        const std::int64_t count = std::min(depths, depth - q);
        const ConstPlane from{
            block.data + (i * block.row + q * block.col) * item_bytes(block.dtype), block.dtype,
            block.row, block.col};
        if (is_along_) {
          kernels::copy_plane({piece, p_.computed, count, 1}, from, here, count);
        } else {
          kernels::copy_plane({piece, p_.computed, here, 1},
                              {from.data, from.dtype, from.col, from.row}, count, here);
        }
        run(piece, is_along_ ? count : here, here, count, x + q * item(), out + i * item(), q > 0);
      }
    }
  }

  const Product& p_;
  bool is_parallel_;
  std::int64_t lanes_;
  ConstPlane matrix_, vector_;  // lane by depth; 1 by depth
  bool is_along_;
  std::int64_t parts_, group_;
};

struct Scratch {
  Buffer shared, own;
};

bool has_vector(const Product& p) { return p.m == 1 || p.n == 1; }

Scratch scratch_for(const Product& p, bool is_parallel) {
  if (has_vector(p)) return {Buffer(VectorRun(p, is_parallel).bytes()), Buffer(0)};
  const MatrixRun run(p, is_parallel);
  return {Buffer(run.shared_bytes()), Buffer(is_parallel ? 0 : run.own_bytes())};
}

void multiply(const Product& p, bool is_parallel, const Scratch& scratch) {
  if (has_vector(p)) {
    VectorRun(p, is_parallel)(scratch.shared.data());
  } else {
    MatrixRun(p, is_parallel)(scratch.shared.data(), scratch.own.data());
  }
}

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

void multiply_batch(const Product& first, const Axes<2>& batch) {
  const std::int64_t count = batch.iterations();
  const std::int64_t work = first.m * first.n * first.k;
  const auto entry = [&](std::int64_t i) {
    Offsets<2> offsets{};
    batch.advance(i, offsets);
    Product p = first;
    p.a.data += offsets[0] * item_bytes(p.a.dtype);
    p.b.data += offsets[1] * item_bytes(p.b.dtype);
    p.c += i * p.m * p.n * p.item();
    return p;
  };
  const bool is_parallel = work * count > serial_work;
  constexpr std::int64_t many = 8;
  if (count < many) {
    const bool is_split = is_parallel && work > serial_work;
    const Scratch scratch = scratch_for(first, is_split);
    for (std::int64_t i = 0; i < count; ++i) multiply(entry(i), is_split, scratch);
    return;
  }
  const std::int64_t group = std::max<std::int64_t>(1, task_work / work);
  for_each(ceil_div(count, group), is_parallel, [&](std::int64_t task) {
    const Range part = part_of(count, group, task);
    const Scratch scratch = scratch_for(first, false);
    for (std::int64_t i = 0; i < part.count; ++i) multiply(entry(part.first + i), false, scratch);
  });
}

}  // namespace

Tensor product(const Tensor& a, const Tensor& b) {
  const int last = a.ndim() - 1;
  Shape shape = a.shape();
  shape[last] = b.shape()[last];
  const ComputeType type = compute_type(a.dtype());
  const Tensor c = empty(shape, storage_type(type));
  const std::int64_t k = a.shape()[last];
  if (k == 0) {
    fill_(c, 0);
  } else if (c.size() > 0) {
    multiply_batch({kernels::matmul_kernel(type), c.dtype(), plane_of(a), plane_of(b), c.raw_data(),
                    shape[last - 1], shape[last], k},
                   batch_of(a, b));
  }
  return to(c, a.dtype());
}

}  // namespace loup::ops
