#pragma once

// Everything public.

#include "loup/autograd/backward.h"
#include "loup/autograd/gradient.h"
#include "loup/autograd/hooks.h"
#include "loup/autograd/node.h"
#include "loup/base/dims.h"
#include "loup/base/dtype.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/base/scalar.h"
#include "loup/io/dlpack.h"
#include "loup/kernels/targets.h"
#include "loup/masked/masked_tensor.h"
#include "loup/masked/op.h"
#include "loup/masked/ops.h"
#include "loup/memory/pool.h"
#include "loup/memory/storage.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/elementwise.h"
#include "loup/ops/functions.h"
#include "loup/ops/index.h"
#include "loup/ops/logic.h"
#include "loup/ops/masking.h"
#include "loup/ops/operators.h"
#include "loup/ops/select.h"
#include "loup/ops/unary.h"
#include "loup/ops/in_place.h"
#include "loup/ops/gather.h"
#include "loup/ops/join.h"
#include "loup/ops/shape.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"
#include "loup/tensor/print.h"
#include "loup/tensor/tensor.h"
#include "loup/tensor/views.h"
#include "loup/version.h"

namespace loup {
// The tensor's own operators are used everywhere: loup::reshape(x, …), not loup::ops::reshape.
using namespace ops;
}  // namespace loup
