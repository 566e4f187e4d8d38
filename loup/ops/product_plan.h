#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "loup/base/parallel.h"
#include "loup/kernels/matmul.h"
#include "loup/memory/scratch.h"

// How products of matrices are cut into tasks and blocks: the inside of ops/product.cpp. Nothing of
// it shows in the result.

namespace loup::ops {

using kernels::ConstPlane;
using memory::Scratch;

/// Tasks with fewer multiplications are not worth starting.
inline constexpr std::int64_t task_work = 128 * 1024;

struct Range {
  std::int64_t first, count;
};
/// Part i of [0, count) in pieces of `piece`.
inline Range part_of(std::int64_t count, std::int64_t piece, std::int64_t i) {
  return {i * piece, std::min(piece, count - i * piece)};
}

template <class Body>
void for_each(std::int64_t count, bool is_parallel, const Body& body) {
  if (is_parallel) return parallel_for(count, body);
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// Products c[m, n] = a[m, k] b[k, n] of one size.
struct ProductSize {
  const kernels::MatmulKernel& kernel;
  DType computed;
  std::int64_t m, n, k;

  std::int64_t item() const { return item_bytes(computed); }
  std::int64_t work() const { return m * n * k; }
};
/// The operands of one of them; c is contiguous and of the compute type.
struct ProductOperands {
  ConstPlane a, b;
  std::byte* c;
};

inline ConstPlane shifted(ConstPlane x, std::int64_t row, std::int64_t col) {
  x.data += (row * x.row + col * x.col) * item_bytes(x.dtype);
  return x;
}
/// Whether rows lie further apart than columns; an answer for every layout, whatever its role.
bool is_row_major(const ConstPlane& x);

/// Rows of a or columns of b: what is packed in panels.
class Side {
 public:
  Side(const ProductSize& size, bool is_left) : size_(size), is_left_(is_left) {}

  bool is_left() const { return is_left_; }
  std::int64_t lanes() const { return is_left_ ? size_.m : size_.n; }
  std::int64_t panel() const { return is_left_ ? size_.kernel.tile_rows : size_.kernel.tile_cols; }
  /// How much a packed block takes. Blocks of whole panels follow each other.
  std::int64_t bytes(std::int64_t lanes, std::int64_t depth) const {
    const std::int64_t unit = is_left_ ? size_.kernel.tile_rows : size_.kernel.lanes;
    return ceil_div(lanes, unit) * unit * depth * size_.item();
  }
  void pack(const ProductOperands& x, Range lanes, Range depth, std::byte* to) const {
    if (is_left_) {
      size_.kernel.pack_left(shifted(x.a, lanes.first, depth.first), lanes.count, depth.count, to);
    } else {
      size_.kernel.pack_right(shifted(x.b, depth.first, lanes.first), depth.count, lanes.count, to);
    }
  }

 private:
  const ProductSize& size_;
  bool is_left_;
};

/// Products of matrices. The shorter side is packed as a whole, the longer one is cut into tasks
/// that pack their own part.
class MatrixPlan {
 public:
  /// `like` has the strides and dtypes of all operands that will be multiplied.
  MatrixPlan(const ProductSize& size, const ProductOperands& like, bool is_parallel);
  MatrixPlan(const MatrixPlan&) = delete;
  MatrixPlan& operator=(const MatrixPlan&) = delete;

  /// How much memory a run needs, for all tasks and for each.
  std::int64_t shared_bytes() const;
  std::int64_t own_bytes() const;
  /// Runs without threads use `own`; with threads each task takes its own.
  void operator()(const ProductOperands& x, std::byte* shared, std::byte* own) const;

 private:
  void pack_shared(const ProductOperands& x, Range lanes, Range depth, std::byte* to) const;
  void multiply(const ProductOperands& x, Range part, Range lanes, Range depth,
                const std::byte* shared, std::byte* own) const;

  ProductSize size_;
  Side split_, shared_;
  bool is_parallel_;
  bool reads_left_;     // rows of a are read where they lie
  std::int64_t block_;  // lanes of the split side for each task
};

/// Products in which a or b is a vector: c[lane] is the product of the vector and one lane of the
/// other operand. The matrix is only read once, so nothing is packed that need not be.
class VectorPlan {
 public:
  VectorPlan(const ProductSize& size, const ProductOperands& like, bool is_parallel);

  std::int64_t bytes() const;
  void operator()(const ProductOperands& x, std::byte* buffer) const;

 private:
  std::int64_t vector_bytes() const;
  void multiply(const ConstPlane& matrix, std::int64_t lanes, std::int64_t depth,
                const std::byte* x, std::byte* out) const;
  void multiply_converted(const ConstPlane& matrix, std::int64_t lanes, std::int64_t depth,
                          const std::byte* x, std::byte* out) const;
  void run(const std::byte* block, std::int64_t step, std::int64_t lanes, std::int64_t depth,
           const std::byte* x, std::byte* out, bool adds) const;

  ProductSize size_;
  bool is_parallel_;
  std::int64_t lanes_;
  bool is_along_;      // lanes are contiguous, or will be
  bool reads_vector_;  // the vector is read where it lies
  std::int64_t parts_, group_;
};

}  // namespace loup::ops
