#include "loup/kernels/copy.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

using test::Random;

std::vector<DType> all_dtypes() {
  std::vector<DType> result;
  for (int i = 0; i < dtype_count; ++i) result.push_back(static_cast<DType>(i));
  return result;
}

/// Elements of any dtype in memory that every dtype may be read from.
struct Buffer {
  DType dtype;
  std::vector<std::uint64_t> words;

  Buffer(DType type, std::int64_t count)
      : dtype(type), words(static_cast<std::size_t>(count * item_bytes(type) + 7) / 8 + 1) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(words.data()); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(words.data());
  }
};

/// Ordinary and extreme values: NaN, infinities, the ends of every integer type.
Buffer sample_elements(Random& random, DType dtype, std::int64_t count) {
  Buffer result(dtype, count);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const double specials[] = {0.0,
                               -0.0,
                               1.5,
                               -1.5,
                               255.9,
                               -128.9,
                               65504,
                               1e5,
                               -2.2e9,
                               9.3e18,
                               -9.3e18,
                               3e38,
                               1e-8,
                               -1e300,
                               std::nan(""),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()};
    for (std::int64_t i = 0; i < count; ++i) {
      const bool is_special = i < std::ssize(specials);
      result.as<T>()[i] = is_special ? convert<T>(specials[i]) : random.value<T>();
    }
  });
  return result;
}

/// Compares element by element with convert(), bit by bit.
void expect_copied_converted(Buffer& to, const Shape& shape, const Strides& to_strides,
                             Buffer& from, const Strides& from_strides) {
  visit_dtype(from.dtype, [&]<class From>(std::type_identity<From>) {
    visit_dtype(to.dtype, [&]<class To>(std::type_identity<To>) {
      for (std::int64_t i = 0; i < shape[0]; ++i) {
        for (std::int64_t j = 0; j < shape[1]; ++j) {
          const From source = from.as<From>()[i * from_strides[0] + j * from_strides[1]];
          const To wanted = convert<To>(source);
          const To got = to.as<To>()[i * to_strides[0] + j * to_strides[1]];
          if constexpr (std::is_floating_point_v<To>) {
            if (std::isnan(wanted) && std::isnan(got)) continue;
          }
          ASSERT_EQ(std::memcmp(&wanted, &got, sizeof(To)), 0)
              << name(from.dtype) << " to " << name(to.dtype) << " at " << i << ", " << j;
        }
      }
    });
  });
}

void expect_pairs_converted(const Shape& shape, const Strides& to_strides,
                            const Strides& from_strides, std::int64_t room) {
  Random random;
  for (const DType from_type : all_dtypes()) {
    Buffer from = sample_elements(random, from_type, room);
    for (const DType to_type : all_dtypes()) {
      Buffer to(to_type, room);
      copy(shape, {to.data(), to_type, to_strides}, {from.data(), from_type, from_strides});
      expect_copied_converted(to, shape, to_strides, from, from_strides);
    }
  }
}

TEST(Copy, ConvertsBetweenAllDTypesContiguously) {
  test::for_each_target([] { expect_pairs_converted({7, 9}, {9, 1}, {9, 1}, 63); });
}

TEST(Copy, ConvertsBetweenAllDTypesWithGaps) {
  expect_pairs_converted({7, 9}, {11, 1}, {30, 2}, 7 * 30);
  expect_pairs_converted({7, 9}, {40, 2}, {30, 3}, 7 * 40);
}

TEST(Copy, ConvertsBetweenAllDTypesTransposed) {
  test::for_each_target([] {
    expect_pairs_converted({40, 35}, {35, 1}, {1, 40}, 40 * 35);
    expect_pairs_converted({40, 35}, {1, 40}, {35, 1}, 40 * 35);
    expect_pairs_converted({37, 67}, {140, 2}, {1, 40}, 37 * 140);
  });
}

TEST(Copy, ConvertsBackwards) {
  Random random;
  Buffer from = sample_elements(random, DType::f32, 60);
  for (const DType to_type : all_dtypes()) {
    Buffer reversed(to_type, 60);
    Buffer straight(to_type, 60);
    copy({60}, {reversed.data(), to_type, {1}},
         {from.data() + 59 * sizeof(float), DType::f32, {-1}});
    copy({60}, {straight.data(), to_type, {1}}, {from.data(), DType::f32, {1}});
    const std::int64_t bytes = item_bytes(to_type);
    for (std::int64_t i = 0; i < 60; ++i) {
      EXPECT_EQ(std::memcmp(reversed.data() + i * bytes, straight.data() + (59 - i) * bytes,
                            static_cast<std::size_t>(bytes)),
                0)
          << name(to_type) << " at " << i;
    }
  }
}

TEST(Copy, RepeatsASourceThatStandsStill) {
  expect_pairs_converted({6, 5}, {5, 1}, {1, 0}, 30);
  expect_pairs_converted({6, 5}, {5, 1}, {0, 1}, 30);
  expect_pairs_converted({6, 50}, {50, 1}, {0, 0}, 300);
  expect_pairs_converted({3, 2000}, {2000, 1}, {1, 0}, 6000);
}

TEST(Copy, DoesNothingWithoutElements) {
  float to = 7;
  const float from = 8;
  auto* const data = reinterpret_cast<std::byte*>(const_cast<float*>(&from));
  copy({3, 0}, {reinterpret_cast<std::byte*>(&to), DType::f32, {0, 1}}, {data, DType::f32, {0, 1}});
  EXPECT_EQ(to, 7);
}

TEST(Copy, CopiesOneElementOfA0dArray) {
  float to = 0;
  std::int16_t from = -3;
  copy({}, {reinterpret_cast<std::byte*>(&to), DType::f32, {}},
       {reinterpret_cast<std::byte*>(&from), DType::i16, {}});
  EXPECT_EQ(to, -3.0F);
}

/// A random layout of `shape` whose elements do not overlap, and how much memory it needs.
std::pair<Strides, std::int64_t> scattered_strides(Random& random, const Shape& shape) {
  Strides strides = Dims::filled(shape.size(), 0);
  std::vector<int> order;
  for (int i = 0; i < shape.size(); ++i) {
    order.insert(order.begin() + random.integer(0, i), i);
  }
  std::int64_t step = random.integer(1, 2);
  for (const int dim : order) {
    strides[dim] = step;
    step *= shape[dim] + random.integer(0, 1);
  }
  return {strides, step + 1};
}

TEST(Copy, MovesEveryElementOfManyDimsOnEveryNumberOfThreads) {
  Random random;
  const Shape shape = {3, 5, 1, 4, 7, 2, 6, 11};  // large enough for several threads
  const auto [to_strides, to_room] = scattered_strides(random, shape);
  const auto [from_strides, from_room] = scattered_strides(random, shape);
  std::vector<std::int64_t> from(static_cast<std::size_t>(from_room));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int64_t>(i);
  test::with_threads({1, 2, 7}, [&] {
    std::vector<std::int64_t> to(static_cast<std::size_t>(to_room), -1);
    copy(shape, {reinterpret_cast<std::byte*>(to.data()), DType::i64, to_strides},
         {reinterpret_cast<std::byte*>(from.data()), DType::i64, from_strides});
    std::int64_t written = 0;
    for (const std::int64_t value : to) written += value >= 0 ? 1 : 0;
    EXPECT_EQ(written, element_count(shape));
    for (std::int64_t n = 0; n < element_count(shape); ++n) {
      std::int64_t rest = n;
      std::int64_t at_to = 0;
      std::int64_t at_from = 0;
      for (int d = 8; d-- > 0; rest /= shape[d]) {
        at_to += rest % shape[d] * to_strides[d];
        at_from += rest % shape[d] * from_strides[d];
      }
      ASSERT_EQ(to[static_cast<std::size_t>(at_to)], at_from) << "element " << n;
    }
  });
}

/// Copies a contiguous array into one whose dims lie in memory in another order, and expects every
/// element in its place. Sizes and orders are such that tasks are cut in every way.
template <class T>
void expect_permuted(const Shape& shape, const std::vector<int>& order) {
  Strides to_strides = contiguous_strides(shape);
  Strides from_strides = Dims::filled(shape.size(), 0);
  std::int64_t step = 1;
  for (const int dim : order) {
    from_strides[dim] = step;
    step *= shape[dim];
  }
  const std::int64_t count = element_count(shape);
  std::vector<T> from(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7 + 1);
  std::vector<T> to(from.size());
  copy(shape, {reinterpret_cast<std::byte*>(to.data()), dtype_of<T>(), to_strides},
       {reinterpret_cast<std::byte*>(from.data()), dtype_of<T>(), from_strides});
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t at = 0;
    for (int d = 0; d < shape.size(); ++d) at += n / to_strides[d] % shape[d] * from_strides[d];
    ASSERT_EQ(to[static_cast<std::size_t>(n)], from[static_cast<std::size_t>(at)])
        << "element " << n << " of " << fmt::format("{}", shape);
  }
}

TEST(Copy, PermutesDimsOnEveryNumberOfThreads) {
  test::with_threads({1, 2, 7}, [] {
    expect_permuted<float>({300, 1000}, {0, 1});
    expect_permuted<double>({1000, 300}, {0, 1});
    expect_permuted<float>({512, 512}, {0, 1});
    expect_permuted<std::int16_t>({70000, 3}, {0, 1});
    expect_permuted<std::int16_t>({3, 70000}, {0, 1});
    expect_permuted<float>({64, 48, 80}, {0, 1, 2});
    expect_permuted<float>({64, 48, 80}, {0, 2, 1});
    expect_permuted<float>({64, 48, 80}, {1, 0, 2});
    expect_permuted<float>({64, 48, 80}, {1, 2, 0});
    expect_permuted<std::uint8_t>({64, 48, 80}, {2, 0, 1});
    expect_permuted<std::int64_t>({50000, 3, 2}, {1, 0, 2});
    expect_permuted<std::int64_t>({2, 3, 5, 7, 11, 13}, {3, 1, 4, 0, 2, 5});
  });
}

TEST(CopyPlane, CopiesRowsOfDifferentPitch) {
  std::vector<std::int32_t> from = {1, 2, 3, -1, 4, 5, 6, -1};
  std::vector<std::int32_t> to(10, 0);
  copy_plane({reinterpret_cast<std::byte*>(to.data()), DType::i32, 5, 1},
             {reinterpret_cast<const std::byte*>(from.data()), DType::i32, 4, 1}, 2, 3);
  EXPECT_EQ(to, (std::vector<std::int32_t>{1, 2, 3, 0, 0, 4, 5, 6, 0, 0}));
}

TEST(CopyPlane, TurnsBytesOfEverySize) {
  Random random;
  for (std::int64_t rows = 1; rows <= 50; ++rows) {
    for (std::int64_t cols = 1; cols <= 50; ++cols) {
      const std::int64_t pitch = rows + rows % 3;
      const test::Guarded<std::uint8_t> from(random.mask_bytes((cols - 1) * pitch + rows, 0.9));
      const test::Guarded<std::uint8_t> to(
          std::vector<std::uint8_t>(static_cast<std::size_t>(rows * cols)));
      copy_plane({reinterpret_cast<std::byte*>(to.data()), DType::u8, cols, 1},
                 {reinterpret_cast<const std::byte*>(from.data()), DType::u8, 1, pitch}, rows,
                 cols);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          ASSERT_EQ(to.data()[r * cols + c], from.data()[r + c * pitch])
              << rows << " x " << cols << " at " << r << ", " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace loup::kernels
