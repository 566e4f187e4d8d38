#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "tests/conformance/reduce_ops.h"
#include "tests/support/settings.h"
#include "tests/support/tensors.h"
#include "tests/support/tolerance.h"

namespace loup::test {
namespace {

using Bits = std::vector<std::byte>;

/// The counted elements of every slice, converted to `dtype` first, in the order of the outputs.
template <class Wide>
std::vector<Slice<Wide>> counted_slices(const Case& c, const Operands& operands, DType dtype) {
  const std::uint32_t reduced = dim_bits("reference", c.dims, operands.x.ndim());
  const auto is_reduced = [&](int i) { return (reduced >> static_cast<unsigned>(i) & 1U) != 0; };
  std::int64_t outputs = 1;
  for (int i = 0; i < operands.x.ndim(); ++i) outputs *= is_reduced(i) ? 1 : c.shape[i];
  std::vector<Slice<Wide>> slices(static_cast<std::size_t>(outputs));
  const Tensor mask = operands.whole_mask();
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for_each_index(c.shape, [&](const Dims& index) {
      if (!mask.at<bool>(index)) return;
      std::int64_t output = 0;
      std::int64_t place = 0;
      for (int i = 0; i < index.size(); ++i) {
        std::int64_t& number = is_reduced(i) ? place : output;
        number = number * c.shape[i] + index[i];
      }
      Slice<Wide>& slice = slices[static_cast<std::size_t>(output)];
      const T value = operands.x.at<T>(index);
      if constexpr (std::is_same_v<Wide, long double>) {
        slice.values.push_back(is_floating(dtype)
                                   ? static_cast<long double>(convert<double>(value))
                                   : static_cast<long double>(convert<std::int64_t>(value)));
      } else {
        slice.values.push_back(convert<Wide>(value));
      }
      slice.places.push_back(place);
    });
  });
  return slices;
}

/// The least number that is rounded to infinity.
long double largest(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65520;
    case DType::f64: return 1.797e308L;
    default: return 3.38e38L;
  }
}

/// Whether a result of `dtype`, computed in `cast`, is as near to the exact value as rounding
/// allows.
bool is_close(const ReduceOp& op, DType dtype, DType cast, double got,
              const ReduceOp::Expected& wanted, std::int64_t count) {
  if (std::isnan(wanted.value)) return std::isnan(got);
  if (std::isinf(wanted.value)) return static_cast<long double>(got) == wanted.value;
  // Small numbers are spaced evenly: halves below 2^-14, floats below 2^-126.
  const double spacing = dtype == DType::f16 && count > 0 ? 0x1p-25 : 0x1p-149;
  double relative = std::max(tolerance(dtype, count), tolerance(cast, count));
  if (dtype == DType::f64 && !op.keeps_errors) {
    const double longer = 64 + std::sqrt(static_cast<double>(count));
    relative = std::max(relative, longer * unit_roundoff(dtype));
  }
  const long double allowed = static_cast<long double>(relative) * wanted.scale +
                              unit_roundoff(dtype) * std::abs(wanted.value) + spacing;
  if (std::isinf(got))
    return std::abs(wanted.value) + allowed >= largest(dtype) && got * wanted.value > 0;
  return std::abs(static_cast<long double>(got) - wanted.value) <= allowed;
}

class EveryReduction : public testing::TestWithParam<ReduceOp> {
 protected:
  static Tensor call(const Case& c, const Operands& operands) {
    return GetParam().run(operands.x, operands.mask, {c.dims, c.keepdim, c.cast});
  }

  /// Calls `check(case)` for those that the operator takes; stops at the first that fails, with a
  /// line that reproduces it.
  template <class Check>
  void for_each_case(const std::vector<Case>& all, Check&& check) {
    const char* const chosen = std::getenv("LOUP_TEST_CASE");
    for (const Case& c : suiting(GetParam(), all)) {
      if (chosen != nullptr && std::to_string(c.number) != chosen) continue;
      if (!accepts(GetParam(), c)) continue;
      ++cases_run_;
      check(c);
      if (HasFailure()) {
        FAIL() << c.text(GetParam().name);
      }
    }
  }
  void TearDown() override {
    if (cases_run_ > 0) {
      std::cout << fmt::format("conformance: {} ran {} cases\n", GetParam().name, cases_run_);
    }
  }

  static void expect_reals(const Case& c, const Operands& operands, const Tensor& got, DType cast) {
    const auto values = elements<double>(got);
    const auto slices = counted_slices<long double>(c, operands, cast);
    ASSERT_EQ(values.size(), slices.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ReduceOp::Expected wanted = GetParam().real(slices[i]);
      if (!is_floating(got.dtype())) {
        visit_dtype(got.dtype(), [&]<class T>(std::type_identity<T>) {
          wanted.value = convert<double>(convert<T>(static_cast<double>(wanted.value)));
        });
        // A result that is rounded may lie on the other side of a whole number.
        const double slack =
            wanted.scale > 0 ? 1 + tolerance(cast, 20) * static_cast<double>(wanted.scale) : 0;
        ASSERT_NEAR(values[i], static_cast<double>(wanted.value), slack) << "output " << i;
        continue;
      }
      ASSERT_TRUE(
          is_close(GetParam(), got.dtype(), cast, values[i], wanted, std::ssize(slices[i].values)))
          << "output " << i << ": expected " << wanted.value << ", got " << values[i];
    }
  }

  static void expect_integers(const Case& c, const Operands& operands, const Tensor& got,
                              DType cast) {
    const auto slices = counted_slices<std::int64_t>(c, operands, cast);
    const Tensor wanted = empty({std::ssize(slices)}, got.dtype());
    for (std::size_t i = 0; i < slices.size(); ++i) {
      std::int64_t value = GetParam().integer(slices[i]);
      visit_dtype(cast, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>) {
          // Of nothing: the least or largest number of the dtype.
          using Wide = std::numeric_limits<std::int64_t>;
          if (!slices[i].values.empty()) return;
          if (value == Wide::min()) value = std::numeric_limits<T>::min();
          if (value == Wide::max()) value = std::numeric_limits<T>::max();
        }
      });
      wanted.set({static_cast<std::int64_t>(i)}, value);
    }
    ASSERT_EQ(bits_of(got), bits_of(wanted));
  }

  void expect_agreement(const std::vector<Case>& cases) {
    for_each_case(cases, [&](const Case& c) {
      const Operands operands = reduce_operands(GetParam(), c);
      const auto types = *GetParam().types(c.dtype, c.cast);
      const Tensor got = call(c, operands);
      ASSERT_EQ(got.dtype(), types.result);
      ASSERT_EQ(got.shape(), reduced_shape(c));
      ASSERT_TRUE(got.is_contiguous());
      if (is_floating(types.cast) || !GetParam().integer) {
        expect_reals(c, operands, got, types.cast);
      } else {
        expect_integers(c, operands, got, types.cast);
      }
    });
  }

  void expect_garbage_ignored(const std::vector<Case>& cases) {
    for_each_case(cases, [&](const Case& c) {
      const Operands operands = reduce_operands(GetParam(), c);
      const Bits clean = bits_of(call(c, operands));
      Random random(static_cast<std::uint64_t>(c.number) + 77);
      poison(operands.x, operands.whole_mask(), random);
      ASSERT_EQ(bits_of(call(c, operands)), clean);
    });
  }

  std::int64_t cases_run_ = 0;
};

// python/tests/support/sweep has many more small cases; these run on every instruction set as well.
TEST_P(EveryReduction, AgreesWithTheReferenceOnSmallInput) {
  expect_agreement(every_nth(small_cases(), 3));
}

TEST_P(EveryReduction, AgreesWithTheReferenceOnLargeInput) {
  expect_agreement(every_nth(large_cases(), 2));
}

TEST_P(EveryReduction, NeverLooksUnderTheMaskOfSmallInput) {
  expect_garbage_ignored(every_nth(small_cases(), 4));
}

TEST_P(EveryReduction, NeverLooksUnderTheMaskOfLargeInput) {
  expect_garbage_ignored(large_cases());
}

TEST_P(EveryReduction, GivesTheSameBitsOnEveryNumberOfThreads) {
  for_each_case(large_cases(), [&](const Case& c) {
    const Operands operands = reduce_operands(GetParam(), c);
    Bits serial;
    with_threads({1}, [&] { serial = bits_of(call(c, operands)); });
    with_threads({2, 7}, [&] { ASSERT_EQ(bits_of(call(c, operands)), serial); });
  });
}

TEST_P(EveryReduction, GivesTheSameBitsOnEveryInstructionSet) {
  for (const auto& cases : {small_cases(), large_cases()}) {
    const std::vector<Case> some = every_nth(cases, cases.size() > 1000 ? 11 : 3);
    if (!GetParam().has_fixed_bits) {
      for_each_target([&] { expect_agreement(some); });
      continue;
    }
    for_each_case(some, [&](const Case& c) {
      const Operands operands = reduce_operands(GetParam(), c);
      const Bits best = bits_of(call(c, operands));
      for_each_target([&] { ASSERT_EQ(bits_of(call(c, operands)), best); });
    });
  }
}

TEST_P(EveryReduction, TellsByItsOutputMaskWhereSomethingCounts) {
  for_each_case(every_nth(small_cases(), 3), [&](const Case& c) {
    const Operands operands = reduce_operands(GetParam(), c);
    const Tensor got = GetParam().output_mask(operands.x, operands.mask, {c.dims, c.keepdim, {}});
    ASSERT_EQ(got.dtype(), DType::boolean);
    ASSERT_EQ(got.shape(), reduced_shape(c));
    const auto slices = counted_slices<long double>(c, operands, DType::f64);
    const auto counts = elements<bool>(got);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      ASSERT_EQ(counts[i], !slices[i].values.empty()) << i;
    }
  });
}

TEST_P(EveryReduction, GivesAMaskedTensorTheSameDataAndTheOutputMask) {
  for_each_case(every_nth(small_cases(), 4), [&](const Case& c) {
    const Operands operands = reduce_operands(GetParam(), c);
    const Tensor mask = operands.whole_mask();
    const ReduceOp::Call arguments{c.dims, c.keepdim, c.cast};
    const MaskedTensor got = GetParam().run_masked(as_masked_tensor(operands.x, mask), arguments);
    ASSERT_EQ(bits_of(got.get_mask()),
              bits_of(GetParam().output_mask(operands.x, mask, arguments)));
    ASSERT_EQ(bits_of(got.get_data()), bits_of(call(c, {operands.x, mask})));
  });
}

TEST_P(EveryReduction, RefusesWhatItIsNotDefinedFor) {
  for (const Case& c : suiting(GetParam(), every_nth(small_cases(), 5))) {
    if (accepts(GetParam(), c)) continue;
    ASSERT_THROW(call(c, make_operands(c)), Error) << c.text(GetParam().name);
  }
}

TEST_P(EveryReduction, RefusesARepeatedDim) {
  if (GetParam().takes_one_dim) {
    EXPECT_THROW(GetParam().run(zeros({2, 3}), {}, {{0, 1}}), ValueError);
  } else {
    EXPECT_THROW(GetParam().run(zeros({2, 3}), {}, {{1, -1}}), ShapeError);
  }
}

TEST_P(EveryReduction, RefusesADimOutOfRange) {
  EXPECT_THROW(GetParam().run(zeros({2, 3}), {}, {{2}}), IndexError);
}

TEST_P(EveryReduction, RefusesAFloatMask) {
  EXPECT_THROW(GetParam().run(zeros({2, 3}), zeros({2, 3}), {}), DTypeError);
}

TEST_P(EveryReduction, ShowsAValidNaN) {
  const Tensor x = tensor({1.0F, NAN, 3.0F});
  const Tensor got = GetParam().run(x, {}, {});
  const std::string& name = GetParam().name;
  if (name.starts_with("arg") || name.ends_with("indices")) {
    EXPECT_EQ(got.item<std::int64_t>(), 1);
  } else if (name == "any" || name == "all") {
    EXPECT_TRUE(got.item<bool>());
  } else if (name == "count" || name == "norm_0") {
    EXPECT_EQ(got.item<double>(), 3);
  } else {
    EXPECT_TRUE(std::isnan(got.item<double>()));
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, EveryReduction, testing::ValuesIn(reduce_ops()),
                         [](const auto& op) { return op.param.name; });

}  // namespace
}  // namespace loup::test
