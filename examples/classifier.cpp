// A classifier of padded sequences that learns the same, bit for bit, whatever the padding holds.
//
//     classifier [PAD]
//
// PAD (default 0) is written into every padded place; try nan. classifier.py does the same.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "loup/loup.h"

namespace {

namespace masked = loup::masked;
namespace ops = loup::ops;
using loup::MaskedTensor;
using loup::Tensor;

constexpr int batch = 64;
constexpr int length = 12;
constexpr int features = 16;
constexpr int classes = 3;
constexpr int steps = 60;
constexpr double rate = 0.5;

/// Sequences of different lengths, and which of the first features is largest on average.
std::pair<MaskedTensor, Tensor> make_batch(double pad) {
  const Tensor lengths = ops::randint(1, length + 1, {batch});
  const Tensor places = ops::unsqueeze(masked::lengths_to_mask(lengths, length), -1);
  const Tensor mask = ops::expand(places, {batch, length, features});
  const Tensor data = ops::where(mask, ops::randn({batch, length, features}), pad);
  const MaskedTensor x = loup::as_masked_tensor(data, mask);
  const MaskedTensor means = masked::mean(masked::narrow(x, 2, 0, classes), 1);
  return {x, masked::argmax(means, 1).get_data()};
}

/// Attention of every place to every place, the mean over places, a score for each class.
MaskedTensor classify(const MaskedTensor& x, const std::vector<Tensor>& weights) {
  const MaskedTensor query = masked::linear(x, weights[0]);
  const MaskedTensor key = masked::linear(x, weights[1]);
  const MaskedTensor value = masked::linear(x, weights[2]);
  const MaskedTensor scores =
      masked::matmul(query, masked::transpose(key, -2, -1)) / std::sqrt(features);
  const MaskedTensor attended = masked::matmul(masked::softmax(scores, -1), value);
  return masked::linear(masked::mean(attended, 1), weights[3]);
}

}  // namespace

int main(int count, char** arguments) {
  const double pad = count > 1 ? std::strtod(arguments[1], nullptr) : 0;
  ops::manual_seed(2026);
  const auto [x, labels] = make_batch(pad);
  std::vector<Tensor> weights;
  for (const int rows : {features, features, features, classes}) {
    weights.push_back(ops::randn({rows, features}) / std::sqrt(features));
  }
  for (int step = 0; step < steps; ++step) {
    for (Tensor& weight : weights) loup::autograd::set_requires_grad(weight, true);
    const MaskedTensor loss = masked::cross_entropy(classify(x, weights), labels);
    const auto gradients = loup::autograd::grad({loss.get_data()}, weights);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = weights[i].detach() - rate * *gradients[i];
    }
    if (step % 10 == 0 || step == steps - 1) {
      std::printf("step %2d  loss %.9g\n", step, loss.item<double>());
    }
  }
}
