#include "loup/kernels/turn.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/guarded.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

template <class T>
void expect_turned(std::int64_t rows, std::int64_t cols) {
  const std::int64_t from_col = rows + rows % 3;
  const std::int64_t to_row = cols + cols % 2;
  std::vector<T> source(static_cast<std::size_t>((cols - 1) * from_col + rows));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<T>(i * 37 + 11);
  const test::Guarded<T> from(source);
  constexpr T untouched = 99;
  const test::Guarded<T> to(
      std::vector<T>(static_cast<std::size_t>((rows - 1) * to_row + cols), untouched));
  find_turn(sizeof(T))(reinterpret_cast<std::byte*>(to.data()), to_row,
                       reinterpret_cast<const std::byte*>(from.data()), from_col, rows, cols);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      ASSERT_EQ(to.data()[r * to_row + c], from.data()[r + c * from_col])
          << rows << " x " << cols << " at " << r << ", " << c;
    }
    if (to_row > cols && r + 1 < rows) {
      ASSERT_EQ(to.data()[r * to_row + cols], untouched) << "beside row " << r;
    }
  }
}

template <class T>
void expect_turned_in_every_size() {
  test::for_each_target([] {
    for (std::int64_t rows = 1; rows <= 40; ++rows) {
      for (std::int64_t cols = 1; cols <= 70; cols += cols < 20 ? 1 : 3) {
        expect_turned<T>(rows, cols);
      }
    }
    expect_turned<T>(130, 260);
  });
}

TEST(Turn, PutsElementsOf1ByteInPlace) { expect_turned_in_every_size<std::uint8_t>(); }
TEST(Turn, PutsElementsOf2BytesInPlace) { expect_turned_in_every_size<std::uint16_t>(); }
TEST(Turn, PutsElementsOf4BytesInPlace) { expect_turned_in_every_size<std::uint32_t>(); }
TEST(Turn, PutsElementsOf8BytesInPlace) { expect_turned_in_every_size<std::uint64_t>(); }

}  // namespace
}  // namespace loup::kernels
