#include "loup/kernels/nth.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::kernels {
namespace {

using test::for_each_target;
using test::Random;

/// The keys of the elements of `x` that count, as the kernel collects them.
struct Collected {
  std::vector<std::byte> keys;
  std::int64_t count;
  bool has_nan;
};

std::int64_t key_bytes(DType dtype, std::int64_t count) {
  return (count + key_slack) * nth_kernel(dtype).key_bytes;
}

Collected collect(const Tensor& x, const std::vector<std::uint8_t>* mask) {
  const NthKernel& kernel = nth_kernel(x.dtype());
  Collected result{std::vector<std::byte>(static_cast<std::size_t>(key_bytes(x.dtype(), x.size()))),
                   0, false};
  result.count = kernel.collect(x.raw_data(), mask != nullptr ? mask->data() : nullptr, x.size(),
                                result.keys.data(), result.has_nan);
  return result;
}

std::int64_t select(DType dtype, Collected& from, std::int64_t nth) {
  std::vector<std::byte> spare(from.keys.size());
  return nth_kernel(dtype).select(from.keys.data(), from.count, nth, spare.data());
}

/// Total order: -0 before 0.
template <class T>
bool is_before(T a, T b) {
  const auto x = convert<double>(a);
  const auto y = convert<double>(b);
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return a < b;
  } else {
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
  }
}

/// Elements with ties, both zeros, infinities and denormals, but no NaN.
template <class T>
T tricky_element(Random& random) {
  if constexpr (std::is_integral_v<T>) {
    return random.chance(0.5) ? random.value<T>() : convert<T>(random.integer(0, 3));
  } else {
    const T value = random.chance(0.3) ? test::garbage<T>(random) : random.value<T>();
    if (std::isnan(convert<double>(value))) return convert<T>(-0.0);
    if (random.chance(0.2)) return convert<T>(random.chance(0.5) ? 0.0 : -0.0);
    return value;
  }
}

class NthOfEveryDType : public testing::TestWithParam<DType> {};

TEST_P(NthOfEveryDType, SelectsWhatSortingPutsThere) {
  for_each_target([] {
    Random random;
    for (const std::int64_t count : {1, 2, 7, 16, 33, 63, 64, 65, 100, 500, 2049, 5000}) {
      for (int form = 0; form < 3; ++form) {
        visit_dtype(GetParam(), [&]<class T>(std::type_identity<T>) {
          const Tensor x = empty({count}, GetParam());
          for (T& element : x.data<T>()) element = tricky_element<T>(random);
          const auto mask = random.mask_bytes(count, form == 0 ? 0.5 : 0.95);
          std::vector<T> sorted;
          for (std::int64_t i = 0; i < count; ++i) {
            if (form == 2 || mask[static_cast<std::size_t>(i)] != 0) {
              sorted.push_back(x.at<T>({i}));
            }
          }
          std::sort(sorted.begin(), sorted.end(), is_before<T>);
          Collected found = collect(x, form == 2 ? nullptr : &mask);
          ASSERT_EQ(found.count, std::ssize(sorted)) << count;
          ASSERT_FALSE(found.has_nan);
          const std::vector<std::byte> before = found.keys;
          for (int trial = 0; trial < 12 && !sorted.empty(); ++trial) {
            const std::int64_t last = found.count - 1;
            const std::int64_t nth = trial == 0   ? 0
                                     : trial == 1 ? last
                                     : trial == 2 ? last / 2
                                                  : random.integer(0, last);
            const std::int64_t key = select(GetParam(), found, nth);
            T got;
            write_key(GetParam(), key, reinterpret_cast<std::byte*>(&got));
            const T wanted = sorted[static_cast<std::size_t>(nth)];
            ASSERT_EQ(std::memcmp(&got, &wanted, sizeof(T)), 0)
                << "place " << nth << " of " << found.count << ": expected "
                << convert<double>(wanted) << ", got " << convert<double>(got);
            ASSERT_EQ(value_of_key(GetParam(), key), convert<double>(wanted));
            if (nth == last) continue;
            const std::int64_t next =
                nth_kernel(GetParam()).next(found.keys.data(), found.count, nth, key);
            write_key(GetParam(), next, reinterpret_cast<std::byte*>(&got));
            ASSERT_EQ(convert<double>(got),
                      convert<double>(sorted[static_cast<std::size_t>(nth) + 1]));
          }
          const auto kept = found.count * nth_kernel(GetParam()).key_bytes;
          ASSERT_TRUE(std::equal(before.begin(), before.begin() + kept, found.keys.begin()));
        });
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Nth, NthOfEveryDType, testing::ValuesIn(test::all_dtypes()),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

class EveryOrder : public testing::TestWithParam<int> {
 protected:
  /// Data of the kinds that samples describe badly.
  static float element(Random& random, std::int64_t i, std::int64_t count) {
    switch (GetParam()) {
      case 0: return static_cast<float>(i);
      case 1: return static_cast<float>(count - i);
      case 2: return 1;
      case 3: return random.chance(0.5) ? 1.0F : 0.0F;
      case 4: return i % 2 == 0 ? 5.0F : static_cast<float>(i);
      case 5: return static_cast<float>(i % 64);
      case 6: return i % (count / 64) == count / 128 ? -1.0F : static_cast<float>(random.real());
      case 7: return random.chance(0.99) ? 3.0F : static_cast<float>(random.real());
      default: return static_cast<float>(random.integer(0, 2));
    }
  }
};

TEST_P(EveryOrder, IsSelectedFromAlike) {
  for_each_target([] {
    Random random;
    constexpr std::int64_t count = 6400;
    const Tensor x = empty({count}, DType::f32);
    for (std::int64_t i = 0; i < count; ++i) x.set({i}, element(random, i, count));
    auto sorted = test::elements<float>(x);
    std::sort(sorted.begin(), sorted.end());
    Collected found = collect(x, nullptr);
    for (const std::int64_t nth : {0, 1, 77, 3199, 3200, 6000, 6399}) {
      ASSERT_EQ(value_of_key(DType::f32, select(DType::f32, found, nth)),
                sorted[static_cast<std::size_t>(nth)])
          << nth;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Nth, EveryOrder, testing::Range(0, 9));

TEST(Nth, TellsOfNaNOnlyWhereTheyCount) {
  for_each_target([] {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      for (const double sign : {1.0, -1.0}) {
        for (std::int64_t at = 0; at < 70; ++at) {
          const Tensor x = zeros({70}, dtype);
          x.set({at}, std::copysign(std::nan(""), sign));
          std::vector<std::uint8_t> mask(70, 1);
          EXPECT_TRUE(collect(x, &mask).has_nan) << name(dtype) << at;
          EXPECT_TRUE(collect(x, nullptr).has_nan) << name(dtype) << at;
          mask[static_cast<std::size_t>(at)] = 0;
          EXPECT_FALSE(collect(x, &mask).has_nan) << name(dtype) << at;
        }
      }
    }
  });
}

TEST(Nth, TakesInfinitiesForNumbers) {
  const Tensor x = tensor(
      {std::numeric_limits<float>::infinity(), 1.0F, -std::numeric_limits<float>::infinity()});
  Collected found = collect(x, nullptr);
  EXPECT_FALSE(found.has_nan);
  EXPECT_EQ(value_of_key(DType::f32, select(DType::f32, found, 0)),
            -std::numeric_limits<double>::infinity());
}

TEST(FindFirst, FindsThePositionOfEachLine) {
  const Tensor x = tensor({{1.0F, 2.0F, 2.0F}, {3.0F, 3.0F, 3.0F}, {1.0F, 0.0F, -0.0F}});
  const std::vector<std::uint8_t> mask = {1, 0, 1, 0, 0, 0, 1, 1, 1};
  const Tensor values = tensor({2.0F, 3.0F, -0.0F});
  std::vector<std::int64_t> positions(3);
  find_first(DType::f32, {x.raw_data(), mask.data(), 3, 1, 3, 1, 3, 3}, values.raw_data(), 1,
             positions.data());
  EXPECT_EQ(positions, (std::vector<std::int64_t>{2, -1, 1}));
}

TEST(FindFirst, TakesNaNForEqual) {
  const float nan = std::nanf("");
  const Tensor x = tensor({0.0F, nan, nan});
  const Tensor values = tensor({nan});
  std::int64_t position = 0;
  find_first(DType::f32, {x.raw_data(), nullptr, 3, 1, 0, 0, 1, 3}, values.raw_data(), 1,
             &position);
  EXPECT_EQ(position, 1);
}

}  // namespace
}  // namespace loup::kernels
