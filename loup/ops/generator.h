#pragma once

#include <cstdint>
#include <memory>

#include "loup/export.h"

namespace loup::kernels {
struct RandomStream;
}

namespace loup::ops {

/// A source of random numbers: a seed, and how much of its sequence has been used. Copying a
/// Generator copies the handle: both continue the same sequence. May be used by several threads.
///
/// An operator takes the part of the sequence that it needs in one step; after that, every element
/// depends on its position alone. So equal seeds give equal numbers for any number of threads,
/// strides and instruction sets.
class LOUP_EXPORT Generator {
 public:
  /// With a seed from the operating system.
  Generator();
  explicit Generator(std::uint64_t seed);

  std::uint64_t seed() const { return state().seed; }
  /// Begins the sequence of another seed.
  void manual_seed(std::uint64_t seed) { set_state({seed, 0}); }

  /// Everything there is to save.
  struct State {
    std::uint64_t seed;
    std::uint64_t offset;  // in blocks of four words
    friend bool operator==(const State&, const State&) = default;
  };
  State state() const;
  void set_state(const State& state);

  /// The next `words` words of the sequence, which nobody else will get.
  kernels::RandomStream take(std::int64_t words) const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// The generator of calls that are given none; seeded by the operating system.
LOUP_EXPORT Generator default_generator();
/// Seeds the default generator.
LOUP_EXPORT void manual_seed(std::uint64_t seed);

}  // namespace loup::ops
