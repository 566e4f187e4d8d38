// A padded batch of two sentences: sums that ignore the padding, forwards and backwards.

#include <iostream>
#include <limits>

#include "loup/loup.h"

int main() {
  const float pad = std::numeric_limits<float>::quiet_NaN();  // nobody will look at it
  loup::Tensor x = loup::tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, pad}});
  const loup::Tensor mask = loup::tensor({{true, true, true}, {true, true, false}});

  std::cout << "data and mask:\n" << loup::masked_tensor(x, mask) << "\n\n";

  loup::autograd::set_requires_grad(x, true);
  const loup::Tensor rows = loup::masked::sum(x, 1, {.mask = mask});
  std::cout << "sum of each row:\n" << rows << "\n\n";

  const loup::Tensor total = loup::masked::sum(rows);
  loup::autograd::backward(total);
  std::cout << "total: " << total.item<float>() << "\n\n";
  std::cout << "gradient, exactly 0 at the padding:\n" << *loup::autograd::grad(x) << "\n";
}
