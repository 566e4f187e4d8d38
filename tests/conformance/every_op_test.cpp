#include "tests/conformance/every_op.h"

#include <cmath>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/ops/copy.h"
#include "loup/ops/reduce.h"
#include "tests/conformance/reference.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::test {
namespace {

using Bits = std::vector<std::byte>;

DType result_dtype(const masked::Op& op, const Case& c) {
  return c.cast.value_or(reduction(op).result(c.dtype));
}

/// The counted elements of every slice, converted to `dtype` first, in the order of the outputs.
template <class Wide>
std::vector<std::vector<Wide>> counted_slices(const Case& c, const Operands& operands,
                                              DType dtype) {
  const std::uint32_t reduced = dim_bits("reference", c.dims, operands.x.ndim());
  const auto is_reduced = [&](int i) { return (reduced >> static_cast<unsigned>(i) & 1U) != 0; };
  std::int64_t outputs = 1;
  for (int i = 0; i < operands.x.ndim(); ++i) outputs *= is_reduced(i) ? 1 : c.shape[i];
  std::vector<std::vector<Wide>> slices(static_cast<std::size_t>(outputs));
  const Tensor mask = operands.whole_mask();
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for_each_index(c.shape, [&](const Dims& index) {
      if (!mask.at<bool>(index)) return;
      std::int64_t output = 0;
      for (int i = 0; i < index.size(); ++i) {
        if (!is_reduced(i)) output = output * c.shape[i] + index[i];
      }
      slices[static_cast<std::size_t>(output)].push_back(convert<Wide>(operands.x.at<T>(index)));
    });
  });
  return slices;
}

Shape expected_shape(const Case& c) {
  const std::uint32_t reduced = dim_bits("reference", c.dims, c.shape.size());
  Shape shape;
  for (int i = 0; i < c.shape.size(); ++i) {
    const bool is_reduced = (reduced >> static_cast<unsigned>(i) & 1U) != 0;
    if (!is_reduced) shape.push_back(c.shape[i]);
    if (is_reduced && c.keepdim) shape.push_back(1);
  }
  return shape;
}

/// Whether a result of `dtype` is as near to the exact value as rounding allows.
bool is_close(DType dtype, double got, const Expected& wanted, std::int64_t count) {
  if (!std::isfinite(wanted.value)) {
    return std::isnan(wanted.value) ? std::isnan(got) : got == wanted.value;
  }
  // Halves below 2^-14 are spaced evenly.
  const double spacing = dtype == DType::f16 && count > 0 ? 0x1p-25 : 0;
  const double allowed = tolerance(dtype, count) * wanted.scale + spacing;
  const bool may_overflow = dtype == DType::f16 && std::abs(wanted.value) + allowed >= 65520;
  return std::abs(got - wanted.value) <= allowed ||
         (may_overflow && std::isinf(got) && got * wanted.value > 0);
}

void expect_reals(const Reference& reference, const Case& c, const Operands& operands,
                  const Tensor& got) {
  const auto values = elements<double>(got);
  const auto slices = counted_slices<double>(c, operands, got.dtype());
  ASSERT_EQ(values.size(), slices.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expected wanted = reference.real(slices[i]);
    ASSERT_TRUE(is_close(got.dtype(), values[i], wanted, std::ssize(slices[i])))
        << "output " << i << ": expected " << wanted.value << ", got " << values[i];
  }
}

void expect_integers(const Reference& reference, const Case& c, const Operands& operands,
                     const Tensor& got) {
  const auto slices = counted_slices<std::int64_t>(c, operands, got.dtype());
  const auto values = elements<std::int64_t>(got);
  ASSERT_EQ(values.size(), slices.size());
  visit_dtype(got.dtype(), [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t wanted = reference.integer(slices[i]);
      ASSERT_EQ(values[i], convert<std::int64_t>(convert<T>(wanted))) << "output " << i;
    }
  });
}

class EveryOp : public OverAllOps {
 public:
  static void TearDownTestSuite() {
    for (const auto& [op, count] : cases_run) {
      std::cout << fmt::format("conformance: {} ran {} cases\n", op, count);
    }
  }

 protected:
  static std::map<std::string, std::int64_t> cases_run;

  void expect_agreement(const std::vector<Case>& cases) {
    const Reference* const reference = find_reference(name());
    ASSERT_NE(reference, nullptr) << "no loop for it in tests/conformance/reference.cpp";
    for_each_case(cases, [&](const Case& c) {
      ++cases_run[name()];
      const Operands operands = make_operands(c);
      const Tensor got = call(GetParam(), c, operands);
      ASSERT_EQ(got.dtype(), result_dtype(GetParam(), c));
      ASSERT_EQ(got.shape(), expected_shape(c));
      ASSERT_TRUE(got.is_contiguous());
      if (is_floating(got.dtype())) {
        expect_reals(*reference, c, operands, got);
      } else {
        expect_integers(*reference, c, operands, got);
      }
    });
  }

  void expect_garbage_ignored(const std::vector<Case>& cases) {
    for_each_case(cases, [&](const Case& c) {
      const Operands operands = make_operands(c);
      const Bits clean = bits_of(call(GetParam(), c, operands));
      Random random(static_cast<std::uint64_t>(c.number) + 77);
      poison(operands.x, operands.whole_mask(), random);
      ASSERT_EQ(bits_of(call(GetParam(), c, operands)), clean);
    });
  }

  /// Results of all cases under the settings that hold now.
  std::vector<Bits> run(const std::vector<Case>& cases) {
    std::vector<Bits> results;
    for (const Case& c : cases) results.push_back(bits_of(call(GetParam(), c, make_operands(c))));
    return results;
  }

  void expect_same_bits(const std::vector<Case>& cases, const std::vector<Bits>& wanted) {
    const std::vector<Bits> got = run(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ASSERT_EQ(got[i], wanted[i]) << cases[i].text(name());
    }
  }
};
std::map<std::string, std::int64_t> EveryOp::cases_run;

TEST_P(EveryOp, AgreesWithTheReferenceOnSmallInput) { expect_agreement(small_cases()); }

TEST_P(EveryOp, AgreesWithTheReferenceOnLargeInput) { expect_agreement(large_cases()); }

TEST_P(EveryOp, NeverLooksUnderTheMaskOfSmallInput) { expect_garbage_ignored(small_cases()); }

TEST_P(EveryOp, NeverLooksUnderTheMaskOfLargeInput) { expect_garbage_ignored(large_cases()); }

TEST_P(EveryOp, GivesTheSameBitsOnEveryNumberOfThreads) {
  const std::vector<Case> cases = large_cases();
  std::vector<Bits> serial;
  with_threads({1}, [&] { serial = run(cases); });
  with_threads({2, 7}, [&] { expect_same_bits(cases, serial); });
}

TEST_P(EveryOp, GivesTheSameBitsOnEveryInstructionSet) {
  const std::vector<Case> small = small_cases();
  const std::vector<Case> large = large_cases();
  const std::vector<Bits> best_small = run(small);
  const std::vector<Bits> best_large = run(large);
  for_each_target([&] {
    expect_same_bits(small, best_small);
    expect_same_bits(large, best_large);
  });
}

TEST_P(EveryOp, TellsByItsOutputMaskWhereSomethingCounts) {
  for_each_case(small_cases(), [&](const Case& c) {
    const Operands operands = make_operands(c);
    const Tensor got =
        reduction(GetParam())
            .output_mask(operands.x, c.dims, {.mask = operands.mask, .keepdim = c.keepdim});
    ASSERT_EQ(got.dtype(), DType::boolean);
    ASSERT_EQ(got.shape(), expected_shape(c));
    const auto slices = counted_slices<double>(c, operands, DType::f64);
    const auto counts = elements<bool>(got);
    for (std::size_t i = 0; i < slices.size(); ++i) ASSERT_EQ(counts[i], !slices[i].empty()) << i;
  });
}

TEST_P(EveryOp, GivesAMaskedTensorTheSameDataAndTheOutputMask) {
  for_each_case(small_cases(), [&](const Case& c) {
    if (c.number % 4 != 0) return;
    const Operands operands = make_operands(c);
    const Tensor mask = operands.whole_mask();
    const auto got = reduction(GetParam())(as_masked_tensor(operands.x, mask), c.dims,
                                           {.keepdim = c.keepdim, .dtype = c.cast});
    const Tensor plain = call(GetParam(), c, {operands.x, mask});
    const Tensor valid =
        reduction(GetParam()).output_mask(operands.x, c.dims, {.mask = mask, .keepdim = c.keepdim});
    ASSERT_EQ(got.shape(), plain.shape());
    ASSERT_EQ(bits_of(got.get_mask()), bits_of(valid));
    ASSERT_EQ(bits_of(got.get_data()), bits_of(plain));
  });
}

TEST_P(EveryOp, RefusesARepeatedDim) {
  EXPECT_THROW(call(GetParam(), {0, DType::f32, {2, 3}, {1, -1}}, {zeros({2, 3}), {}}), ShapeError);
}

TEST_P(EveryOp, RefusesADimOutOfRange) {
  EXPECT_THROW(call(GetParam(), {0, DType::f32, {2, 3}, {2}}, {zeros({2, 3}), {}}), IndexError);
}

TEST_P(EveryOp, RefusesAFloatMask) {
  EXPECT_THROW(call(GetParam(), {0, DType::f32, {2, 3}, {}}, {zeros({2, 3}), zeros({2, 3})}),
               DTypeError);
}

INSTANTIATE_TEST_SUITE_P(Conformance, EveryOp, testing::ValuesIn(reductions()), op_test_name);

}  // namespace
}  // namespace loup::test
