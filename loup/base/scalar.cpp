#include "loup/base/scalar.h"

#include <array>

namespace loup {

DType Scalar::natural_dtype() const {
  constexpr std::array types = {DType::boolean, DType::i64, DType::f32};
  return types[value_.index()];
}

}  // namespace loup
