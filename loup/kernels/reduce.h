#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/base/dtype.h"
#include "loup/export.h"

namespace loup::kernels {

/// A matrix of elements whose columns are contiguous, and which of them count.
struct Block {
  const void* x;
  std::int64_t x_row;        // step from row to row, in elements
  const std::uint8_t* mask;  // null: all elements count
  std::int64_t mask_row;
  std::int64_t mask_col;  // 1: a byte for each column; 0: one for the whole row
  std::int64_t rows, cols;
  // The number by which users know the first element, and how it grows; only what looks for the
  // position of an element reads them.
  std::int64_t index = 0, index_row = 0, index_col = 0;
  bool is_far = false;  // it is part of so much that no cache holds it
};

enum class ReduceOp : std::uint8_t {
  sum,
  mean,
  prod,
  amax,
  amin,
  minmax,
  argmax,  // and the element there
  argmin,
  var,  // and its root
  log_sum_exp,
  norm_0,
  norm_1,  // of powers: the sum's root
  norm_2,
  norm_most,  // the largest magnitude
  norm_least
};

/// A buffer of `count` states, of which those from `first` on are meant. How states are laid out in
/// it is the reduction's own affair and depends on `count`.
struct States {
  void* data;
  std::int64_t count;
  std::int64_t first;
};

/// A reduction of one compute type, for the best instruction set of this CPU. States are plain
/// bytes, `state_bytes` for each: they may be merged across threads and processes.
///
/// Elements that do not count are never used, whatever they hold. Equal calls give equal bits on
/// every instruction set.
struct Reducer {
  std::size_t state_bytes;
  DType result;  // what finish() writes
  void (*init)(void* states, std::int64_t n);
  /// Row r into state first + r; with `shared`, every row into state first.
  void (*along)(const States& states, bool shared, const Block& block);
  /// Column c of every row into state first + c.
  void (*across)(const States& states, const Block& block);
  void (*merge)(void* into, const void* from, std::int64_t n);
  /// `parameter` is what an operator is told beside its input: the correction of a variance, the
  /// order of a norm.
  void (*finish)(const void* states, void* out, std::int64_t n, double parameter);
  /// The other result of an operator that has two, of the type `second`; null where it has one.
  DType second;
  void (*finish_second)(const void* states, void* out, std::int64_t n, double parameter);
};

/// The reduction that reads elements of `dtype` as they are; null when there is none, and they have
/// to be converted to their compute type.
LOUP_EXPORT const Reducer* find_reducer(ReduceOp op, DType dtype);

/// The reduction of a compute type; there always is one.
LOUP_EXPORT const Reducer& reducer(ReduceOp op, ComputeType type);

}  // namespace loup::kernels
