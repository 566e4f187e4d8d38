#pragma once

#include "loup/tensor/create.h"

namespace loup::test {

inline const Tensor data_2x3 = tensor({{0.0F, 1.0F, 2.0F}, {3.0F, 4.0F, 5.0F}});
inline const Tensor mask_2x3 = tensor({{true, false, false}, {true, true, false}});

inline const Tensor data_2x4 = tensor({{3.0, 1.0, 2.0, 4.0}, {8.0, 5.0, 7.0, 6.0}});
inline const Tensor mask_2x4 = tensor({{true, false, true, true}, {true, true, true, true}});

}  // namespace loup::test
