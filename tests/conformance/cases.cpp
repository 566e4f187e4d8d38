#include "tests/conformance/cases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup::test {

namespace {

constexpr const char* input_names[] = {"contiguous", "transposed", "sliced",
                                       "stepped",    "expanded",   "offset"};
constexpr const char* mask_names[] = {
    "none",    "full",     "repeats_first", "repeats_middle", "repeats_last", "lower_rank", "all",
    "nothing", "integers", "wide_integers", "expanded",       "transposed",   "stepped"};
constexpr int input_count = std::size(input_names);
constexpr int mask_count = std::size(mask_names);

/// Lays a tensor of `shape` out as `form` says; `make` fills a contiguous one.
template <class Make>
Tensor laid_out(InputForm form, const Shape& shape, Make&& make) {
  const int ndim = shape.size();
  if (ndim == 0 && form != InputForm::offset) return make(shape);
  Shape base = shape;
  switch (form) {
    case InputForm::contiguous: return make(shape);
    case InputForm::transposed: {
      std::reverse(base.begin(), base.end());
      Dims order;
      for (int i = ndim; i-- > 0;) order.push_back(i);
      return ops::permute(make(base), order);
    }
    case InputForm::sliced: {
      for (std::int64_t& size : base) size += 2;
      Tensor x = make(base);
      for (int i = 0; i < ndim; ++i) x = ops::narrow(x, i, 1, shape[i]);
      return x;
    }
    case InputForm::stepped: {
      for (std::int64_t& size : base) size = 2 * size + 1;
      Tensor x = make(base);
      for (int i = 0; i < ndim; ++i) x = ops::slice(x, i, 1, 2 * shape[i] + 1, 2);
      return x;
    }
    case InputForm::expanded:
      *std::max_element(base.begin(), base.end()) = 1;
      return ops::expand(make(base), shape);
    case InputForm::offset: {
      const std::int64_t count = element_count(shape);
      return ops::view(ops::narrow(make({count + 3}), 0, 3, count), shape);
    }
  }
  return {};
}

/// Integers of which some have a low byte, or a low word, of zero although they count.
Tensor integer_mask(Random& random, const Shape& shape, DType dtype) {
  const std::int64_t choices[] = {0, 1, -1, 256, dtype == DType::i64 ? 0x100000000 : 512};
  const Tensor result = empty(shape, dtype);
  for_each_index(shape, [&](const Dims& i) { result.set(i, choices[random.integer(0, 4)]); });
  return result;
}

std::optional<Tensor> make_mask(Random& random, MaskKind kind, Shape shape) {
  const int ndim = shape.size();
  const auto make = [&](const Shape& s) { return random_mask(random, s); };
  switch (kind) {
    case MaskKind::none: return std::nullopt;
    case MaskKind::full: break;
    case MaskKind::repeats_first:
      if (ndim > 0) shape[0] = 1;
      break;
    case MaskKind::repeats_middle:
      if (ndim > 0) shape[ndim / 2] = 1;
      break;
    case MaskKind::repeats_last:
      if (ndim > 0) shape[ndim - 1] = 1;
      break;
    case MaskKind::lower_rank:
      if (ndim > 0) shape.erase(0);
      break;
    case MaskKind::all_of_it: return ones({}, DType::boolean);
    case MaskKind::none_of_it: return zeros({}, DType::boolean);
    case MaskKind::integers: return integer_mask(random, shape, DType::i16);
    case MaskKind::wide_integers: return integer_mask(random, shape, DType::i64);
    case MaskKind::expanded: return laid_out(InputForm::expanded, shape, make);
    case MaskKind::transposed: return laid_out(InputForm::transposed, shape, make);
    case MaskKind::stepped: return laid_out(InputForm::stepped, shape, make);
  }
  return make(shape);
}

/// Adds cases over all input forms and masks, taking every `stride`-th.
void add_product(std::vector<Case>& cases, DType dtype, const std::vector<Shape>& shapes,
                 std::int64_t stride) {
  constexpr std::optional<DType> casts[] = {std::nullopt, std::nullopt,  std::nullopt, DType::f64,
                                            DType::f32,   DType::i8,     DType::i64,   DType::f16,
                                            DType::bf16,  DType::boolean};
  std::int64_t n = static_cast<std::int64_t>(dtype);
  for (const Shape& shape : shapes) {
    for (const Dims& dims : dim_sets(shape.size())) {
      for (int input = 0; input < input_count; ++input) {
        for (int mask = 0; mask < mask_count; ++mask) {
          if (++n % stride != 0) continue;
          const auto number = std::ssize(cases);
          cases.push_back({number, dtype, shape, dims, static_cast<InputForm>(input),
                           static_cast<MaskKind>(mask), number % 2 == 1, casts[number % 10]});
        }
      }
    }
  }
}

}  // namespace

std::vector<Dims> dim_sets(int ndim) {
  switch (ndim) {
    case 0: return {{}, {0}, {-1}};
    case 1: return {{}, {0}, {-1}};
    case 2: return {{}, {0}, {-1}, {-1, 0}};
    case 3: return {{}, {0}, {1}, {-1}, {0, -1}, {2, 1}, {-2, 0}, {2, 0, 1}};
    default: {
      Dims every_second;
      Dims backwards;
      for (int i = 0; i < ndim; i += 2) every_second.push_back(i);
      for (int i = 0; i < ndim; ++i) backwards.push_back(-1 - i);
      return {{}, {0}, {ndim / 2}, {-1}, {0, -1}, {-1, 1}, every_second, backwards};
    }
  }
}

std::vector<Case> small_cases() {
  const std::vector<Shape> shapes = {Shape{},
                                     {1},
                                     {7},
                                     {0},
                                     {3, 5},
                                     {0, 4},
                                     {4, 0},
                                     {1, 6},
                                     {5, 1},
                                     {17, 65},
                                     {9, 3},
                                     {2, 3, 4},
                                     {2, 0, 3},
                                     {4, 33, 3},
                                     {3, 2, 1, 2},
                                     {2, 5, 3, 4},
                                     {2, 1, 2, 1, 3, 1, 2, 2}};
  std::vector<Case> cases;
  for (const DType dtype : all_dtypes()) {
    add_product(cases, dtype, shapes, dtype == DType::f32 ? 1 : 5);
  }
  return cases;
}

std::vector<Case> large_cases() {
  const std::vector<Shape> shapes = {{150001},   {3, 70001},   {70001, 3},
                                     {400, 515}, {5, 5000, 8}, {4, 9, 5003}};
  std::vector<Case> cases;
  for (const DType dtype : all_dtypes()) add_product(cases, dtype, shapes, 193);
  return cases;
}

std::string Case::text(const std::string& op) const {
  return fmt::format(
      "{} of {} {} ({}), dims {}, mask {}, keepdim {}, dtype {}; alone: LOUP_TEST_SEED={} "
      "LOUP_TEST_CASE={} conformance_tests --gtest_filter='*{}*'",
      op, dtype, shape, input_names[static_cast<int>(input)], dims,
      mask_names[static_cast<int>(mask)], keepdim, cast ? name(*cast) : "default", seed(), number,
      testing::UnitTest::GetInstance()->current_test_info()->name());
}

Tensor Operands::whole_mask() const {
  const Tensor given = mask.value_or(ones({}, DType::boolean));
  return ops::expand(ops::to(given, DType::boolean), x.shape());
}

Operands make_operands(const Case& c) {
  Random random(static_cast<std::uint64_t>(c.number));
  const auto make = [&](const Shape& s) { return random_tensor(random, s, c.dtype); };
  Operands result{laid_out(c.input, c.shape, make), {}};
  result.mask = make_mask(random, c.mask, c.shape);
  return result;
}

Shape reduced_shape(const Case& c) {
  const std::uint32_t reduced = dim_bits("reference", c.dims, c.shape.size());
  Shape shape;
  for (int i = 0; i < c.shape.size(); ++i) {
    const bool is_reduced = (reduced >> static_cast<unsigned>(i) & 1U) != 0;
    if (!is_reduced) shape.push_back(c.shape[i]);
    if (is_reduced && c.keepdim) shape.push_back(1);
  }
  return shape;
}

void fill_with_powers_of_two(const Tensor& x, std::uint64_t stream) {
  Random random(stream + 31);
  visit_dtype(x.dtype(), [&]<class T>(std::type_identity<T>) {
    T* const data = reinterpret_cast<T*>(x.storage().data());
    const std::size_t count = x.storage().bytes() / sizeof(T);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (is_floating(dtype_of<T>())) {
        const double size = std::ldexp(1.0, static_cast<int>(random.integer(-1, 1)));
        data[i] = convert<T>(random.chance(0.5) ? size : -size);
      } else {
        data[i] = convert<T>(random.chance(0.001) ? 2 : 1);  // few, or their product is infinite
      }
    }
  });
}

std::vector<Case> every_nth(const std::vector<Case>& cases, std::size_t n) {
  std::vector<Case> result;
  for (std::size_t i = 0; i < cases.size(); i += n) result.push_back(cases[i]);
  return result;
}

}  // namespace loup::test
