#include "loup/ops/generator.h"

#include <mutex>
#include <random>

#include "loup/kernels/philox.h"

namespace loup::ops {

namespace {

std::uint64_t system_seed() {
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32U | device();
}

}  // namespace

struct Generator::Shared {
  explicit Shared(std::uint64_t seed) : state{seed, 0} {}
  std::mutex mutex;
  State state;
};

Generator::Generator() : Generator(system_seed()) {}
Generator::Generator(std::uint64_t seed) : shared_(std::make_shared<Shared>(seed)) {}

Generator::State Generator::state() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state;
}

void Generator::set_state(const State& state) {
  const std::lock_guard lock(shared_->mutex);
  shared_->state = state;
}

kernels::RandomStream Generator::take(std::int64_t words) const {
  const auto blocks = (static_cast<std::uint64_t>(words) + 3) / 4;
  const std::lock_guard lock(shared_->mutex);
  State& state = shared_->state;
  const kernels::RandomStream stream{state.seed, state.offset};
  state.offset += blocks;
  return stream;
}

Generator default_generator() {
  static const Generator generator;
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace loup::ops
