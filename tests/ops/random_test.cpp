#include "loup/ops/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "loup/autograd/backward.h"
#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/philox.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/support/errors.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"

namespace loup::ops {
namespace {

using test::bits_of;
using test::elements;
using test::expect_error;

RandomOptions seeded(std::uint64_t seed, std::optional<DType> dtype = {}) {
  return {.dtype = dtype, .generator = Generator(seed)};
}

constexpr DType floats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

// --- the generator ---

TEST(Generator, RepeatsItsNumbersFromItsSeed) {
  Generator generator(7);
  const Tensor first = rand({10}, {.generator = generator});
  const Tensor second = rand({10}, {.generator = generator});
  EXPECT_NE(bits_of(first), bits_of(second));
  generator.manual_seed(7);
  EXPECT_EQ(bits_of(rand({10}, {.generator = generator})), bits_of(first));
  EXPECT_EQ(bits_of(rand({10}, {.generator = generator})), bits_of(second));
}

TEST(Generator, GoesOnFromASavedState) {
  Generator generator(3);
  rand({5}, {.generator = generator});
  const Generator::State state = generator.state();
  EXPECT_EQ(state, (Generator::State{3, 2}));
  const Tensor next = randn({9}, {.generator = generator});
  Generator other;
  other.set_state(state);
  EXPECT_EQ(bits_of(randn({9}, {.generator = other})), bits_of(next));
}

TEST(Generator, SharesItsSequenceWithItsCopies) {
  const Generator generator(3);
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is tested
  const Generator copy = generator;
  const Tensor first = rand({4}, {.generator = generator});
  const Tensor second = rand({4}, {.generator = copy});
  EXPECT_NE(bits_of(first), bits_of(second));
  EXPECT_EQ(generator.state(), copy.state());
}

TEST(Generator, HasAnotherSeedEveryTimeUnlessGivenOne) {
  EXPECT_NE(Generator().seed(), Generator().seed());
  EXPECT_EQ(Generator(9).seed(), 9U);
}

TEST(Generator, GivesNoPartOfItsSequenceTwiceToSeveralThreads) {
  const Generator generator(1);
  std::vector<std::vector<std::uint64_t>> taken(4);
  std::vector<std::thread> threads;
  for (auto& blocks : taken) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) blocks.push_back(generator.take(5).first_block);
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& blocks : taken) all.insert(blocks.begin(), blocks.end());
  EXPECT_EQ(all.size(), 4000U);
  EXPECT_EQ(*all.rbegin(), 2U * 3999U);
}

TEST(ManualSeed, SeedsCallsThatAreGivenNoGenerator) {
  manual_seed(5);
  const Tensor first = rand({6});
  manual_seed(5);
  EXPECT_EQ(bits_of(rand({6})), bits_of(first));
  EXPECT_EQ(bits_of(rand({6}, seeded(5))), bits_of(first));
}

// --- independence of everything but the seed ---

/// What every random operator gives for one seed.
std::vector<std::vector<std::byte>> all_numbers(const Shape& shape) {
  std::vector<std::vector<std::byte>> result;
  for (const DType dtype : floats) {
    result.push_back(bits_of(rand(shape, seeded(1, dtype))));
    result.push_back(bits_of(randn(shape, seeded(2, dtype))));
    result.push_back(bits_of(bernoulli(rand(shape, seeded(3, dtype)), seeded(4))));
  }
  for (const DType dtype : test::all_dtypes()) {
    const bool is_bool = dtype == DType::boolean;
    result.push_back(bits_of(randint(0, is_bool ? 2 : 100, shape, seeded(5, dtype))));
    result.push_back(bits_of(bernoulli(0.3, shape, seeded(6, dtype))));
  }
  result.push_back(bits_of(randint({INT64_MIN, INT64_MAX}, shape, seeded(7))));
  return result;
}

TEST(RandomTensors, HaveTheSameBitsForAnyNumberOfThreads) {
  const Shape shape = {301, 701};  // several tasks, and no multiple of any vector
  const auto wanted = all_numbers(shape);
  test::with_threads({1, 2, 7}, [&] { EXPECT_EQ(all_numbers(shape), wanted); });
}

TEST(RandomTensors, HaveTheSameBitsOnEveryTarget) {
  const Shape shape = {31, 71};
  const auto wanted = all_numbers(shape);
  test::for_each_target([&] { EXPECT_EQ(all_numbers(shape), wanted); });
}

TEST(RandomTensors, BeginWithThoseOfSmallerOnes) {
  const auto whole = elements<float>(randn({1000}, seeded(1)));
  const auto part = elements<float>(randn({37}, seeded(1)));
  EXPECT_EQ(part, (std::vector<float>(whole.begin(), whole.begin() + 37)));
}

TEST(RandomTensors, MayBeEmptyOr0d) {
  EXPECT_EQ(rand({0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(randn({}).ndim(), 0);
  EXPECT_EQ(randint(0, 5, {0}).size(), 0);
  EXPECT_EQ(bernoulli(0.5, {}).ndim(), 0);
}

// --- statistics, with seeds that are fixed: these tests do not fail by chance ---

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double correlation(const std::vector<double>& x, std::size_t lag) {
  const double mean = mean_of(x);
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i + lag < x.size(); ++i) product += (x[i] - mean) * (x[i + lag] - mean);
  for (const double value : x) square += (value - mean) * (value - mean);
  return product / square;
}

/// The largest distance between the distribution of x and `cdf`, in units of 1 / sqrt(n).
template <class Cdf>
double kolmogorov_smirnov(std::vector<double> x, Cdf cdf) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = cdf(x[i]);
    const auto below = static_cast<double>(i);
    largest = std::max({largest, std::abs(p - below / n), std::abs(p - (below + 1) / n)});
  }
  return largest * std::sqrt(n);
}

/// The sum of squares in units of its standard deviation: within ±4 nearly always.
double chi_square_deviation(const std::vector<std::int64_t>& counts, double expected) {
  double sum = 0;
  for (const std::int64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

constexpr std::int64_t many = 1 << 20;

TEST(Rand, IsUniformInEveryDType) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    SCOPED_TRACE(name(dtype));
    const auto x = elements<double>(rand({many}, seeded(11, dtype)));
    EXPECT_NEAR(mean_of(x), 0.5, 5 * std::sqrt(1.0 / 12 / many));
    EXPECT_LT(kolmogorov_smirnov(x, [](double value) { return value; }), 1.95);
    std::vector<std::int64_t> counts(1000);
    for (const double value : x) ++counts[static_cast<std::size_t>(value * 1000)];
    EXPECT_LT(std::abs(chi_square_deviation(counts, many / 1000.0)), 4);
    for (const std::size_t lag : {1U, 2U, 3U, 4U, 8U, 16U, 64U, 1000U}) {
      EXPECT_LT(std::abs(correlation(x, lag)), 5 / std::sqrt(many)) << "lag " << lag;
    }
  }
}

TEST(Rand, StaysBelow1In16Bits) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    SCOPED_TRACE(name(dtype));
    const auto rounded = elements<double>(rand({many}, seeded(12, dtype)));
    const auto x = elements<double>(rand({many}, seeded(12)));
    const double below_1 = dtype == DType::f16 ? 1 - 0x1p-11 : 1 - 0x1p-8;
    EXPECT_EQ(*std::max_element(rounded.begin(), rounded.end()), below_1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(rounded[i], x[i]);
      ASSERT_GE(rounded[i], x[i] * (1 - 0x1p-7));
    }
  }
}

TEST(Rand, ReachesTheSmallestNumbersOfFloat16) {
  // One word in 2^14 is below the normal numbers of float16.
  const auto x = elements<double>(rand({1 << 24}, seeded(13, DType::f16)));
  const double smallest = *std::min_element(x.begin(), x.end());
  EXPECT_LT(smallest, 0x1p-20);
  for (const double value : x) ASSERT_EQ(value, std::floor(value * 0x1p24) * 0x1p-24);
}

double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

TEST(Randn, IsNormalInEveryDType) {
  for (const DType dtype : floats) {
    SCOPED_TRACE(name(dtype));
    const auto x = elements<double>(randn({many}, seeded(14, dtype)));
    EXPECT_NEAR(mean_of(x), 0, 5 / std::sqrt(many));
    std::vector<double> squares;
    std::vector<double> fourth;
    for (const double value : x) {
      squares.push_back(value * value);
      fourth.push_back(value * value * value * value);
    }
    EXPECT_NEAR(mean_of(squares), 1, 5 * std::sqrt(2.0 / many));
    EXPECT_NEAR(mean_of(fourth), 3, 5 * std::sqrt(96.0 / many));
    for (const std::size_t lag : {1U, 2U, 3U, 4U, 8U}) {
      EXPECT_LT(std::abs(correlation(x, lag)), 5 / std::sqrt(many)) << "lag " << lag;
      EXPECT_LT(std::abs(correlation(squares, lag)), 5 / std::sqrt(many)) << "lag " << lag;
    }
    const bool is_fine = item_bytes(dtype) > 2;  // the others have gaps that the test sees
    EXPECT_LT(is_fine ? kolmogorov_smirnov(x, normal_cdf) : 0, 1.95);
  }
}

TEST(Randn, HasTails) {
  const auto x = elements<double>(randn({1 << 24}, seeded(15)));
  const auto beyond = [&](double limit) {
    return std::count_if(x.begin(), x.end(), [=](double v) { return std::abs(v) > limit; });
  };
  EXPECT_NEAR(static_cast<double>(beyond(4)), 0x1p25 * normal_cdf(-4), 5 * std::sqrt(1062));
  EXPECT_GE(beyond(5), 2);
  EXPECT_EQ(beyond(7), 0);
}

TEST(RandomTensors, OfDifferentSeedsAreIndependent) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto a = elements<double>(rand({many / 8}, seeded(seed)));
    const auto b = elements<double>(rand({many / 8}, seeded(seed + 1)));
    std::vector<double> both;
    for (std::size_t i = 0; i < a.size(); ++i) both.push_back(a[i] * b[i]);
    EXPECT_NEAR(mean_of(both), 0.25, 5 * std::sqrt(7.0 / 144 / (many / 8.0))) << seed;
  }
}

TEST(Normal, HasMeanAndStd) {
  const auto x = elements<double>(normal(5, 0.25, {many}, seeded(16)));
  EXPECT_NEAR(mean_of(x), 5, 5 * 0.25 / std::sqrt(many));
  EXPECT_LT(kolmogorov_smirnov(x, [](double v) { return normal_cdf((v - 5) / 0.25); }), 1.95);
  EXPECT_EQ(elements<float>(normal(2, 0, {3})), (std::vector<float>{2, 2, 2}));
}

TEST(Normal, BroadcastsTensorsAndSendsThemGradients) {
  Tensor mean = tensor({{1.0}, {-1.0}});
  Tensor std = tensor({0.0, 1.0, 2.0});
  autograd::set_requires_grad(mean, true);
  autograd::set_requires_grad(std, true);
  const Tensor z = randn({2, 3}, seeded(17, DType::f64));
  const Tensor x = normal(mean, std, seeded(17));
  EXPECT_EQ(x.dtype(), DType::f64);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(x.at<double>({i, j}),
                mean.at<double>({i, 0}) + std.at<double>({j}) * z.at<double>({i, j}));
    }
  }
  autograd::backward(x, {.gradient = ones({2, 3}, DType::f64)});
  EXPECT_EQ(elements<double>(*autograd::grad(mean)), (std::vector<double>{3, 3}));
  EXPECT_EQ(autograd::grad(std)->at<double>({1}), z.at<double>({0, 1}) + z.at<double>({1, 1}));
}

TEST(Randint, TakesEveryNumberEquallyOften) {
  for (const std::int64_t span : {2, 3, 7, 100, 1000}) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(span));
    for (const std::int64_t k : elements<std::int64_t>(randint(-3, span - 3, {many}, seeded(18)))) {
      ++counts.at(static_cast<std::size_t>(k + 3));
    }
    EXPECT_LT(std::abs(chi_square_deviation(counts, many / static_cast<double>(span))), 4) << span;
  }
}

TEST(Randint, IsTheSameInEveryDTypeThatHoldsIt) {
  const auto wanted = elements<std::int64_t>(randint(0, 100, {1000}, seeded(19)));
  for (const DType dtype : test::all_dtypes()) {
    if (dtype == DType::boolean) continue;
    EXPECT_EQ(elements<std::int64_t>(randint(0, 100, {1000}, seeded(19, dtype))), wanted)
        << name(dtype);
  }
}

TEST(Randint, ReachesTheEndsOfEveryIntegerType) {
  const auto expect_ends = [](DType dtype, std::int64_t low, std::int64_t last, double share) {
    const auto x = elements<std::int64_t>(randint({low, last}, {100000}, seeded(20, dtype)));
    const double width = static_cast<double>(last) - static_cast<double>(low);
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    EXPECT_LE(static_cast<double>(*least) - static_cast<double>(low), width * share);
    EXPECT_LE(static_cast<double>(last) - static_cast<double>(*most), width * share);
  };
  expect_ends(DType::boolean, 0, 1, 0);
  expect_ends(DType::u8, 0, 255, 0);
  expect_ends(DType::i8, -128, 127, 0);
  expect_ends(DType::i16, INT16_MIN, INT16_MAX, 1e-4);
  expect_ends(DType::i32, INT32_MIN, INT32_MAX, 1e-3);
  expect_ends(DType::i64, INT64_MIN, INT64_MAX, 1e-3);
  expect_ends(DType::f32, -(1 << 24), 1 << 24, 1e-3);
}

TEST(Randint, OfOneNumberIsThatNumber) {
  EXPECT_EQ(elements<std::int64_t>(randint(INT64_MAX - 1, INT64_MAX, {2})),
            (std::vector<std::int64_t>{INT64_MAX - 1, INT64_MAX - 1}));
}

TEST(Bernoulli, HasTheProbabilityAskedFor) {
  for (const double p : {0.0, 0.001, 0.25, 0.7, 1.0}) {
    const auto x = elements<double>(bernoulli(p, {many}, seeded(21)));
    EXPECT_NEAR(mean_of(x), p, 5 * std::sqrt(p * (1 - p) / many)) << p;
  }
}

TEST(Bernoulli, IsTheSameForANumberAndForATensorOfIt) {
  for (const DType dtype : floats) {
    const Tensor p = full({3, 1000}, 0.375, dtype);
    EXPECT_EQ(elements<double>(bernoulli(p, seeded(22))),
              elements<double>(bernoulli(0.375, {3, 1000}, seeded(22))));
  }
}

TEST(Bernoulli, ReadsProbabilitiesThroughTheirStrides) {
  const Tensor p = rand({50, 60}, seeded(23));
  EXPECT_EQ(bits_of(bernoulli(transpose(p, 0, 1), seeded(24))),
            bits_of(bernoulli(contiguous(transpose(p, 0, 1)), seeded(24))));
}

TEST(LikeForms, KeepShapeAndDType) {
  const Tensor x = zeros({2, 3}, DType::f16);
  EXPECT_EQ(rand_like(x).dtype(), DType::f16);
  EXPECT_EQ(randn_like(x, {.dtype = DType::f64}).dtype(), DType::f64);
  EXPECT_EQ(randint_like(zeros({4}, DType::u8), 0, 9).dtype(), DType::u8);
  EXPECT_EQ(bits_of(rand_like(x, seeded(1))), bits_of(rand({2, 3}, seeded(1, DType::f16))));
}

// --- in place ---

TEST(RandomInPlace, WritesTheNumbersOfTheFunctionThroughAnyStrides) {
  Tensor whole = zeros({40, 30});
  Tensor turned = transpose(whole, 0, 1);
  uniform_(turned, 0, 1, Generator(25));
  EXPECT_EQ(bits_of(turned), bits_of(rand({30, 40}, seeded(25))));
  Tensor stepped = slice(whole, 1, 1, 30, 3);
  normal_(stepped, 0, 1, Generator(26));
  EXPECT_EQ(bits_of(stepped), bits_of(randn({40, 10}, seeded(26))));
  Tensor events = zeros({9, 8}, DType::i16);
  bernoulli_(events, 0.5, Generator(27));
  EXPECT_EQ(bits_of(events), bits_of(bernoulli(0.5, {9, 8}, seeded(27, DType::i16))));
  bernoulli_(events, tensor({0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0}));
  EXPECT_EQ(elements<int>(select(events, 0, 8)), (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(Uniform, StaysInsideOfItsRangeInEveryDType) {
  const std::pair<double, double> ranges[] = {{-1, 0},   {-3, -1}, {1, 1.01}, {-2.5, 7.5},
                                              {0, 1e-5}, {5, 5},   {0, 60000}};
  for (const DType dtype : floats) {
    for (const auto& [low, high] : ranges) {
      Tensor x = empty({30000}, dtype);
      uniform_(x, low, high, Generator(28));
      const double first = full({}, low, dtype).item<double>();
      const double end = full({}, high, dtype).item<double>();
      double sum = 0;
      for (const double value : elements<double>(x)) {
        ASSERT_GE(value, first) << name(dtype) << " in " << low << ", " << high;
        ASSERT_TRUE(value < end || first == end) << name(dtype) << " in " << low << ", " << high;
        sum += value;
      }
      if (dtype == DType::f32 || dtype == DType::f64) {
        EXPECT_NEAR(sum / 30000, (first + end) / 2, (end - first) * 0.01);
      }
    }
  }
}

TEST(RandomInPlace, CutsTheGradientOfWhatItReplaces) {
  Tensor x = tensor({1.0, 2.0});
  autograd::set_requires_grad(x, true);
  Tensor y = clone(x);
  uniform_(y);
  autograd::backward(y, {.gradient = ones({2}, DType::f64)});
  EXPECT_EQ(elements<double>(*autograd::grad(x)), (std::vector<double>{0, 0}));
}

// --- errors ---

TEST(RandomErrors, NameWhatWasExpected) {
  expect_error<DTypeError>([] { rand({2}, {.dtype = DType::i64}); },
                           "rand: expected a floating dtype", "got int64");
  expect_error<DTypeError>([] { randn({2}, {.dtype = DType::boolean}); },
                           "randn: expected a floating dtype", "got bool");
  expect_error<DTypeError>([] { rand_like(zeros({2}, DType::u8)); },
                           "rand_like: expected a floating dtype", "got uint8");
  expect_error<ValueError>([] { normal(0, -1, {2}); }, "normal: expected std of at least 0",
                           "got -1");
  expect_error<ValueError>([] { normal(tensor({0.0}), tensor({1.0, -2.0})); },
                           "normal: expected std of at least 0", "got -2");
  expect_error<ValueError>([] { randint(3, 3, {2}); }, "randint: expected low < high",
                           "got low 3 and high 3");
  expect_error<ValueError>([] { randint({1, 0}, {2}); }, "randint: expected a range with numbers",
                           "got one from 1 to 0");
  expect_error<ValueError>([] { randint(-1, 3, {2}, {.dtype = DType::u8}); },
                           "randint: expected numbers of uint8, from 0 to 255",
                           "got a range from -1 to 2");
  expect_error<ValueError>([] { randint(0, 5000, {2}, {.dtype = DType::f16}); },
                           "randint: expected numbers of float16, from -2048 to 2048",
                           "got a range from 0 to 4999");
  expect_error<ValueError>([] { bernoulli(1.5, {2}); },
                           "bernoulli: expected probabilities in [0, 1]", "got 1.5");
  expect_error<ValueError>([] { bernoulli(tensor({0.5, std::nan("")})); },
                           "bernoulli: expected probabilities in [0, 1]", "got nan");
  expect_error<DTypeError>([] { bernoulli(tensor({1, 0})); },
                           "bernoulli: expected a floating dtype", "got int32");
  expect_error<ShapeError>([] { rand({-1}); }, "shape: expected sizes of at least 0", "got [-1]");
}

TEST(RandomErrors, OfWritesInPlaceLeaveTheTensorAlone) {
  Tensor x = tensor({1.0F, 2.0F});
  const std::uint64_t version = x.storage().version();
  expect_error<ValueError>([&] { uniform_(x, 2, 1); },
                           "uniform_: expected finite low <= high no further apart than float32 "
                           "reaches",
                           "got 2 and 1");
  expect_error<ValueError>([&] { uniform_(x, -3e38, 3e38); },
                           "uniform_: expected finite low <= high no further apart than float32 "
                           "reaches",
                           "got -3e+38 and 3e+38");
  expect_error<ValueError>([&] { normal_(x, 0, std::nan("")); },
                           "normal_: expected std of at least 0", "got nan");
  expect_error<ValueError>([&] { bernoulli_(x, -0.5); },
                           "bernoulli_: expected probabilities in [0, 1]", "got -0.5");
  expect_error<ShapeError>([&] { bernoulli_(x, full({3}, 0.5)); },
                           "bernoulli_: expected probabilities broadcastable to [2]",
                           "got shape [3]");
  EXPECT_EQ(x.storage().version(), version);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2}));
  Tensor integers = zeros({2}, DType::i64);
  expect_error<DTypeError>([&] { normal_(integers); }, "normal_: expected a floating dtype",
                           "got int64");
}

}  // namespace
}  // namespace loup::ops
