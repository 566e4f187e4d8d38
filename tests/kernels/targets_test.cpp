#include "loup/kernels/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loup/base/error.h"
#include "loup/kernels/reduce.h"
#include "tests/support/settings.h"

namespace loup::kernels {
namespace {

using testing::Contains;
using testing::Each;

TEST(Targets, RunTheBestOfWhatIsCompiledByDefault) {
  const Targets found = targets();
  ASSERT_FALSE(found.runnable.empty());
  EXPECT_EQ(found.chosen, found.runnable.front());
  for (const std::string& name : found.runnable) EXPECT_THAT(found.compiled, Contains(name));
}

TEST(Targets, HaveNoScalarFallback) {
  EXPECT_THAT(targets().compiled, Each(testing::Not(testing::AnyOf("SCALAR", "EMU128"))));
}

TEST(ChooseTarget, MakesKernelsRunOnTheNamedOne) {
  std::vector<const Reducer*> reducers;
  test::for_each_target([&] {
    EXPECT_EQ(targets().chosen, targets().runnable.front());
    reducers.push_back(&reducer(ReduceOp::sum, ComputeType::f32));
  });
  for (std::size_t i = 1; i < reducers.size(); ++i) EXPECT_NE(reducers[i], reducers[i - 1]);
}

TEST(ChooseTarget, GoesBackToTheBestWithAnEmptyName) {
  const Targets before = targets();
  choose_target(before.runnable.back());
  choose_target("");
  EXPECT_EQ(targets().chosen, before.chosen);
  EXPECT_EQ(targets().runnable, before.runnable);
}

TEST(ChooseTarget, RefusesAnUnknownName) {
  const test::TargetScope restores;
  try {
    choose_target("ABACUS");
    FAIL() << "expected an error";
  } catch (const ValueError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("choose_target: expected one of " + targets().chosen));
    EXPECT_TRUE(message.ends_with(", got 'ABACUS'")) << message;
  }
}

}  // namespace
}  // namespace loup::kernels
