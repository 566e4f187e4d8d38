#include <iostream>

#include "loup/loup.h"

int main() {
  const loup::Tensor x = loup::tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}});
  const loup::Tensor mask = loup::tensor({{true, false, true}, {true, true, false}});
  const loup::Tensor sums = loup::masked::sum(x, {1}, {.mask = mask});
  std::cout << "sums " << sums.at<float>({0}) << ' ' << sums.at<float>({1}) << '\n';

  try {
    loup::masked::sum(x, {1}, {.mask = loup::tensor({true, false})});
  } catch (const loup::ShapeError& error) {
    std::cout << "ShapeError " << error.what() << '\n';
  }
}
