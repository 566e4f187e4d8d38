#pragma once

#include <array>
#include <string_view>

#include "loup/ops/cross_entropy.h"
#include "loup/ops/dropout.h"
#include "loup/ops/einsum.h"
#include "loup/ops/function.h"
#include "loup/ops/gather.h"
#include "loup/ops/join.h"
#include "loup/ops/layer_norm.h"
#include "loup/ops/logic.h"
#include "loup/ops/losses.h"
#include "loup/ops/masking.h"
#include "loup/ops/matmul.h"
#include "loup/ops/random.h"
#include "loup/ops/sampling.h"
#include "loup/ops/search.h"
#include "loup/ops/select.h"
#include "loup/ops/shape.h"
#include "loup/ops/sort.h"
#include "loup/ops/views.h"
#include "loup/ops/windows.h"

// The operators that are plain functions, gathered from the headers that declare them.

namespace loup::ops {

inline constexpr std::array all_functions = {
    FunctionList{"logic", logic_functions},     FunctionList{"selection", select_functions},
    FunctionList{"gather", gather_functions},   FunctionList{"masking", masking_functions},
    FunctionList{"sorting", sort_functions},    FunctionList{"search", search_functions},
    FunctionList{"join", join_functions},       FunctionList{"shape", shape_functions},
    FunctionList{"random", random_functions},   FunctionList{"sampling", sampling_functions},
    FunctionList{"products", matmul_functions}, FunctionList{"products", einsum_functions},
    FunctionList{"dropout", dropout_functions}, FunctionList{"views", view_functions},
    FunctionList{"windows", window_functions},  FunctionList{"layers", layer_norm_functions},
    FunctionList{"losses", loss_functions},     FunctionList{"losses", cross_entropy_functions},
};

/// The description of a listed function; null when there is none of that name.
constexpr const Function* find_function(std::string_view name) {
  for (const FunctionList& list : all_functions) {
    for (const Function& function : list.functions) {
      if (name == function.name) return &function;
    }
  }
  return nullptr;
}

}  // namespace loup::ops
