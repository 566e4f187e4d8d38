#include "loup/kernels/index_moves.h"

#include <algorithm>
#include <cstring>

#include "loup/kernels/sum_of.h"

namespace loup::kernels {

namespace {

/// Rows this far ahead are fetched: memory answers late, but many questions at once.
constexpr std::int64_t ahead = 8;
constexpr std::int64_t line_bytes = 64;

struct Read {
  static constexpr bool copies = true;
  template <class T>
  static void move(T& dense, const T& indexed) {
    dense = indexed;
  }
  static void move(std::byte* dense, std::byte* indexed, std::size_t bytes) {
    std::memcpy(dense, indexed, bytes);
  }
};
struct Write {
  static constexpr bool copies = true;
  template <class T>
  static void move(const T& dense, T& indexed) {
    indexed = dense;
  }
  static void move(std::byte* dense, std::byte* indexed, std::size_t bytes) {
    std::memcpy(indexed, dense, bytes);
  }
};
struct Add {
  static constexpr bool copies = false;
  template <class T>
  static void move(const T& dense, T& indexed) {
    indexed = sum_of(indexed, dense);
  }
};

template <class T>
void fetch(const T* row, std::int64_t cols) {
  const auto* const bytes = reinterpret_cast<const char*>(row);
  const std::int64_t end = std::min<std::int64_t>(cols * static_cast<std::int64_t>(sizeof(T)), 512);
  for (std::int64_t at = 0; at < end; at += line_bytes) __builtin_prefetch(bytes + at);
}

/// Rows of contiguous elements; `Bytes` is their size where it is small and known.
template <class How, class T, std::int64_t Bytes = 0>
void move_runs(const Rows& rows) {
  T* const dense = reinterpret_cast<T*>(rows.dense);
  T* const indexed = reinterpret_cast<T*>(rows.indexed);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t next = std::min(r + ahead, rows.count - 1);
    fetch(indexed + rows.offsets[next], rows.cols);
    const std::int64_t position = rows.positions != nullptr ? rows.positions[r] : r;
    T* const a = dense + position * rows.dense_row;
    T* const b = indexed + rows.offsets[r];
    if constexpr (How::copies) {
      const std::int64_t bytes =
          Bytes != 0 ? Bytes : rows.cols * static_cast<std::int64_t>(sizeof(T));
      How::move(reinterpret_cast<std::byte*>(a), reinterpret_cast<std::byte*>(b),
                static_cast<std::size_t>(bytes));
    } else {
      for (std::int64_t c = 0; c < rows.cols; ++c) How::move(a[c], b[c]);
    }
  }
}

template <class How, class T>
void move_rows(const Rows& rows) {
  T* const dense = reinterpret_cast<T*>(rows.dense);
  T* const indexed = reinterpret_cast<T*>(rows.indexed);
  if (rows.cols == 1) {
    if (rows.positions != nullptr) {
      for (std::int64_t r = 0; r < rows.count; ++r) {
        How::move(dense[rows.positions[r] * rows.dense_row], indexed[rows.offsets[r]]);
      }
    } else {
      for (std::int64_t r = 0; r < rows.count; ++r) {
        How::move(dense[r * rows.dense_row], indexed[rows.offsets[r]]);
      }
    }
    return;
  }
  if (rows.dense_col == 1 && rows.indexed_col == 1) {
    if constexpr (How::copies) {
      switch (rows.cols * static_cast<std::int64_t>(sizeof(T))) {
        case 8: return move_runs<How, T, 8>(rows);
        case 16: return move_runs<How, T, 16>(rows);
        case 32: return move_runs<How, T, 32>(rows);
        case 64: return move_runs<How, T, 64>(rows);
        case 128: return move_runs<How, T, 128>(rows);
        case 256: return move_runs<How, T, 256>(rows);
        default: break;
      }
    }
    return move_runs<How, T>(rows);
  }
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t position = rows.positions != nullptr ? rows.positions[r] : r;
    T* const a = dense + position * rows.dense_row;
    T* const b = indexed + rows.offsets[r];
    for (std::int64_t c = 0; c < rows.cols; ++c) {
      How::move(a[c * rows.dense_col], b[c * rows.indexed_col]);
    }
  }
}

/// Copies do not look at the elements: only their size matters.
template <class How>
Move find_copy(DType dtype) {
  switch (item_bytes(dtype)) {
    case 1: return move_rows<How, std::uint8_t>;
    case 2: return move_rows<How, std::uint16_t>;
    case 4: return move_rows<How, std::uint32_t>;
    default: return move_rows<How, std::uint64_t>;
  }
}

}  // namespace

Move find_read(DType dtype) { return find_copy<Read>(dtype); }
Move find_write(DType dtype) { return find_copy<Write>(dtype); }
Move find_add(DType dtype) {
  return visit_dtype(dtype,
                     []<class T>(std::type_identity<T>) -> Move { return move_rows<Add, T>; });
}

}  // namespace loup::kernels
