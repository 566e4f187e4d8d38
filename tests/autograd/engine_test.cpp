#include "loup/autograd/engine.h"

#include <atomic>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "loup/memory/pool.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/views.h"
#include "tests/support/gradients.h"
#include "tests/support/settings.h"

// What the walk costs and promises: memory, order, threads.

namespace loup::autograd {
namespace {

using test::elements;
using test::grad_of;
using test::leaf;
using test::sum;
using Values = std::vector<double>;

constexpr std::int64_t megabytes = 1024 * 1024 / 8;  // in elements of float64

std::size_t bytes_in_use() { return memory::pool_statistics().bytes_in_use; }

TEST(Engine, FreesTheRecordWithItsOutputs) {
  const Tensor x = leaf(ones({4 * megabytes}, DType::f64));
  const std::size_t before = bytes_in_use();
  {
    Tensor y = x;
    for (int i = 0; i < 5; ++i) y = y * y;
    EXPECT_GE(bytes_in_use(), before + 5 * std::size_t{4} * 1024 * 1024);
  }
  EXPECT_EQ(bytes_in_use(), before);
}

TEST(Engine, ReleasesWhatWasSavedAsItGoes) {
  const Tensor x = leaf(ones({4 * megabytes}, DType::f64));
  const std::size_t before = bytes_in_use();
  Tensor y = x;
  for (int i = 0; i < 10; ++i) y = y * y;
  const Tensor total = sum(y);
  y = Tensor();
  const std::size_t recorded = bytes_in_use();
  memory::reset_pool_peak();
  backward(total);
  // Besides the record: the gradients of a few calls, not of all.
  EXPECT_LE(memory::pool_statistics().peak_bytes, recorded + 4 * std::size_t{4} * 1024 * 1024);
  EXPECT_LE(bytes_in_use(), before + 2 * std::size_t{4} * 1024 * 1024);  // x.grad
}

TEST(Engine, AddsManyGradientsInTheMemoryOfOne) {
  const Tensor x = leaf(ones({4 * megabytes}, DType::f64));
  Tensor total = sum(x * 1.0);
  for (int i = 1; i < 10; ++i) total = total + sum(x * static_cast<double>(i));
  memory::reset_pool_peak();
  const std::size_t before = bytes_in_use();
  backward(total);
  EXPECT_LE(memory::pool_statistics().peak_bytes, before + 3 * std::size_t{4} * 1024 * 1024);
  EXPECT_EQ(grad(x)->at<double>({17}), 46);
}

TEST(Engine, DoesNotAddIntoWhatOthersHold) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor y = leaf(tensor({1.0, 2.0}));
  const Tensor given = tensor({3.0, 4.0});
  // One gradient for both inputs of the sum, and another for x.
  backward((x + y) + x, {.gradient = given});
  EXPECT_EQ(grad_of(x), (Values{6, 8}));
  EXPECT_EQ(grad_of(y), (Values{3, 4}));
  EXPECT_EQ(elements<double>(given), (Values{3, 4}));
  EXPECT_FALSE(grad(x)->storage() == grad(y)->storage());
}

TEST(Engine, AddsToAGradientThatWasSetByTheUser) {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor mine = tensor({10.0, 20.0});
  set_grad(x, mine);
  backward(sum(x));
  EXPECT_EQ(elements<double>(mine), (Values{11, 21}));  // shared, not copied
  set_grad(x, ops::expand(tensor({5.0}), {2}));
  backward(sum(x));
  EXPECT_EQ(grad_of(x), (Values{6, 6}));
}

TEST(Engine, AddsInAnOrderThatDoesNotDependOnAnything) {
  const auto run = [] {
    test::Random random(7);
    const Tensor x = leaf(test::random_tensor(random, {101}, DType::f32));
    Tensor total = sum(x);
    for (int i = 0; i < 50; ++i) {
      total = total + sum(x * test::random_tensor(random, {101}, DType::f32));
    }
    backward(total);
    return test::bits_of(*grad(x));
  };
  const auto expected = run();
  test::with_threads({1, 2, 7}, [&] { EXPECT_EQ(run(), expected); });
}

TEST(Engine, FreesChainsOfSavedTensorsWithoutDeepRecursion) {
  const Tensor x = leaf(tensor({1.0}));
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) y = y * x;  // each saves the last
  const std::weak_ptr<Node> last = y.node();
  y = Tensor();
  EXPECT_TRUE(last.expired());
}

TEST(Engine, WalksAHundredThousandCallsOfTwoInputs) {
  const Tensor x = leaf(tensor({1.0}));
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) y = y * x;
  backward(y);
  EXPECT_EQ(grad_of(x), (Values{100'001}));
}

TEST(Engine, WalksAHundredThousandBranches) {
  const Tensor x = leaf(tensor({1.0}));
  std::vector<Tensor> parts;
  for (int i = 0; i < 100'000; ++i) parts.push_back(x * 1.0);
  Tensor total = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) total = total + parts[i];
  backward(total);
  EXPECT_EQ(grad_of(x), (Values{100'000}));
}

template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Engine, RunsOnSeveralThreadsAtOnce) {
  std::atomic<int> right = 0;
  on_threads(4, [&](int t) {
    for (int i = 0; i < 100; ++i) {
      const Tensor x = leaf(full({50}, static_cast<double>(t), DType::f64));
      Tensor y = x * x;
      y += x;
      backward(sum(ops::transpose(ops::reshape(y, {5, 10}), 0, 1)));
      if (grad_of(x) == Values(50, 2.0 * t + 1)) ++right;
    }
  });
  EXPECT_EQ(right, 400);
}

TEST(Engine, LosesNothingWhenThreadsShareALeaf) {
  // Almost all of the time is spent on adding, so that threads meet there.
  const Tensor x = leaf(ones({60'000}, DType::f64));
  on_threads(4, [&](int t) {
    const Tensor gradient = full({60'000}, static_cast<double>(t + 1), DType::f64);
    for (int i = 0; i < 500; ++i) backward(x, {.gradient = gradient});
  });
  EXPECT_EQ(grad_of(x), Values(60'000, 5000));
}

TEST(Engine, LetsThreadsShareARetainedRecord) {
  const Tensor x = leaf(ones({100}, DType::f64));
  const Tensor y = sum(x * x * 3.0);
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; ++i) backward(y, {.retain_graph = true});
  });
  EXPECT_EQ(grad_of(x), Values(100, 1200));
}

}  // namespace
}  // namespace loup::autograd
