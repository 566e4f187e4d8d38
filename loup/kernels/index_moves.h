#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "loup/base/dtype.h"

// The innermost loops of kernels/index.h.

namespace loup::kernels {

/// visit_dtype() for a dtype that indices may have.
template <class F>
auto visit_index_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::u8: return f(std::type_identity<std::uint8_t>{});
    case DType::i8: return f(std::type_identity<std::int8_t>{});
    case DType::i16: return f(std::type_identity<std::int16_t>{});
    case DType::i32: return f(std::type_identity<std::int32_t>{});
    default: return f(std::type_identity<std::int64_t>{});
  }
}

/// Rows of the dense side, one after the other, and of the indexed side, by offsets.
struct Rows {
  std::byte* dense;
  std::byte* indexed;
  std::int64_t dense_row;         // step, in elements
  const std::int64_t* offsets;    // of the indexed rows
  const std::int64_t* positions;  // which of the dense rows; null: all
  std::int64_t count;             // of rows
  std::int64_t cols, dense_col, indexed_col;
};
using Move = void (*)(const Rows&);

Move find_read(DType dtype);   // dense = indexed
Move find_write(DType dtype);  // indexed = dense
Move find_add(DType dtype);    // indexed += dense

}  // namespace loup::kernels
