#include "loup/kernels/search.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "loup/base/parallel.h"
#include "loup/kernels/sort_keys.h"

namespace loup::kernels {

namespace {

constexpr std::int64_t task_elements = 32 * 1024;
/// So many values are looked for side by side: while memory answers one, others ask.
constexpr std::size_t together = 8;

/// Halves the row for each value until one place is left; no branch depends on an element.
template <class T, bool right, std::size_t N>
void search(const T* row, std::int64_t count, const T* values, std::int64_t* places) {
  std::array<SortKey<T>, N> keys;
  std::array<const T*, N> starts;
  for (std::size_t k = 0; k < N; ++k) {
    keys[k] = key_of(values[k]);
    starts[k] = row;
  }
  const auto is_before = [](T element, SortKey<T> key) {
    return right ? key_of(element) <= key : key_of(element) < key;
  };
  for (std::int64_t rest = count; rest > 1;) {
    const std::int64_t half = rest / 2;
    for (std::size_t k = 0; k < N; ++k) {
      starts[k] += is_before(starts[k][half - 1], keys[k]) ? half : 0;
    }
    rest -= half;
  }
  for (std::size_t k = 0; k < N; ++k) {
    const bool is_behind = count > 0 && is_before(*starts[k], keys[k]);
    places[k] = starts[k] - row + (is_behind ? 1 : 0);
  }
}

template <class T, bool right>
void search_all(const T* row, std::int64_t count, const T* values, std::int64_t wanted,
                std::int64_t* places) {
  constexpr auto step = static_cast<std::int64_t>(together);
  std::int64_t i = 0;
  for (; i + step <= wanted; i += step)
    search<T, right, together>(row, count, values + i, places + i);
  for (; i < wanted; ++i) search<T, right, 1>(row, count, values + i, places + i);
}

template <class T>
bool is_equal(const T* a, const T* b, std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; ++c) {
    if (key_of(a[c]) != key_of(b[c])) return false;
  }
  return true;
}

}  // namespace

void search_row(DType dtype, const std::byte* row, std::int64_t count, const std::byte* values,
                std::int64_t wanted, bool right, std::int64_t* places) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const elements = reinterpret_cast<const T*>(row);
    const T* const own = reinterpret_cast<const T*>(values);
    const auto run = right ? search_all<T, true> : search_all<T, false>;
    run(elements, count, own, wanted, places);
  });
}

void sort_lines(DType dtype, const std::byte* from, std::int64_t rows, std::int64_t cols,
                std::int64_t* positions) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const elements = reinterpret_cast<const T*>(from);
    std::iota(positions, positions + rows, 0);
    std::stable_sort(positions, positions + rows, [&](std::int64_t a, std::int64_t b) {
      const T* const first = elements + a * cols;
      const T* const second = elements + b * cols;
      return std::lexicographical_compare(first, first + cols, second, second + cols,
                                          [](T x, T y) { return key_of(x) < key_of(y); });
    });
  });
}

void mark_first(DType dtype, const std::byte* from, const std::int64_t* positions,
                std::int64_t rows, std::int64_t cols, bool* is_first) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const elements = reinterpret_cast<const T*>(from);
    const std::int64_t group =
        std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(cols, 1));
    const auto bytes = rows * cols * static_cast<std::int64_t>(sizeof(T));
    parallel_for((rows + group - 1) / group, bytes, [&](std::int64_t task) {
      const auto line = [&](std::int64_t row) {
        return elements + (positions != nullptr ? positions[row] : row) * cols;
      };
      const std::int64_t end = std::min(rows, (task + 1) * group);
      for (std::int64_t row = task * group; row < end; ++row) {
        is_first[row] = row == 0 || !is_equal(line(row - 1), line(row), cols);
      }
    });
  });
}

}  // namespace loup::kernels
