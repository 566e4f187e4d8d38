#include "loup/kernels/matmul.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"

namespace loup::test {
namespace {

using kernels::ConstPlane;
using kernels::depth_block;
using kernels::MatmulKernel;

template <class I>
std::size_t at(I i) {
  return static_cast<std::size_t>(i);
}

/// One test runs for each compute type, on each instruction set.
template <class T>
class MatmulKernels : public testing::Test {
 protected:
  static constexpr DType dtype = dtype_of<T>();
  /// Not used where T is an integer.
  [[maybe_unused]] static inline bool fuses = false;

  /// On each instruction set, of which all but one fuse products and sums.
  template <class F>
  static void on_each_target(const F& f) {
    for_each_target([&] {
      fuses = kernels::targets().chosen != "SSE4";
      f();
    });
  }
  static const MatmulKernel& kernel() { return kernels::matmul_kernel(compute_type(dtype)); }

  /// a b + sum as the instruction set rounds it; integers wrap.
  static T multiply_add(T a, T b, T sum) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(sum));
    } else {
      if (fuses) return std::fma(a, b, sum);
      const volatile T rounded = a * b;
      return rounded + sum;
    }
  }
  static T add(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }

  static ConstPlane plane(const T* data, std::int64_t row, std::int64_t col) {
    return {reinterpret_cast<const std::byte*>(data), dtype, row, col};
  }
  static std::vector<T> random_values(std::int64_t count) { return Random().values<T>(count); }

  struct Blocks {
    std::vector<T> left, right;
    T* aligned_right() {
      void* at = right.data();
      std::size_t space = right.size() * sizeof(T);
      return static_cast<T*>(std::align(64, 1, at, space));
    }
  };
  static Blocks room(std::int64_t rows, std::int64_t depth, std::int64_t cols) {
    const auto up = [](std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; };
    Blocks blocks;
    blocks.left.resize(static_cast<std::size_t>(up(rows, kernel().tile_rows) * depth));
    blocks.right.resize(static_cast<std::size_t>(up(cols, kernel().lanes) * depth + 16));
    return blocks;
  }

  /// The product of packed blocks, written into c of `cols` columns.
  static void multiply(const ConstPlane& a, const ConstPlane& b, std::int64_t rows,
                       std::int64_t depth, std::int64_t cols, T* c, bool adds) {
    Blocks blocks = room(rows, depth, cols);
    kernel().pack_left(a, rows, depth, blocks.left.data());
    kernel().pack_right(b, depth, cols, blocks.aligned_right());
    const std::int64_t height = kernel().tile_rows;
    kernel().multiply({blocks.left.data(), height * depth, 1, height}, blocks.aligned_right(), rows,
                      depth, cols, c, cols, adds);
  }

  static T expected(const T* a, std::int64_t a_col, const T* b, std::int64_t b_row,
                    std::int64_t depth) {
    T sum{};
    for (std::int64_t q = 0; q < depth; ++q) sum = multiply_add(a[q * a_col], b[q * b_row], sum);
    return sum;
  }
};

using ComputeTypes = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(MatmulKernels, ComputeTypes);

template <class T>
bool is_same_element(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

TYPED_TEST(MatmulKernels, AddProductsInOrderForEverySizeOfTile) {
  using T = TypeParam;
  constexpr std::int64_t most = 30, depth = 7, most_cols = 70;
  const std::vector<T> a = this->random_values(most * depth);
  const std::vector<T> b = this->random_values(depth * most_cols);
  this->on_each_target([&] {
    for (std::int64_t rows = 1; rows <= most; ++rows) {
      for (const std::int64_t cols :
           {1, 2, 3, 5, 8, 15, 16, 17, 24, 31, 32, 33, 47, 48, 49, 64, 70}) {
        std::vector<T> c(static_cast<std::size_t>(rows * cols), T{99});
        this->multiply(this->plane(a.data(), depth, 1), this->plane(b.data(), most_cols, 1), rows,
                       depth, cols, c.data(), false);
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < cols; ++j) {
            const T wanted = this->expected(&a[at(i * depth)], 1, &b[at(j)], most_cols, depth);
            ASSERT_TRUE(is_same_element(c[at(i * cols + j)], wanted))
                << rows << " x " << cols << " at " << i << ", " << j;
          }
        }
      }
    }
  });
}

TYPED_TEST(MatmulKernels, AddToWhatIsThere) {
  using T = TypeParam;
  constexpr std::int64_t rows = 13, depth = 9, cols = 37;
  const std::vector<T> a = this->random_values(rows * depth);
  const std::vector<T> b = this->random_values(depth * cols);
  const std::vector<T> before = this->random_values(rows * cols);
  this->on_each_target([&] {
    std::vector<T> c = before;
    this->multiply(this->plane(a.data(), depth, 1), this->plane(b.data(), cols, 1), rows, depth,
                   cols, c.data(), true);
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      const T sum = this->expected(&a[at(i / cols * depth)], 1, &b[at(i % cols)], cols, depth);
      ASSERT_TRUE(is_same_element(c[at(i)], this->add(before[at(i)], sum))) << i;
    }
  });
}

TYPED_TEST(MatmulKernels, PackAnyStridesWithoutReadingBeyond) {
  using T = TypeParam;
  constexpr std::int64_t rows = 27, depth = 19, cols = 45;
  const std::vector<T> a = this->random_values(rows * depth);
  const std::vector<T> b = this->random_values(depth * cols);
  this->on_each_target([&] {
    std::vector<T> wanted(rows * cols);
    this->multiply(this->plane(a.data(), depth, 1), this->plane(b.data(), cols, 1), rows, depth,
                   cols, wanted.data(), false);
    for (const std::int64_t step : {1, 3}) {
      for (const bool turns : {false, true}) {
        // The same matrices, with other strides and right before memory that cannot be read.
        const auto laid_out = [&](const std::vector<T>& x, std::int64_t height,
                                  std::int64_t width) {
          std::vector<T> copy(static_cast<std::size_t>((height * width - 1) * step + 1));
          for (std::int64_t i = 0; i < height; ++i) {
            for (std::int64_t j = 0; j < width; ++j) {
              copy[at((turns ? j * height + i : i * width + j) * step)] = x[at(i * width + j)];
            }
          }
          return copy;
        };
        const Guarded<T> left(laid_out(a, rows, depth));
        const Guarded<T> right(laid_out(b, depth, cols));
        std::vector<T> c(rows * cols);
        this->multiply(
            this->plane(left.data(), turns ? step : depth * step, turns ? rows * step : step),
            this->plane(right.data(), turns ? step : cols * step, turns ? depth * step : step),
            rows, depth, cols, c.data(), false);
        EXPECT_EQ(std::memcmp(c.data(), wanted.data(), c.size() * sizeof(T)), 0)
            << "step " << step << ", turned " << turns;
      }
    }
  });
}

TYPED_TEST(MatmulKernels, ReadRowsThatAreNotPacked) {
  using T = TypeParam;
  constexpr std::int64_t rows = 31, depth = 21, cols = 40;
  const std::vector<T> values = this->random_values(rows * depth);
  const std::vector<T> b = this->random_values(depth * cols);
  this->on_each_target([&] {
    std::vector<T> wanted(rows * cols);
    this->multiply(this->plane(values.data(), depth, 1), this->plane(b.data(), cols, 1), rows,
                   depth, cols, wanted.data(), false);
    const std::int64_t height = this->kernel().tile_rows;
    auto blocks = this->room(1, depth, cols);
    this->kernel().pack_right(this->plane(b.data(), cols, 1), depth, cols, blocks.aligned_right());
    std::vector<T> turned(rows * depth);
    for (std::int64_t i = 0; i < rows * depth; ++i) {
      turned[at(i % depth * rows + i / depth)] = values[at(i)];
    }
    std::vector<T> c(rows * cols);
    const Guarded<T> contiguous(values);
    this->kernel().multiply({contiguous.data(), height * depth, depth, 1}, blocks.aligned_right(),
                            rows, depth, cols, c.data(), cols, false);
    EXPECT_EQ(std::memcmp(c.data(), wanted.data(), c.size() * sizeof(T)), 0);
    const Guarded<T> side_by_side(turned);
    this->kernel().multiply({side_by_side.data(), height, 1, rows}, blocks.aligned_right(), rows,
                            depth, cols, c.data(), cols, false);
    EXPECT_EQ(std::memcmp(c.data(), wanted.data(), c.size() * sizeof(T)), 0);
  });
}

TYPED_TEST(MatmulKernels, ConvertWhatTheyPack) {
  using T = TypeParam;
  constexpr std::int64_t rows = 14, depth = 150, cols = 35;
  Random random;
  std::vector<std::int8_t> a(rows * depth);
  std::vector<std::int8_t> b(depth * cols);
  for (auto& x : a) x = static_cast<std::int8_t>(random.integer(-9, 9));
  for (auto& x : b) x = static_cast<std::int8_t>(random.integer(-9, 9));
  const auto bytes = [](const std::int8_t* x, std::int64_t row, std::int64_t col) {
    return ConstPlane{reinterpret_cast<const std::byte*>(x), DType::i8, row, col};
  };
  this->on_each_target([&] {
    std::vector<T> c(rows * cols);
    this->multiply(bytes(a.data(), depth, 1), bytes(b.data(), cols, 1), rows, depth, cols, c.data(),
                   false);
    std::vector<T> turned(rows * cols);
    this->multiply(bytes(a.data(), 1, rows), bytes(b.data(), 1, depth), rows, depth, cols,
                   turned.data(), false);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        int straight = 0;
        int other = 0;
        for (std::int64_t q = 0; q < depth; ++q) {
          straight += a[at(i * depth + q)] * b[at(q * cols + j)];
          other += a[at(q * rows + i)] * b[at(j * depth + q)];
        }
        ASSERT_EQ(c[at(i * cols + j)], static_cast<T>(straight)) << i << ", " << j;
        ASSERT_EQ(turned[at(i * cols + j)], static_cast<T>(other)) << i << ", " << j;
      }
    }
  });
}

TYPED_TEST(MatmulKernels, MakeOnlyProductsThatCount) {
  using T = TypeParam;
  constexpr std::int64_t rows = 17, depth = 23, cols = 39;
  Random random;
  std::vector<T> a = random.values<T>(rows * depth);
  std::vector<T> b = random.values<T>(depth * cols);
  std::vector<std::uint8_t> a_mask = random.mask_bytes(rows * depth, 0.6);
  std::vector<std::uint8_t> b_mask = random.mask_bytes(depth * cols, 0.6);
  if constexpr (std::is_floating_point_v<T>) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a_mask[at(i)] == 0) a[at(i)] = std::numeric_limits<T>::quiet_NaN();
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (b_mask[at(i)] == 0) b[at(i)] = std::numeric_limits<T>::infinity();
    }
  }
  const auto mask_plane = [](const std::vector<std::uint8_t>& mask, std::int64_t row) {
    return ConstPlane{reinterpret_cast<const std::byte*>(mask.data()), DType::u8, row, 1};
  };
  this->on_each_target([&] {
    auto values = this->room(rows, depth, cols);
    auto masks = this->room(rows, depth, cols);
    const MatmulKernel& kernel = this->kernel();
    kernel.pack_left(this->plane(a.data(), depth, 1), rows, depth, values.left.data());
    kernel.pack_left(mask_plane(a_mask, depth), rows, depth, masks.left.data());
    kernel.pack_right(this->plane(b.data(), cols, 1), depth, cols, values.aligned_right());
    kernel.pack_right(mask_plane(b_mask, cols), depth, cols, masks.aligned_right());
    std::vector<T> c(rows * cols, T{99});
    kernel.multiply_counted(values.left.data(), masks.left.data(), values.aligned_right(),
                            masks.aligned_right(), rows, depth, cols, c.data(), cols, false);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        T sum{};
        for (std::int64_t q = 0; q < depth; ++q) {
          if (a_mask[at(i * depth + q)] == 0 || b_mask[at(q * cols + j)] == 0) continue;
          sum = this->multiply_add(a[at(i * depth + q)], b[at(q * cols + j)], sum);
        }
        ASSERT_TRUE(is_same_element(c[at(i * cols + j)], sum)) << i << ", " << j;
      }
    }
  });
}

TYPED_TEST(MatmulKernels, MultiplyRowsByAVector) {
  using T = TypeParam;
  this->on_each_target([&] {
    for (const std::int64_t depth : {1, 2, 15, 16, 17, 63, 64, 65, 200}) {
      constexpr std::int64_t rows = 5;
      // Small integers: every order of additions gives the same sum.
      std::vector<T> a(at(rows * depth));
      std::vector<T> x(at(depth));
      Random random;
      for (T& value : a) value = static_cast<T>(random.integer(-50, 50));
      for (T& value : x) value = static_cast<T>(random.integer(-50, 50));
      const Guarded<T> matrix(a);
      const Guarded<T> vector(x);
      std::vector<T> out(rows, T{3});
      this->kernel().rows_times_vector(matrix.data(), depth, rows, depth, vector.data(), out.data(),
                                       true);
      for (std::int64_t i = 0; i < rows; ++i) {
        T sum{3};
        for (std::int64_t q = 0; q < depth; ++q) sum += a[at(i * depth + q)] * x[at(q)];
        ASSERT_EQ(out[at(i)], sum) << "depth " << depth << ", row " << i;
      }
    }
  });
}

TYPED_TEST(MatmulKernels, MultiplyAVectorByColumnsInOrder) {
  using T = TypeParam;
  Random random;
  this->on_each_target([&] {
    for (const std::int64_t cols : {1, 3, 16, 17, 40, 1024, 1030}) {
      for (const std::int64_t depth :
           {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, std::int64_t{21}, depth_block + 9}) {
        const std::vector<T> b = random.values<T>(depth * cols);
        const std::vector<T> x = random.values<T>(depth);
        const Guarded<T> matrix(b);
        std::vector<T> out(static_cast<std::size_t>(cols), T{99});
        this->kernel().vector_times_columns(x.data(), matrix.data(), cols, depth, cols, out.data(),
                                            false);
        for (std::int64_t j = 0; j < cols; ++j) {
          const std::int64_t first = std::min(depth, depth_block);
          T sum = this->expected(x.data(), 1, &b[at(j)], cols, first);
          if (depth > first) {
            sum = this->add(sum, this->expected(&x[at(first)], 1, &b[at(first * cols + j)], cols,
                                                depth - first));
          }
          ASSERT_TRUE(is_same_element(out[at(j)], sum)) << depth << " x " << cols << " at " << j;
        }
      }
    }
  });
}

}  // namespace
}  // namespace loup::test
