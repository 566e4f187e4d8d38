#include "loup/kernels/sort.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "loup/kernels/search.h"
#include "loup/kernels/sort_keys.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::kernels {
namespace {

using test::Random;

/// Random elements with ties and, for floats, everything that is hard to compare.
template <class T>
std::vector<T> tricky_elements(Random& random, std::int64_t count) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(random.chance(0.3) ? test::garbage<T>(random) : random.value<T>());
    if (random.chance(0.2)) result.back() = convert<T>(random.chance(0.5) ? 0.0 : -0.0);
  }
  return result;
}

/// std::vector<bool> has no elements that a span could show.
template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  Tensor result = empty({std::ssize(values)}, dtype_of<T>());
  std::copy(values.begin(), values.end(), result.data<T>().begin());
  return result;
}

/// NaN is the greatest.
template <class T>
bool is_less(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const auto x = convert<double>(a);
    const auto y = convert<double>(b);
    return !std::isnan(x) && (std::isnan(y) || x < y);
  }
}

template <class T>
std::vector<std::int64_t> order_of(const std::vector<T>& values, bool descending) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = values[static_cast<std::size_t>(a)];
    const T y = values[static_cast<std::size_t>(b)];
    return descending ? is_less(y, x) : is_less(x, y);
  });
  return order;
}

class SortEveryDType : public testing::TestWithParam<DType> {};

TEST_P(SortEveryDType, KeysHaveTheOrderOfTheElements) {
  visit_dtype(GetParam(), []<class T>(std::type_identity<T>) {
    Random random;
    const std::vector<T> values = tricky_elements<T>(random, 300);
    for (const T a : values) {
      for (const T b : values) ASSERT_EQ(key_of(a) < key_of(b), is_less(a, b));
      if (is_shared_key<T>(key_of(a))) continue;
      const T back = value_of<T>(key_of(a));
      ASSERT_EQ(std::memcmp(&back, &a, sizeof(T)), 0);
    }
  });
}

TEST_P(SortEveryDType, SortsRowsOfEveryLength) {
  visit_dtype(GetParam(), []<class T>(std::type_identity<T>) {
    Random random;
    for (const std::int64_t count : {1, 2, 31, 32, 33, 200, 4095, 4096, 20'000}) {
      for (const bool descending : {false, true}) {
        SCOPED_TRACE(count);
        const std::vector<T> values = tricky_elements<T>(random, count);
        const Sorting sorting{dtype_of<T>(), count, descending};
        const std::vector<std::int64_t> wanted = order_of(values, descending);
        const Tensor from = tensor_of(values);
        const Tensor scratch = empty({sort_scratch_bytes(sorting)}, DType::u8);
        for (const std::int64_t parts : {1, 3}) {
          const Tensor sorted = empty({count}, dtype_of<T>());
          std::vector<std::int64_t> positions(values.size());
          sort_row(sorting, from.raw_data(), sorted.raw_data(), positions.data(),
                   scratch.raw_data(), parts);
          ASSERT_EQ(positions, wanted);
          for (std::int64_t i = 0; i < count; ++i) {
            const T* const got = reinterpret_cast<const T*>(sorted.raw_data()) + i;
            const T element =
                values[static_cast<std::size_t>(positions[static_cast<std::size_t>(i)])];
            ASSERT_EQ(std::memcmp(got, &element, sizeof(T)), 0);
          }
          const std::int64_t kept = std::max<std::int64_t>(1, count / 20);
          std::vector<std::int64_t> first(static_cast<std::size_t>(kept));
          select_row(sorting, kept, from.raw_data(), sorted.raw_data(), first.data(), parts);
          ASSERT_EQ(first, std::vector<std::int64_t>(wanted.begin(), wanted.begin() + kept));
        }
      }
    }
  });
}

TEST_P(SortEveryDType, FindsPlacesInSortedRows) {
  visit_dtype(GetParam(), []<class T>(std::type_identity<T>) {
    Random random;
    for (const std::int64_t count : {0, 1, 2, 3, 64, 1000}) {
      std::vector<T> row = tricky_elements<T>(random, count);
      std::stable_sort(row.begin(), row.end(), is_less<T>);
      const std::vector<T> values = tricky_elements<T>(random, 100);
      const Tensor sorted = tensor_of(row);
      const Tensor wanted = tensor_of(values);
      std::vector<std::int64_t> left(100);
      std::vector<std::int64_t> right(100);
      search_row(dtype_of<T>(), sorted.raw_data(), count, wanted.raw_data(), 100, false,
                 left.data());
      search_row(dtype_of<T>(), sorted.raw_data(), count, wanted.raw_data(), 100, true,
                 right.data());
      for (std::size_t i = 0; i < 100; ++i) {
        const auto low = std::lower_bound(row.begin(), row.end(), values[i], is_less<T>);
        const auto high = std::upper_bound(row.begin(), row.end(), values[i], is_less<T>);
        ASSERT_EQ(left[i], low - row.begin());
        ASSERT_EQ(right[i], high - row.begin());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sort, SortEveryDType, testing::ValuesIn(test::all_dtypes()),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST_P(SortEveryDType, SortsManyShortRows) {
  visit_dtype(GetParam(), []<class T>(std::type_identity<T>) {
    Random random;
    for (const std::int64_t count : {1, 2, 3, 7, 8, 31, 33, 64, 65, 100, 128, 511, 512, 513}) {
      for (const std::int64_t rows : {1, 7, 8, 19}) {
        SCOPED_TRACE(testing::Message() << rows << " rows of " << count);
        const bool descending = random.chance(0.5);
        const std::vector<T> values = tricky_elements<T>(random, rows * count);
        const Tensor from = tensor_of(values);
        const Sorting sorting{dtype_of<T>(), count, descending};
        const Tensor scratch = empty({sort_scratch_bytes(sorting)}, DType::u8);
        test::for_each_target([&] {
          const Tensor sorted = empty({rows * count}, dtype_of<T>());
          std::vector<std::int64_t> positions(values.size());
          sort_rows(sorting, rows, from.raw_data(), sorted.raw_data(), positions.data(),
                    scratch.raw_data());
          for (std::int64_t row = 0; row < rows; ++row) {
            const auto begin = values.begin() + row * count;
            const auto wanted = order_of(std::vector<T>(begin, begin + count), descending);
            const auto got = positions.begin() + row * count;
            ASSERT_EQ(std::vector<std::int64_t>(got, got + count), wanted);
            for (std::int64_t i = 0; i < count; ++i) {
              const T element = begin[wanted[static_cast<std::size_t>(i)]];
              const auto* const written =
                  reinterpret_cast<const T*>(sorted.raw_data()) + row * count + i;
              ASSERT_EQ(std::memcmp(written, &element, sizeof(T)), 0);
            }
          }
        });
      }
    }
  });
}

TEST(SortRow, LooksAtTheLastBitsOfLongKeys) {
  Random random;
  for (const int spread : {3, 100, 1'000'000}) {
    std::vector<double> values;
    for (int i = 0; i < 20'000; ++i) {
      values.push_back(1 + 0x1p-52 * static_cast<double>(random.integer(0, spread)));
      if (random.chance(0.01)) values.back() = -1e300;
    }
    const std::vector<std::int64_t> wanted = order_of(values, false);
    const Sorting sorting{DType::f64, std::ssize(values), false};
    const Tensor from = tensor_of(values);
    const Tensor scratch = empty({sort_scratch_bytes(sorting)}, DType::u8);
    for (const std::int64_t parts : {1, 4}) {
      std::vector<std::int64_t> positions(values.size());
      sort_row(sorting, from.raw_data(), nullptr, positions.data(), scratch.raw_data(), parts);
      EXPECT_TRUE(positions == wanted) << spread;
    }
  }
}

TEST(SelectRow, TakesEqualElementsInOrder) {
  const std::vector<float> values(1000, 1.0F);
  const Sorting sorting{DType::f32, 1000, true};
  std::vector<float> kept(5);
  std::vector<std::int64_t> positions(5);
  select_row(sorting, 5, reinterpret_cast<const std::byte*>(values.data()),
             reinterpret_cast<std::byte*>(kept.data()), positions.data(), 3);
  EXPECT_EQ(positions, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace loup::kernels
