#pragma once

#include <string>

#include "loup/ops/elementwise.h"

// How Python calls the elementwise operators, for bindings and documentation.

namespace loup::ops {

/// "(input: object, decimals: int = 0) -> Tensor"
LOUP_EXPORT std::string python_signature(const Unary& op);
LOUP_EXPORT std::string python_signature(const Binary& op);
/// The keyword that some binary operators take, null for others: alpha scales the second operand,
/// rounding_mode chooses between the divisions.
LOUP_EXPORT const char* option_of(const Binary& op);

/// The signature without types: "(input, decimals=0)".
LOUP_EXPORT std::string untyped(std::string_view signature);

}  // namespace loup::ops
