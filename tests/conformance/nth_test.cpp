// median and quantile over the cases of the other masked operators, against naive sorting.

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/masked/ops.h"
#include "loup/ops/copy.h"
#include "tests/conformance/cases.h"
#include "tests/support/numbers.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::test {
namespace {

using masked::Interpolation;
using Bits = std::vector<std::byte>;
using Line = std::vector<long double>;

/// The elements of each line along dims[0] that count, converted to `dtype` first and sorted; in
/// the order of the outputs. Without dims there is one line.
std::vector<Line> sorted_lines(const Case& c, const Operands& operands, DType dtype) {
  const std::uint32_t reduced = dim_bits("reference", c.dims, operands.x.ndim());
  std::int64_t outputs = 1;
  for (int i = 0; i < c.shape.size(); ++i) {
    if ((reduced >> static_cast<unsigned>(i) & 1U) == 0) outputs *= c.shape[i];
  }
  std::vector<Line> lines(static_cast<std::size_t>(outputs));
  const Tensor mask = operands.whole_mask();
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for_each_index(c.shape, [&](const Dims& index) {
      if (!mask.at<bool>(index)) return;
      std::int64_t output = 0;
      for (int i = 0; i < index.size(); ++i) {
        if ((reduced >> static_cast<unsigned>(i) & 1U) == 0) {
          output = output * c.shape[i] + index[i];
        }
      }
      const T value = operands.x.at<T>(index);
      if constexpr (std::is_same_v<T, std::int64_t>) {
        lines[static_cast<std::size_t>(output)].push_back(static_cast<long double>(value));
      } else {
        lines[static_cast<std::size_t>(output)].push_back(convert<double>(value));
      }
    });
  });
  for (Line& line : lines) std::sort(line.begin(), line.end());
  return lines;
}

bool has_empty_lines(const Case& c) {
  for (int i = 0; i < c.shape.size(); ++i) {
    const bool is_reduced =
        c.dims.empty() || normalize_dim("reference", c.dims[0], c.shape.size()) == i;
    if (is_reduced && c.shape[i] == 0) return true;
  }
  return false;
}

std::vector<Case> chosen(const std::vector<Case>& all, const std::function<bool(const Case&)>& is) {
  std::vector<Case> result;
  for (const Case& c : all) {
    if (is(c)) result.push_back(c);
  }
  return result;
}

std::vector<Case> median_cases(const std::vector<Case>& all) {
  return chosen(all, [](const Case& c) { return c.dims.size() == 1 && !has_empty_lines(c); });
}

std::vector<Case> quantile_cases(const std::vector<Case>& all) {
  return chosen(all, [](const Case& c) {
    return c.dims.size() <= 1 && !has_empty_lines(c) && (!c.cast || is_floating(*c.cast));
  });
}

// --- median ---

MaskedTensor call_median(const Case& c, const Operands& operands) {
  return masked::median(as_masked_tensor(operands.x, operands.whole_mask()), c.dims[0],
                        {.keepdim = c.keepdim, .dtype = c.cast});
}

class MedianSweep : public testing::Test {
 protected:
  template <class Check>
  void for_each(const std::vector<Case>& cases, Check&& check) {
    for (const Case& c : cases) {
      check(c);
      if (HasFailure()) {
        FAIL() << c.text("median");
      }
    }
  }
  void expect_agreement(const std::vector<Case>& cases) {
    for_each(cases, [](const Case& c) {
      const Operands operands = make_operands(c);
      const MaskedTensor got = call_median(c, operands);
      const DType dtype = c.cast.value_or(c.dtype);
      ASSERT_EQ(got.dtype(), dtype);
      ASSERT_EQ(got.shape(), reduced_shape(c));
      ASSERT_TRUE(got.get_data().is_contiguous());
      const auto lines = sorted_lines(c, operands, dtype);
      const auto values = elements<double>(got.get_data());
      const auto exact = elements<std::int64_t>(got.get_data());
      const auto valid = elements<bool>(got.get_mask());
      bool is_any_hidden = false;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        ASSERT_EQ(valid[i], !lines[i].empty());
        is_any_hidden |= lines[i].empty();
        if (lines[i].empty()) {
          ASSERT_TRUE(is_floating(dtype) ? std::isnan(values[i]) : values[i] == 0);
          continue;
        }
        const long double wanted = lines[i][(lines[i].size() - 1) / 2];
        if (is_floating(dtype)) {
          ASSERT_EQ(values[i], static_cast<double>(wanted)) << "line " << i;
        } else {
          ASSERT_EQ(exact[i], static_cast<std::int64_t>(wanted)) << "line " << i;
        }
      }
      const auto plain = [&] {
        return masked::median(operands.x, c.dims[0],
                              {.mask = operands.mask, .keepdim = c.keepdim, .dtype = c.cast});
      };
      if (is_any_hidden && !is_floating(dtype)) {
        ASSERT_THROW(plain(), ValueError);
      } else {
        ASSERT_EQ(bits_of(plain()), bits_of(got.get_data()));
      }
    });
  }
};

TEST_F(MedianSweep, AgreesWithSortingOnSmallInput) {
  expect_agreement(median_cases(small_cases()));
}

TEST_F(MedianSweep, AgreesWithSortingOnLargeInput) {
  expect_agreement(median_cases(large_cases()));
}

TEST_F(MedianSweep, NeverLooksUnderTheMask) {
  std::vector<Case> cases = median_cases(small_cases());
  const std::vector<Case> large = median_cases(large_cases());
  cases.insert(cases.end(), large.begin(), large.end());
  for_each(cases, [](const Case& c) {
    const Operands operands = make_operands(c);
    const Bits clean = bits_of(call_median(c, operands).get_data());
    Random random(static_cast<std::uint64_t>(c.number) + 77);
    poison(operands.x, operands.whole_mask(), random);
    ASSERT_EQ(bits_of(call_median(c, operands).get_data()), clean);
  });
}

TEST_F(MedianSweep, GivesTheSameBitsOnEveryNumberOfThreadsAndInstructionSet) {
  const std::vector<Case> cases = median_cases(large_cases());
  std::vector<Bits> wanted;
  with_threads({1}, [&] {
    for (const Case& c : cases)
      wanted.push_back(bits_of(call_median(c, make_operands(c)).get_data()));
  });
  const auto compare = [&] {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ASSERT_EQ(bits_of(call_median(cases[i], make_operands(cases[i])).get_data()), wanted[i])
          << cases[i].text("median");
    }
  };
  with_threads({2, 7}, compare);
  for_each_target(compare);
}

// --- quantile ---

/// What stands at place q of a sorted line.
long double interpolated(const Line& line, double q, Interpolation interpolation) {
  if (line.empty()) return nan;
  const double place = q * static_cast<double>(line.size() - 1);
  const double below = std::floor(place);
  const double above = std::ceil(place);
  const auto at = [&](double i) { return line[static_cast<std::size_t>(i)]; };
  if (at(below) == at(above)) return at(below);
  switch (interpolation) {
    case Interpolation::lower: return at(below);
    case Interpolation::higher: return at(above);
    case Interpolation::nearest: return at(std::nearbyint(place));
    case Interpolation::midpoint: return (at(below) + at(above)) / 2;
    case Interpolation::linear: break;
  }
  return at(below) + (at(above) - at(below)) * static_cast<long double>(place - below);
}

constexpr Interpolation interpolations[] = {Interpolation::linear, Interpolation::lower,
                                            Interpolation::higher, Interpolation::midpoint,
                                            Interpolation::nearest};

class QuantileSweep : public testing::Test {
 protected:
  static std::optional<std::int64_t> dim(const Case& c) {
    return c.dims.empty() ? std::nullopt : std::optional(c.dims[0]);
  }
  static std::vector<double> places(const Case& c) {
    Random random(static_cast<std::uint64_t>(c.number) + 300);
    if (c.number % 50 == 0) {  // so many that lines are sorted
      std::vector<double> many;
      for (int i = 0; i <= 40; ++i) many.push_back(i / 40.0);
      return many;
    }
    return {0, 1, 0.5, random.fraction(), random.fraction()};
  }
  static Tensor call(const Case& c, const Operands& operands) {
    return masked::quantile(operands.x, places(c), dim(c),
                            {.mask = operands.mask,
                             .keepdim = c.keepdim,
                             .interpolation = interpolations[c.number % 5],
                             .dtype = c.cast});
  }
  template <class Check>
  void for_each(const std::vector<Case>& cases, Check&& check) {
    for (const Case& c : cases) {
      check(c);
      if (HasFailure()) {
        FAIL() << c.text("quantile");
      }
    }
  }
  void expect_agreement(const std::vector<Case>& cases) {
    for_each(cases, [](const Case& c) {
      const Operands operands = make_operands(c);
      const Tensor got = call(c, operands);
      const std::vector<double> q = places(c);
      const DType from = c.cast.value_or(c.dtype);
      const DType dtype = is_floating(from) ? from : from == DType::i64 ? DType::f64 : DType::f32;
      ASSERT_EQ(got.dtype(), dtype);
      Shape shape = reduced_shape(c);
      if (shape.size() < max_ndim) {
        shape.insert(0, std::ssize(q));
        ASSERT_EQ(got.shape(), shape);
      }
      ASSERT_TRUE(got.is_contiguous());
      const auto lines = sorted_lines(c, operands, from);
      const auto values = elements<double>(got);
      for (std::size_t k = 0; k < q.size(); ++k) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
          const double value = values[k * lines.size() + i];
          const long double wanted = interpolated(lines[i], q[k], interpolations[c.number % 5]);
          if (lines[i].empty()) {
            ASSERT_TRUE(std::isnan(value));
            continue;
          }
          if (!std::isfinite(wanted)) {  // rounded to float16
            ASSERT_TRUE(std::isnan(wanted) ? std::isnan(value)
                                           : value == static_cast<double>(wanted));
            continue;
          }
          const long double largest =
              std::max(std::abs(lines[i].front()), std::abs(lines[i].back()));
          const double allowed = tolerance(dtype, 1) * static_cast<double>(largest) +
                                 (dtype == DType::f16 ? 0x1p-25 : 0);
          ASSERT_NEAR(value, static_cast<double>(wanted), allowed)
              << "q " << q[k] << " of line " << i;
        }
      }
    });
  }
};

std::vector<Case> up_to_seven_dims(const std::vector<Case>& cases) {
  return chosen(cases, [](const Case& c) { return c.shape.size() < max_ndim || !c.keepdim; });
}

TEST_F(QuantileSweep, AgreesWithSortingOnSmallInput) {
  expect_agreement(up_to_seven_dims(quantile_cases(small_cases())));
}

TEST_F(QuantileSweep, AgreesWithSortingOnLargeInput) {
  expect_agreement(quantile_cases(large_cases()));
}

TEST_F(QuantileSweep, NeverLooksUnderTheMask) {
  for_each(up_to_seven_dims(quantile_cases(small_cases())), [](const Case& c) {
    const Operands operands = make_operands(c);
    const Bits clean = bits_of(call(c, operands));
    Random random(static_cast<std::uint64_t>(c.number) + 77);
    poison(operands.x, operands.whole_mask(), random);
    ASSERT_EQ(bits_of(call(c, operands)), clean);
  });
}

TEST_F(QuantileSweep, GivesTheSameBitsOnEveryNumberOfThreads) {
  const std::vector<Case> cases = quantile_cases(large_cases());
  std::vector<Bits> wanted;
  with_threads({1}, [&] {
    for (const Case& c : cases) wanted.push_back(bits_of(call(c, make_operands(c))));
  });
  with_threads({2, 7}, [&] {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ASSERT_EQ(bits_of(call(cases[i], make_operands(cases[i]))), wanted[i])
          << cases[i].text("quantile");
    }
  });
}

}  // namespace
}  // namespace loup::test
