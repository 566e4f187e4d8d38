// Reductions that compute in float where that is enough. Where it is not they must notice, whatever
// the elements are.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/numbers.h"
#include "tests/support/random.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::masked {
namespace {

using test::Random;

/// Numbers of one kind; `i` is the place in its line.
struct Kind {
  std::string name;
  std::function<double(Random&, std::int64_t i)> number;
};

double about(Random& random, double middle, double width) {
  return middle + width * (random.fraction() + random.fraction() + random.fraction() - 1.5);
}

std::vector<Kind> kinds(DType dtype) {
  const auto scaled = [](double scale) {
    return [scale](Random& random, std::int64_t) { return scale * about(random, 0.1, 1); };
  };
  std::vector<Kind> result = {
      {"ordinary", scaled(1)},
      {"far from 0", [](Random& random, std::int64_t) { return about(random, 300, 1); }},
      {"one far away at first",
       [](Random& random, std::int64_t i) { return i == 0 ? 3e4 : about(random, 0, 0.01); }},
      {"one far away at last",
       [](Random& random, std::int64_t i) { return i == 129 ? 3e4 : about(random, 0, 0.01); }},
      {"a step", [](Random& random, std::int64_t i) { return about(random, i < 40 ? 0 : 500, 1); }},
      {"zeros", [](Random&, std::int64_t) { return 0.0; }},
      {"all the same", [](Random&, std::int64_t) { return 1.7; }},
      {"little", scaled(1e-6)},
  };
  if (dtype == DType::f16) return result;
  result.push_back({"tiny", scaled(1e-26)});
  result.push_back(
      {"tiny of both signs", [](Random&, std::int64_t i) { return i % 2 == 0 ? 1e-25 : -1e-25; }});
  result.push_back({"huge", scaled(1e26)});
  result.push_back({"huge or tiny", [](Random& random, std::int64_t) {
                      return (random.chance(0.5) ? 1e20 : 1e-30) * about(random, 0.1, 1);
                    }});
  return result;
}

/// [rows, cols], each column of one kind.
Tensor columns_of(Random& random, const Kind& kind, std::int64_t rows, std::int64_t cols,
                  DType dtype) {
  const Tensor x = empty({rows, cols}, DType::f64);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) x.set({r, c}, kind.number(random, r));
  }
  return ops::to(x, dtype);
}

/// What counts of each column of a matrix.
std::vector<std::vector<double>> counted_columns(const Tensor& x, const Tensor& mask) {
  std::vector<std::vector<double>> result(static_cast<std::size_t>(x.shape()[1]));
  test::for_each_index(x.shape(), [&](const Dims& index) {
    if (mask.at<bool>(index))
      result[static_cast<std::size_t>(index[1])].push_back(x.at<double>(index));
  });
  return result;
}

double variance_of(const std::vector<double>& x) {
  if (x.empty()) return test::nan;
  long double mean = 0;
  for (const double each : x) mean += each;
  mean /= static_cast<long double>(x.size());
  long double squares = 0;
  for (const double each : x) squares += (each - mean) * (each - mean);
  return x.size() == 1 ? test::nan
                       : static_cast<double>(squares / static_cast<long double>(x.size() - 1));
}

double log_sum_exp_of(const std::vector<double>& x) {
  if (x.empty()) return -test::inf;
  const double top = *std::max_element(x.begin(), x.end());
  long double sum = 0;
  for (const double each : x) sum += std::exp(static_cast<long double>(each) - top);
  return static_cast<double>(top + std::log(sum));
}

double norm_of(const std::vector<double>& x) {
  long double squares = 0;
  for (const double each : x) squares += static_cast<long double>(each) * each;
  return static_cast<double>(std::sqrt(squares));
}

/// How much a number of this size is rounded by, at most.
double rounding(double value, DType dtype) {
  const int digits = dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : 24;
  const int least = dtype == DType::f16 ? -14 : -126;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(0.5, std::max(exponent - 1, least) - (digits - 1));
}

double largest(DType dtype) { return dtype == DType::f16 ? 65504 : 3.4e38; }

/// `zero`: numbers of less than this are judged as it is, since they are what others left over.
void expect_rounded(const Tensor& got, const std::vector<double>& wanted, double zero,
                    const std::string& what) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto value = got.at<double>({static_cast<std::int64_t>(i)});
    const double exact = wanted[i];
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(value)) << what << ", line " << i << " is " << value;
    } else if (std::abs(exact) > largest(got.dtype())) {
      EXPECT_EQ(value, std::copysign(test::inf, exact))
          << what << ", line " << i << " instead of " << exact;
    } else {
      // Half types: the last rounding, and a little before it.
      const double share = got.dtype() == DType::f32 ? 2e-7 : 4e-6;
      const double allowed =
          1.01 * rounding(exact, got.dtype()) + share * std::max(std::abs(exact), zero);
      EXPECT_NEAR(value, exact, allowed) << what << ", line " << i;
    }
  }
}

/// What results are like.
struct Promise {
  double zero = 0;            // as in expect_rounded
  bool has_same_bits = true;  // on every instruction set
};

class Spread : public testing::TestWithParam<DType> {
 protected:
  /// Calls `check(columns, mask, what)` with matrices of all kinds.
  template <class Check>
  void for_each_kind(const Check& check) {
    Random random;
    for (const Kind& kind : kinds(GetParam())) {
      for (const auto& [rows, cols] : {std::pair{1, 5}, {2, 17}, {9, 16}, {130, 35}, {5000, 3}}) {
        const Tensor x = columns_of(random, kind, rows, cols, GetParam());
        const Tensor mask = test::random_mask(random, x.shape(), 0.7);
        for (std::int64_t r = 0; r < rows; ++r) mask.set({r, 2}, false);
        test::poison(x, mask, random);
        check(x, mask, fmt::format("{} {} of [{}, {}]", name(GetParam()), kind.name, rows, cols));
      }
    }
  }

  /// An operator of columns, and of the same columns as rows, on every instruction set.
  template <class Call>
  void expect_of_columns_and_rows(const Call& call, double (*exact)(const std::vector<double>&),
                                  Promise promise = {}) {
    for_each_kind([&](const Tensor& x, const Tensor& mask, const std::string& what) {
      std::vector<double> wanted;
      for (const auto& column : counted_columns(x, mask)) wanted.push_back(exact(column));
      const Tensor turned = ops::clone(ops::transpose(x, 0, 1));
      const Tensor turned_mask = ops::clone(ops::transpose(mask, 0, 1));
      const auto columns = [&] { return call(x, 0, mask); };
      const auto rows = [&] { return call(turned, 1, turned_mask); };
      const Tensor first_columns = columns();
      const Tensor first_rows = rows();
      test::for_each_target([&] {
        expect_rounded(columns(), wanted, promise.zero, what + " along columns");
        expect_rounded(rows(), wanted, promise.zero, what + " along rows");
        if (!promise.has_same_bits) return;
        EXPECT_EQ(test::bits_of(columns()), test::bits_of(first_columns)) << what;
        EXPECT_EQ(test::bits_of(rows()), test::bits_of(first_rows)) << what;
      });
    });
  }
};
INSTANTIATE_TEST_SUITE_P(, Spread, testing::Values(DType::f16, DType::bf16, DType::f32),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(Spread, OfVariancesIsExact) {
  expect_of_columns_and_rows([](const Tensor& x, std::int64_t dim,
                                const Tensor& mask) { return var(x, dim, {.mask = mask}); },
                             variance_of);
}

TEST_P(Spread, OfDeviationsIsExactWhereVariancesVanish) {
  expect_of_columns_and_rows(
      [](const Tensor& x, std::int64_t dim, const Tensor& mask) {
        return loup::masked::std(x, dim, {.mask = mask});
      },
      [](const std::vector<double>& x) { return std::sqrt(variance_of(x)); });
}

TEST_P(Spread, OfNormsIsExact) {
  expect_of_columns_and_rows([](const Tensor& x, std::int64_t dim,
                                const Tensor& mask) { return norm(x, 2, dim, {.mask = mask}); },
                             norm_of);
}

// Distances from a first element that is far away from all others cancel, as many bits as the row
// is long, and float16 is left with no more than it needs.
TEST(HalfVariances, StartFromAnElementThatIsFarAway) {
  Random random;
  const Tensor x = empty({64, 2040}, DType::f64);
  test::for_each_index(x.shape(), [&](const Dims& index) {
    x.set(index, index[1] == 0 ? 2e4 + 100.0 * static_cast<double>(index[0]) : about(random, 0, 1));
  });
  const Tensor halves = ops::to(x, DType::f16);
  const Tensor turned = ops::transpose(halves, 0, 1);
  std::vector<double> wanted;
  for (const auto& row : counted_columns(turned, ones(turned.shape(), DType::boolean))) {
    wanted.push_back(std::sqrt(variance_of(row)));
  }
  test::for_each_target([&] {
    expect_rounded(loup::masked::std(halves, 1), wanted, 0, "rows");
    expect_rounded(loup::masked::std(turned, 0), wanted, 0, "columns");
  });
}

TEST(WideVariances, AreThoseOfFewColumns) {
  Random random;
  const Tensor x = test::random_tensor(random, {300, 2049 + 70}, DType::f32);
  for (std::int64_t c = 0; c < x.shape()[1]; c += 5) x.set({0, c}, 1e6);
  const Tensor mask = test::random_mask(random, x.shape());
  test::poison(x, mask, random);
  test::for_each_target([&] {
    test::with_threads({1, 2, 7}, [&] {
      const Tensor all = var(x, 0, {.mask = mask});
      for (const std::int64_t first : {0, 2040, 2049, 2100}) {
        const auto part = [&](const Tensor& t) { return ops::narrow(t, 1, first, 19); };
        const Tensor own = var(part(x), 0, {.mask = part(mask)});
        for (std::int64_t c = 0; c < 19; ++c) {
          EXPECT_NEAR(own.at<double>({c}), all.at<double>({first + c}), 2e-7 * own.at<double>({c}));
        }
      }
    });
  });
}

TEST(WideVariances, AreNaNWhereAnElementIsNotFinite) {
  const Tensor x = ones({40, 20}, DType::f32);
  x.set({11, 3}, test::nan);
  x.set({0, 4}, test::nan);
  x.set({11, 5}, test::inf);
  x.set({0, 6}, -test::inf);
  test::for_each_target([&] {
    const Tensor result = var(x, 0);
    for (std::int64_t c = 0; c < 20; ++c) {
      EXPECT_EQ(std::isnan(result.at<float>({c})), c >= 3 && c <= 6) << c;
    }
  });
}

TEST_P(Spread, OfLogarithmsOfSumsIsExact) {
  expect_of_columns_and_rows([](const Tensor& x, std::int64_t dim,
                                const Tensor& mask) { return logsumexp(x, dim, {.mask = mask}); },
                             log_sum_exp_of,
                             {.zero = 1, .has_same_bits = false});  // products may be fused
}

class HalfProducts : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(, HalfProducts, testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name(info.param)); });

// Factors that cancel in the end, but overflow or vanish in a float on the way there.
TEST_P(HalfProducts, MayOverflowAndVanishOnTheWay) {
  const int power = GetParam() == DType::f16 ? 14 : 100;
  for (const std::int64_t count : {512, 600, 1500}) {
    const Tensor x = ones({6, count}, DType::f64);
    for (std::int64_t i = 0; i < 16; ++i) {  // all in one lane
      x.set({0, 32 * i}, std::ldexp(1.25, i < 8 ? power : -power));
      x.set({1, 32 * i}, std::ldexp(1.25, i < 8 ? -power : power));
      x.set({2, i}, std::ldexp(1.25, i % 2 == 0 ? -power : power));
    }
    x.set({3, count / 2}, 0);
    // One block of factors by itself is beyond the range of double, but not after the one before.
    const int first = GetParam() == DType::f16 ? 10 : 60;
    const int second = GetParam() == DType::f16 ? 10 : 66;
    for (std::int64_t i = 0; i < 512 && count >= 1024; i += 32) {
      x.set({4, i}, std::ldexp(1.25, -first));
      x.set({4, i + 512}, std::ldexp(1.25, second));
      x.set({5, i}, std::ldexp(1.25, first));
      x.set({5, i + 512}, std::ldexp(1.25, -second));
    }
    const Tensor halves = ops::to(x, GetParam());
    const Tensor wanted = prod(ops::to(halves, DType::f64), 1);
    test::for_each_target([&] {
      const Tensor got = prod(halves, 1);
      for (std::int64_t r = 0; r < x.shape()[0]; ++r) {
        const auto exact = wanted.at<double>({r});
        EXPECT_NEAR(got.at<double>({r}), exact, 1.01 * rounding(exact, GetParam()) + 4e-6 * exact)
            << count << ", row " << r;
      }
    });
  }
}

TEST_P(HalfProducts, OfInfiniteElementsAreDefined) {
  const Tensor x = ops::to(ones({4, 100}, DType::f32), GetParam());
  x.set({0, 40}, -test::inf);
  x.set({1, 40}, test::inf);
  x.set({1, 72}, 0);
  x.set({2, 99}, test::nan);
  test::for_each_target([&] {
    const Tensor result = prod(x, 1);
    EXPECT_EQ(result.at<float>({0}), -test::inf);
    EXPECT_TRUE(std::isnan(result.at<float>({1})));
    EXPECT_TRUE(std::isnan(result.at<float>({2})));
    EXPECT_EQ(result.at<float>({3}), 1);
  });
}

class HalfExtremes : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(, HalfExtremes, testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name(info.param)); });

/// Any bits at all: NaN of both signs, infinities, zeros of both signs, denormal numbers.
TEST_P(HalfExtremes, AreThoseOfFloats) {
  Random random;
  for (const std::int64_t count : {1, 2, 31, 32, 33, 64, 65, 255, 600}) {
    const Tensor x = empty({40, count}, GetParam());
    auto* const bits = reinterpret_cast<std::uint16_t*>(x.raw_data());
    for (std::int64_t i = 0; i < x.size(); ++i) {
      bits[i] = static_cast<std::uint16_t>(random.bits());
      const std::int64_t row = i / count;
      const bool is_nan = std::isnan(x.at<float>({row, i % count}));
      if (is_nan && row % 4 != 0) bits[i] = 0x8000;
      if (row % 4 == 1) bits[i] &= 0x8000U;  // zeros only
      if (row % 4 == 2) bits[i] |= 0x8000U;  // none above 0
    }
    const Tensor mask = test::random_mask(random, x.shape());
    const Tensor floats = ops::to(x, DType::f32);
    test::for_each_target([&] {
      for (const Reduction* const op : {&amax, &amin, &argmax, &argmin}) {
        const Tensor got = (*op)(x, 1, {.mask = mask});
        const Tensor wanted = (*op)(floats, 1, {.mask = mask});
        for (std::int64_t r = 0; r < 40; ++r) {
          const auto value = got.at<double>({r});
          const auto exact = wanted.at<double>({r});
          EXPECT_TRUE(value == exact || (std::isnan(value) && std::isnan(exact)))
              << op->name << " of " << count << ", row " << r << ": " << value << " instead of "
              << exact;
        }
      }
      for (const PairReduction* const op : {&max, &min}) {
        const auto [values, places] = (*op)(x, 1, {.mask = mask});
        for (std::int64_t r = 0; r < 40; ++r) {
          const auto place = places.at<std::int64_t>({r});
          const bool is_nan = std::isnan(values.at<float>({r}));
          if (is_nan || !mask.at<bool>({r, place})) continue;  // or nothing counts
          EXPECT_EQ(test::bits_of(ops::select(values, 0, r)),
                    test::bits_of(ops::select(ops::select(x, 0, r), 0, place)))
              << op->name << " of " << count << ", row " << r;
        }
      }
    });
  }
}

TEST_P(HalfExtremes, OfShortRowsPreferZerosByTheirSign) {
  const Tensor x = ops::to(zeros({64}, DType::f32), GetParam());
  x.set({5}, -0.0);
  test::for_each_target([&] {
    EXPECT_FALSE(std::signbit(amax(x, 0).item<float>()));
    EXPECT_TRUE(std::signbit(amin(x, 0).item<float>()));
    EXPECT_EQ(argmin(x, 0).item<std::int64_t>(), 0);
  });
}

}  // namespace
}  // namespace loup::masked
