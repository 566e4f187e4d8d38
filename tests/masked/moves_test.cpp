#include "loup/masked/moves.h"

#include <gtest/gtest.h>

#include "loup/masked/order.h"
#include "loup/masked/products.h"
#include "tests/masked/samples.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup {
namespace {

using namespace ops;  // moves of masked tensors are found by their type
using test::data_2x3;
using test::elements;
using test::expect_error;
using test::mask_2x3;

/// Data and mask of `move(x)` are those of the moved parts.
template <class Move>
void expect_alike(const Move& move) {
  const MaskedTensor moved = move(MaskedTensor(data_2x3, mask_2x3));
  EXPECT_EQ(moved.shape(), move(data_2x3).shape());
  EXPECT_EQ(elements<float>(moved.get_data()), elements<float>(move(data_2x3)));
  EXPECT_EQ(elements<bool>(moved.get_mask()), elements<bool>(move(mask_2x3)));
}

TEST(MaskedMoves, DoToTheMaskWhatTheyDoToTheData) {
  expect_alike([](const auto& x) { return transpose(x, 0, 1); });
  expect_alike([](const auto& x) { return permute(x, {1, 0}); });
  expect_alike([](const auto& x) { return unsqueeze(x, 1); });
  expect_alike([](const auto& x) { return squeeze(narrow(x, 0, 1, 1)); });
  expect_alike([](const auto& x) { return slice(x, 1, 0, 3, 2); });
  expect_alike([](const auto& x) { return select(x, 1, -1); });
  expect_alike([](const auto& x) { return expand(x, {4, 2, 3}); });
  expect_alike([](const auto& x) { return broadcast_to(x, {4, 2, 3}); });
  expect_alike([](const auto& x) { return view(x, {3, 2}); });
  expect_alike([](const auto& x) { return reshape(transpose(x, 0, 1), {-1}); });
  expect_alike([](const auto& x) { return flatten(x); });
  expect_alike([](const auto& x) { return unflatten(x, 1, {3, 1}); });
  expect_alike([](const auto& x) { return movedim(x, {0}, {1}); });
  expect_alike([](const auto& x) { return swapaxes(x, 0, 1); });
  expect_alike([](const auto& x) { return diagonal(x); });
  expect_alike([](const auto& x) { return flip(x); });
  expect_alike([](const auto& x) { return roll(x, {1}, {1}); });
  expect_alike([](const auto& x) { return repeat(x, {2, 2}); });
  expect_alike([](const auto& x) { return tile(x, {2}); });
  expect_alike([](const auto& x) { return repeat_interleave(x, 2, 1); });
  expect_alike([](const auto& x) { return index_select(x, 1, tensor({2, 0})); });
  expect_alike([](const auto& x) { return gather(x, 1, tensor({{2}, {0}})); });
  expect_alike([](const auto& x) { return take_along_dim(x, tensor({5, 0})); });
  expect_alike([](const auto& x) { return split(x, 2, 1).back(); });
  expect_alike([](const auto& x) { return chunk(x, 2)[1]; });
  expect_alike([](const auto& x) { return unbind(x, 1)[2]; });
}

TEST(MaskedMoves, JoinDataAndMasks) {
  const std::vector<MaskedTensor> parts(2, MaskedTensor(data_2x3, mask_2x3));
  for (const MaskedTensor& joined : {cat(parts), vstack(parts)}) {
    EXPECT_EQ(joined.shape(), (Shape{4, 3}));
    EXPECT_EQ(elements<bool>(select(joined, 0, 3).get_mask()),
              (std::vector<bool>{true, true, false}));
  }
  EXPECT_EQ(stack(parts, 2).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(hstack(parts).shape(), (Shape{2, 6}));
}

TEST(MaskedMoves, ViewsWriteThrough) {
  MaskedTensor x(data_2x3, mask_2x3);
  MaskedTensor row = select(x, 0, 0);
  const ops::Index second[] = {1};
  row.index_put_(second, full({}, 9));
  EXPECT_EQ(x.get_data().at<float>({0, 1}), 9);
  EXPECT_TRUE(x.get_mask().at<bool>({0, 1}));
  row.index_put_(second, full({}, 8), full({}, false));
  EXPECT_FALSE(x.get_mask().at<bool>({0, 1}));
}

TEST(MaskedSort, PutsWhatDoesNotCountLastInItsOrder) {
  const auto [values, indices] = sort(MaskedTensor(data_2x3, mask_2x3), 1, true);
  EXPECT_EQ(elements<std::int64_t>(indices), (std::vector<std::int64_t>{0, 1, 2, 1, 0, 2}));
  EXPECT_EQ(elements<bool>(values.get_mask()),
            (std::vector<bool>{true, false, false, true, true, false}));
  expect_error<ValueError>([] { topk(MaskedTensor(data_2x3, mask_2x3), 4); },
                           "topk: expected k from 0 to 3", "got 4");
}

TEST(MaskedProducts, AddWhatCountsInBoth) {
  const MaskedTensor x(data_2x3, mask_2x3);
  const MaskedTensor product = matmul(x, transpose(x, 0, 1));
  EXPECT_EQ(elements<float>(product.to_tensor(-1)), (std::vector<float>{0, 0, 0, 25}));
  EXPECT_EQ(elements<float>(outer(select(x, 1, 1), select(x, 0, 0)).to_tensor(-1)),
            (std::vector<float>{-1, -1, -1, 0, -1, -1}));
}

}  // namespace
}  // namespace loup
