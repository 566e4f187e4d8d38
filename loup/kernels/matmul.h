#pragma once

#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/kernels/copy.h"

// The pieces of a matrix product c = a · b. Blocks of a (its rows) and of b (its columns) are first
// packed into panels, which makes strides and dtypes disappear; tiles of c are then computed from
// one panel of each. Integers wrap.
//
// Every element of c is made in one way, from its row of a and its column of b alone: products are
// added in the order of k to sums of `depth_block` products, and these sums to each other in their
// order. So neither tiles nor threads show in the result.

namespace loup::kernels {

/// The most products that are added before their sum is. Packed blocks are at most this deep.
inline constexpr std::int64_t depth_block = 256;

/// Rows of a: element (i, q) of panel p is p * panel + i * row + q * depth elements from `data`.
/// Either rows are neighbours (row = 1), as packed ones are, or each row is contiguous (depth = 1).
struct LeftBlock {
  const void* data;
  std::int64_t panel, row, depth;
};

/// The matrix product of one compute type, for the best instruction set of this CPU.
struct MatmulKernel {
  std::int64_t tile_rows, tile_cols;  // of panels; the last one may be narrower
  std::int64_t lanes;                 // packed columns are padded to a multiple of this

  /// Packs rows × depth elements of `a`, of any dtype that converts to the compute type, one panel
  /// of rows after the other: LeftBlock{to, tile_rows * depth, 1, tile_rows}.
  void (*pack_left)(const ConstPlane& a, std::int64_t rows, std::int64_t depth, void* to);
  /// Packs depth × cols elements of `b`, one panel of columns after the other. `to` is aligned to
  /// 64 bytes.
  void (*pack_right)(const ConstPlane& b, std::int64_t depth, std::int64_t cols, void* to);
  /// c (+)= left · right.
  void (*multiply)(const LeftBlock& left, const void* right, std::int64_t rows, std::int64_t depth,
                   std::int64_t cols, void* c, std::int64_t c_row, bool adds);
  /// The same for packed blocks, and blocks packed from masks: only products of two elements that
  /// count are made.
  void (*multiply_counted)(const void* left, const void* left_mask, const void* right,
                           const void* right_mask, std::int64_t rows, std::int64_t depth,
                           std::int64_t cols, void* c, std::int64_t c_row, bool adds);

  /// out[i] (+)= the product of row i, which is contiguous, and `x`.
  void (*rows_times_vector)(const void* a, std::int64_t a_row, std::int64_t rows,
                            std::int64_t depth, const void* x, void* out, bool adds);
  /// out[j] (+)= the product of `x` and column j, where rows are contiguous.
  void (*vector_times_columns)(const void* x, const void* b, std::int64_t b_row, std::int64_t depth,
                               std::int64_t cols, void* out, bool adds);
};

const MatmulKernel& matmul_f32();
const MatmulKernel& matmul_f64();
const MatmulKernel& matmul_i32();
const MatmulKernel& matmul_i64();

inline const MatmulKernel& matmul_kernel(ComputeType type) {
  switch (type) {
    case ComputeType::i32: return matmul_i32();
    case ComputeType::i64: return matmul_i64();
    case ComputeType::f32: return matmul_f32();
    case ComputeType::f64: return matmul_f64();
  }
  __builtin_unreachable();
}

}  // namespace loup::kernels
