#include <gtest/gtest.h>

#include "loup/ops/gather.h"
#include "loup/ops/index.h"
#include "loup/ops/join.h"
#include "loup/ops/masking.h"
#include "loup/ops/shape.h"
#include "loup/ops/sort.h"
#include "loup/ops/views.h"
#include "tests/support/linear.h"

// Operators that move elements: their gradients, gradients of gradients, and structural zeros.

namespace loup::ops {
namespace {

using test::elements;
using test::expect_near;
using test::grad_of;
using test::Jacobian;
using test::LinearFunction;
using test::LinearFunctions;

Tensor indices(std::initializer_list<std::int64_t> values) { return tensor(values); }
Tensor matrix_indices() { return tensor<std::int64_t>({{2, 0, -1}, {0, 0, 1}}); }
Tensor constant(const Shape& shape) {
  return to(reshape(arange(0, element_count(shape)), shape), DType::f64);
}

std::vector<LinearFunction> joins() {
  return {
      {"cat",
       {2, 3},
       [](const Tensor& x) {
         const Tensor parts[] = {narrow(x, 1, 1, 2), x, constant({2, 1})};
         return cat(parts, 1);
       }},
      {"cat_mixed",
       {2, 3},
       [](const Tensor& x) {
         const Tensor parts[] = {x, ones({1, 3}, DType::i64)};
         return cat(parts);
       }},
      {"stack",
       {2, 3},
       [](const Tensor& x) {
         const Tensor parts[] = {x, constant({2, 3}), x};
         return stack(parts, 1);
       }},
      {"hstack",
       {4},
       [](const Tensor& x) {
         const Tensor parts[] = {x, x};
         return hstack(parts);
       }},
      {"vstack",
       {4},
       [](const Tensor& x) {
         const Tensor parts[] = {x, constant({2, 4})};
         return vstack(parts);
       }},
      {"split", {5, 2}, [](const Tensor& x) { return split(x, 2)[1]; }},
      {"chunk", {5, 2}, [](const Tensor& x) { return chunk(x, 2)[1]; }},
      {"unbind", {3, 4}, [](const Tensor& x) { return unbind(x, 1)[2]; }},
  };
}

std::vector<LinearFunction> shapes() {
  return {
      {"movedim", {2, 3, 4}, [](const Tensor& x) { return movedim(x, 0, 2); }},
      {"unflatten", {2, 6}, [](const Tensor& x) { return unflatten(x, 1, {3, -1}); }},
      {"unflatten_copy",
       {2, 6},
       [](const Tensor& x) { return unflatten(reshape(transpose(x, 0, 1), {12}), 0, {4, 3}); }},
      {"diagonal", {3, 4}, [](const Tensor& x) { return diagonal(x, 1); }},
      {"diagonal_below", {3, 4, 2}, [](const Tensor& x) { return diagonal(x, -1, 0, 1); }},
      {"flip", {3, 4}, [](const Tensor& x) { return flip(x, 1); }},
      {"roll", {3, 4}, [](const Tensor& x) { return roll(x, {1, -1}, {0, 1}); }},
      {"roll_flat", {3, 4}, [](const Tensor& x) { return roll(x, 5); }},
      {"repeat", {2, 3}, [](const Tensor& x) { return repeat(x, {2, 3, 2}); }},
      {"tile", {2, 3}, [](const Tensor& x) { return tile(x, 2); }},
      {"repeat_interleave", {2, 3}, [](const Tensor& x) { return repeat_interleave(x, 2, 1); }},
      {"tril", {3, 4}, [](const Tensor& x) { return tril(x); }},
      {"triu", {2, 3, 3}, [](const Tensor& x) { return triu(x, 1); }},
      {"meshgrid",
       {3},
       [](const Tensor& x) {
         const Tensor vectors[] = {x, constant({2})};
         return meshgrid(vectors, Indexing::xy)[0];
       }},
  };
}

std::vector<LinearFunction> gathers() {
  return {
      {"index_select",
       {3, 4},
       [](const Tensor& x) { return index_select(x, 1, indices({3, 0, 3})); }},
      {"gather", {3, 3}, [](const Tensor& x) { return gather(x, 0, matrix_indices()); }},
      {"gather_along", {2, 3}, [](const Tensor& x) { return gather(x, 1, matrix_indices()); }},
      {"take_along_dim",
       {1, 3},
       [](const Tensor& x) { return take_along_dim(x, matrix_indices(), 1); }},
      {"take_along_flat",
       {2, 3},
       [](const Tensor& x) { return take_along_dim(x, matrix_indices()); }},
      {"scatter",
       {4, 3},
       [](const Tensor& x) { return scatter(x, 0, matrix_indices(), constant({2, 3})); }},
      {"scatter_number",
       {4, 3},
       [](const Tensor& x) { return scatter(x, 0, matrix_indices(), 2.0); }},
      {"scatter_source",
       {3, 3},
       [](const Tensor& x) { return scatter(constant({4, 3}), 0, matrix_indices(), x); }},
      {"scatter_both", {4, 3}, [](const Tensor& x) { return scatter(x, 0, matrix_indices(), x); }},
      {"scatter_add",
       {4, 3},
       [](const Tensor& x) { return scatter_add(x, 0, matrix_indices(), x); }},
      {"index_add",
       {2, 3},
       [](const Tensor& x) { return index_add(constant({4, 3}), 0, indices({1, 1}), x, 2.5); }},
      {"index_add_to",
       {4, 3},
       [](const Tensor& x) { return index_add(x, 0, indices({1, 1}), narrow(x, 0, 0, 2)); }},
      {"index_copy",
       {4, 3},
       [](const Tensor& x) { return index_copy(x, 0, indices({1, 1}), narrow(x, 0, 2, 2)); }},
      {"index_fill", {4, 3}, [](const Tensor& x) { return index_fill(x, 1, indices({2, 0}), 7); }},
      {"scatter_in_place",
       {4, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         scatter_(y, 0, matrix_indices(), x);
         return y;
       }},
      {"scatter_add_in_place",
       {4, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         scatter_add_(y, 0, matrix_indices(), x);
         return y;
       }},
      {"index_add_in_place",
       {4, 3},
       [](const Tensor& x) {
         Tensor y = zeros({4, 3}, DType::f64);
         index_add_(y, 0, indices({3, 3, 0, 3}), x, -1);
         return y;
       }},
      {"index_copy_in_place",
       {2, 3},
       [](const Tensor& x) {
         Tensor y = zeros({4, 3}, DType::f64);
         index_copy_(y, 0, indices({3, 0}), x);
         return y;
       }},
      {"index_fill_in_place",
       {4, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         index_fill_(y, 0, indices({3, 0}), 5);
         return y;
       }},
  };
}

Tensor mask() { return tensor({{true, false, true}, {false, true, true}}); }

std::vector<LinearFunction> masks() {
  return {
      {"masked_select", {2, 3}, [](const Tensor& x) { return masked_select(x, mask()); }},
      {"masked_select_broadcast", {3}, [](const Tensor& x) { return masked_select(x, mask()); }},
      {"masked_fill", {2, 3}, [](const Tensor& x) { return masked_fill(x, mask(), 4.0); }},
      {"masked_fill_value",
       {},
       [](const Tensor& x) { return masked_fill(constant({2, 3}), mask(), x); }},
      {"masked_fill_in_place",
       {2, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         masked_fill_(y, mask(), select(select(x, 0, 0), 0, 1));
         return y;
       }},
  };
}

std::vector<LinearFunction> sorts() {
  return {
      {"sort", {3, 5}, [](const Tensor& x) { return sort(x).values; }},
      {"sort_down", {3, 5}, [](const Tensor& x) { return sort(x, 0, true).values; }},
      {"sort_number", {}, [](const Tensor& x) { return sort(x).values; }},
      {"topk", {4, 5}, [](const Tensor& x) { return topk(x, 2, 0).values; }},
      {"topk_smallest", {40}, [](const Tensor& x) { return topk(x, 3, 0, false).values; }},
  };
}

std::vector<LinearFunction> assignments() {
  const auto assigned = [](const std::vector<Index>& items, const Tensor& values, bool accumulate) {
    return [=](const Tensor& x) {
      Tensor y = clone(x);
      index_put_(y, items, values.ndim() == 0 ? values : x, accumulate);
      return y;
    };
  };
  const Tensor own = constant({1});
  const Tensor number = constant({});
  return {
      {"index_view", {4, 5}, [](const Tensor& x) { return index(x, {Slice{1, 3}, new_dim, -1}); }},
      {"index_rows", {4, 3}, [](const Tensor& x) { return index(x, {indices({3, 3, 0})}); }},
      {"index_apart",
       {2, 3, 4},
       [](const Tensor& x) {
         return index(
             x, {tensor<std::int64_t>({{1, 0, -1}, {0, 0, 1}}), Slice{0, 2}, matrix_indices()});
       }},
      {"index_mask", {2, 3}, [](const Tensor& x) { return index(x, {mask()}); }},
      {"index_mask_rows",
       {3, 2},
       [](const Tensor& x) { return index(x, {tensor({true, false, true}), 1}); }},
      {"put_view", {3, 3}, assigned({Slice{1, 3}, 0}, number, false)},
      {"put_row",
       {3, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         index_put_(y, {-1}, index(x, {0}));
         return y;
       }},
      {"put_row_sum",
       {3, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         index_put_(y, {-1}, index(x, {0}), true);
         return y;
       }},
      {"put_number", {3, 3}, assigned({indices({2, 2})}, number, false)},
      {"put_broadcast",
       {3, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         index_put_(y, {indices({2, 0, 2})}, index(x, {Slice{}, Slice{0, 1}}));
         return y;
       }},
      {"put_same_twice", {3, 3}, assigned({indices({1, 0, 1})}, own, false)},
      {"put_sum", {3, 3}, assigned({indices({1, 0, 1})}, own, true)},
      {"put_mask",
       {2, 3},
       [](const Tensor& x) {
         Tensor y = clone(x);
         index_put_(y, {mask()}, index(x, {0, indices({2, 1, 0, 0})}));
         return y;
       }},
      {"put_mask_number", {2, 3}, assigned({mask()}, number, false)},
  };
}

class EveryMove : public LinearFunctions {};

TEST_P(EveryMove, SendsEachGradientToWhereItsElementCameFrom) {
  const Tensor x = test::leaf(random(GetParam().shape));
  const Tensor y = GetParam().f(x);
  const Tensor weights = random(y.shape());
  autograd::backward(y, {.gradient = weights});
  expect_near(grad_of(x), Jacobian(GetParam(), x).transposed(elements<double>(weights)));
}

TEST_P(EveryMove, HasGradientsOfGradients) {
  const Tensor x = test::leaf(random(GetParam().shape));
  const Tensor y = GetParam().f(x);
  const Tensor weights = test::leaf(random(y.shape()));
  autograd::backward(y, {.gradient = weights, .create_graph = true});
  const Tensor direction = random(x.shape());
  autograd::backward(*autograd::grad(x), {.gradient = direction});
  const Jacobian jacobian(GetParam(), x);
  expect_near(grad_of(weights),
              jacobian.applied(elements<double>(direction), static_cast<std::size_t>(y.size())));
}

TEST_P(EveryMove, SkipsWhatAGradientMaskHides) {
  const Tensor x = test::leaf(random(GetParam().shape));
  const Tensor y = GetParam().f(x);
  const Tensor weights = random(y.shape());
  const Tensor live = test::random_mask(random_, y.shape());
  autograd::backward(test::spoiled(y, weights, live));
  const Tensor shown = filled(weights, live, 0);
  expect_near(grad_of(x), Jacobian(GetParam(), x).transposed(elements<double>(shown)));
}

TEST_P(EveryMove, SkipsItInGradientsOfGradients) {
  const Tensor x = test::leaf(random(GetParam().shape));
  const Tensor y = GetParam().f(x);
  const Tensor weights = test::leaf(random(y.shape()));
  const Tensor live = test::random_mask(random_, y.shape());
  autograd::backward(test::spoiled(y, weights, live), {.create_graph = true});
  const Tensor direction = random(x.shape());
  autograd::backward(*autograd::grad(x), {.gradient = direction});
  std::vector<double> wanted =
      Jacobian(GetParam(), x)
          .applied(elements<double>(direction), static_cast<std::size_t>(y.size()));
  const auto shown = elements<bool>(live);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = shown[i] ? wanted[i] : 0;
  expect_near(grad_of(weights), wanted);
}

TEST_P(EveryMove, IsNotRecordedWithoutAGradient) {
  EXPECT_FALSE(GetParam().f(random(GetParam().shape)).requires_grad());
}

const auto move_name = [](const auto& tested) { return std::string(tested.param.name); };
INSTANTIATE_TEST_SUITE_P(Joins, EveryMove, testing::ValuesIn(joins()), move_name);
INSTANTIATE_TEST_SUITE_P(Shapes, EveryMove, testing::ValuesIn(shapes()), move_name);
INSTANTIATE_TEST_SUITE_P(Gathers, EveryMove, testing::ValuesIn(gathers()), move_name);
INSTANTIATE_TEST_SUITE_P(Masks, EveryMove, testing::ValuesIn(masks()), move_name);
INSTANTIATE_TEST_SUITE_P(Sorts, EveryMove, testing::ValuesIn(sorts()), move_name);
INSTANTIATE_TEST_SUITE_P(Assignments, EveryMove, testing::ValuesIn(assignments()), move_name);

}  // namespace
}  // namespace loup::ops
