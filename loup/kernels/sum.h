#pragma once

#include "loup/kernels/reduce.h"

namespace loup::kernels {

const Reducer& sum_i32();
const Reducer& sum_i64();
const Reducer& sum_f32();
const Reducer& sum_f64();

}  // namespace loup::kernels
