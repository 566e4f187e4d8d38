#pragma once

#include <cstdint>
#include <span>

namespace loup::ops {

/// What an operator makes of a MaskedTensor.
enum class Masks : std::uint8_t {
  refused,
  alike,  // it does to the mask what it does to the data
  taken,  // in its own way
  read,   // in its own way, for a result without a mask
};

/// What bindings, documentation and tests know of an operator that is a plain C++ function. Each
/// header of such operators lists them beside their declarations; ops/functions.h gathers the
/// lists.
struct Function {
  const char* name;
  /// As Python annotates it: "(input: object, dim: int = 0) -> Tensor". Where the first argument is
  /// `input: object`, the function is a method of Tensor too.
  const char* signature;
  const char* summary;  // one sentence
  bool is_differentiable = false;
  bool is_in_place = false;  // there is a method name_() that writes into the tensor, too
  Masks masks = Masks::refused;
};

struct FunctionList {
  const char* family;
  std::span<const Function> functions;
};

}  // namespace loup::ops
