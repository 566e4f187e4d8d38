#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "tests/conformance/line_ops.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::test {
namespace {

using Bits = std::vector<std::byte>;

/// The positions of every line of a case, in the order of its elements.
std::vector<std::vector<Dims>> lines_of(const Case& c) {
  const std::uint32_t bits = dim_bits("reference", c.dims, c.shape.size());
  const auto is_line = [&](int i) { return (bits >> static_cast<unsigned>(i) & 1U) != 0; };
  std::int64_t count = 1;
  for (int i = 0; i < c.shape.size(); ++i) count *= is_line(i) ? 1 : c.shape[i];
  std::vector<std::vector<Dims>> lines(static_cast<std::size_t>(count));
  for_each_index(c.shape, [&](const Dims& index) {
    std::int64_t line = 0;
    for (int i = 0; i < index.size(); ++i) {
      if (!is_line(i)) line = line * c.shape[i] + index[i];
    }
    lines[static_cast<std::size_t>(line)].push_back(index);
  });
  return lines;
}

bool is_close_in_line(DType dtype, double got, long double wanted, long double scale,
                      std::size_t count) {
  if (std::isnan(wanted)) return std::isnan(got);
  const double unit = unit_roundoff(storage_type(compute_type(dtype)));
  // Sums of doubles are made of doubles, so long ones are worse; so are roots of their powers.
  const double sums = dtype == DType::f64 ? 64 + std::sqrt(static_cast<double>(count)) : 5;
  const long double spacing = dtype == DType::f16 ? 0x1p-25 : 0x1p-149;
  const long double allowed =
      static_cast<long double>(unit_roundoff(dtype) + sums * unit) * scale + spacing;
  if (std::isinf(wanted)) return static_cast<long double>(got) == wanted;
  const long double most = dtype == DType::f16 ? 65520 : dtype == DType::f64 ? 1.7e308L : 3.38e38L;
  if (std::isinf(got)) return std::abs(wanted) + allowed >= most && got * wanted > 0;
  return std::abs(static_cast<long double>(got) - wanted) <= allowed;
}

void expect_lines(const LineOp& op, const Case& c, const Operands& operands, const Tensor& got) {
  const Tensor mask = operands.whole_mask();
  visit_dtype(got.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const std::vector<Dims>& line : lines_of(c)) {
      std::vector<bool> counts;
      for (const Dims& index : line) counts.push_back(mask.at<bool>(index));
      if constexpr (is_floating(dtype_of<T>())) {
        std::vector<long double> x;
        for (const Dims& index : line) {
          x.push_back(convert<double>(operands.x.at<T>(index)));
        }
        const LineOp::Expected wanted = op.real(x, counts);
        for (std::size_t i = 0; i < line.size(); ++i) {
          ASSERT_TRUE(is_close_in_line(got.dtype(), got.at<double>(line[i]), wanted.values[i],
                                       wanted.scales[i], line.size()))
              << "at " << fmt::format("{}", line[i]) << ": expected " << wanted.values[i]
              << ", got " << got.at<double>(line[i]);
        }
      } else {
        std::vector<std::int64_t> x;
        for (const Dims& index : line) {
          x.push_back(convert<std::int64_t>(operands.x.at<T>(index)));
        }
        const std::vector<std::int64_t> wanted = op.integer(x, counts);
        for (std::size_t i = 0; i < line.size(); ++i) {
          ASSERT_EQ(got.at<std::int64_t>(line[i]), convert<std::int64_t>(convert<T>(wanted[i])))
              << "at " << fmt::format("{}", line[i]);
        }
      }
    }
  });
}

class EveryLineOp : public testing::TestWithParam<LineOp> {
 protected:
  static Tensor call(const Case& c, const Operands& operands) {
    return GetParam().call(operands.x, c.dims, operands.mask, c.cast);
  }

  /// Calls `check(case)` for those that the operator takes; stops at the first that fails.
  template <class Check>
  void for_each_case(const std::vector<Case>& all, Check&& check) {
    std::int64_t count = 0;
    for (const Case& c : suiting(GetParam(), all)) {
      if (!accepts(GetParam(), c)) continue;
      ++count;
      check(c);
      if (HasFailure()) {
        FAIL() << c.text(GetParam().name);
      }
    }
    std::cout << fmt::format("conformance: {} ran {} cases\n", GetParam().name, count);
  }

  void expect_agreement(const std::vector<Case>& cases) {
    for_each_case(cases, [&](const Case& c) {
      const Operands operands = line_operands(GetParam(), c);
      const Tensor got = call(c, operands);
      ASSERT_EQ(got.dtype(), line_dtype(c));
      ASSERT_EQ(got.shape(), c.shape);
      ASSERT_TRUE(got.is_contiguous());
      expect_lines(GetParam(), c, operands, got);
    });
  }

  void expect_garbage_ignored(const std::vector<Case>& cases) {
    for_each_case(cases, [&](const Case& c) {
      const Operands operands = line_operands(GetParam(), c);
      const Bits clean = bits_of(call(c, operands));
      Random random(static_cast<std::uint64_t>(c.number) + 77);
      poison(operands.x, operands.whole_mask(), random);
      ASSERT_EQ(bits_of(call(c, operands)), clean);
    });
  }
};

TEST_P(EveryLineOp, AgreesWithTheReferenceOnSmallInput) { expect_agreement(small_cases()); }

TEST_P(EveryLineOp, AgreesWithTheReferenceOnLargeInput) {
  expect_agreement(every_nth(large_cases(), 2));
}

TEST_P(EveryLineOp, AgreesWithTheReferenceOnEveryInstructionSet) {
  const std::vector<Case> small = every_nth(small_cases(), 5);
  for_each_target([&] { expect_agreement(small); });
}

TEST_P(EveryLineOp, NeverLooksUnderTheMask) {
  expect_garbage_ignored(every_nth(small_cases(), 4));
  expect_garbage_ignored(every_nth(large_cases(), 2));
}

TEST_P(EveryLineOp, NeverLooksUnderTheMaskOnAnyInstructionSet) {
  const std::vector<Case> small = every_nth(small_cases(), 7);
  for_each_target([&] { expect_garbage_ignored(small); });
}

TEST_P(EveryLineOp, GivesTheSameBitsOnEveryNumberOfThreads) {
  for_each_case(large_cases(), [&](const Case& c) {
    const Operands operands = line_operands(GetParam(), c);
    Bits serial;
    with_threads({1}, [&] { serial = bits_of(call(c, operands)); });
    with_threads({2, 7}, [&] { ASSERT_EQ(bits_of(call(c, operands)), serial); });
  });
}

TEST_P(EveryLineOp, GivesTheSameBitsOnSeveralLinesOfThreeParts) {
  const Case c{0, DType::f64, {2, 150001}, {1}, InputForm::contiguous, MaskKind::full};
  const Operands operands = line_operands(GetParam(), c);
  Bits serial;  // line by line; several threads share the parts of each
  with_threads({1}, [&] { serial = bits_of(call(c, operands)); });
  with_threads({2, 7}, [&] { EXPECT_EQ(bits_of(call(c, operands)), serial); });
}

TEST_P(EveryLineOp, HasTheRepeatedMaskAsItsOutputMask) {
  for_each_case(every_nth(small_cases(), 3), [&](const Case& c) {
    const Operands operands = line_operands(GetParam(), c);
    const Tensor mask = operands.whole_mask();
    ASSERT_EQ(bits_of(GetParam().output_mask(operands.x, c.dims, operands.mask)), bits_of(mask));
    const MaskedTensor got =
        GetParam().call_masked(as_masked_tensor(operands.x, mask), c.dims, c.cast);
    ASSERT_EQ(bits_of(got.get_mask()), bits_of(mask));
    ASSERT_EQ(bits_of(got.get_data()), bits_of(call(c, {operands.x, mask})));
  });
}

TEST_P(EveryLineOp, RefusesDTypesThatItIsNotDefinedFor) {
  for (const Case& c : suiting(GetParam(), small_cases())) {
    if (accepts(GetParam(), c)) continue;
    ASSERT_THROW(call(c, make_operands(c)), DTypeError) << c.text(GetParam().name);
  }
}

TEST_P(EveryLineOp, RefusesADimOutOfRange) {
  EXPECT_THROW(GetParam().call(zeros({2, 3}), {2}, {}, {}), IndexError);
  EXPECT_THROW(GetParam().call(zeros({2, 3}), {-3}, {}, {}), IndexError);
}

TEST_P(EveryLineOp, RefusesAFloatMask) {
  EXPECT_THROW(GetParam().call(zeros({2, 3}), {0}, zeros({2, 3}), {}), DTypeError);
}

TEST_P(EveryLineOp, RefusesAMaskOfHigherRankOrAnotherShape) {
  EXPECT_THROW(GetParam().call(zeros({3}), {0}, ones({2, 3}, DType::boolean), {}), IndexError);
  EXPECT_THROW(GetParam().call(zeros({2, 3}), {0}, ones({2}, DType::boolean), {}), ShapeError);
}

INSTANTIATE_TEST_SUITE_P(Conformance, EveryLineOp, testing::ValuesIn(line_ops()),
                         [](const auto& op) { return op.param.name; });

}  // namespace
}  // namespace loup::test
