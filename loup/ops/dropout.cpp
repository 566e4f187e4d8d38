#include "loup/ops/dropout.h"

#include <algorithm>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/random.h"
#include "loup/ops/copy.h"
#include "loup/ops/fill_pieces.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

/// Which elements a call drops, as a function of their position. Backward asks again instead of
/// keeping a mask: making the words takes no longer than reading it, and nothing stays in memory.
struct Draw {
  kernels::RandomStream stream;
  std::uint64_t limit;  // of the words that drop
  double scale;
};

/// Calls `run(first, from, to, count)` for the pieces of two contiguous tensors, as numbers of
/// type T.
template <class T, class Run>
void map_pieces(const Tensor& from, const Tensor& to, Run run) {
  const DType dtype = from.dtype();
  fill_pieces<T>(to, 2, [&](std::int64_t first, T* out, std::int64_t count) {
    if (dtype == dtype_of<T>()) {
      run(first, reinterpret_cast<const T*>(from.raw_data()) + first, out, count);
      return;
    }
    kernels::copy_plane({reinterpret_cast<std::byte*>(out), dtype_of<T>(), count, 1},
                        {from.raw_data() + first * item_bytes(dtype), dtype, count, 1}, 1, count);
    run(first, out, out, count);
  });
}

/// Linear in x and symmetric, so it is its own backward rule. Unless `kept` is null, it becomes the
/// mask of what was not dropped.
Tensor drop(const Tensor& x, const Draw& draw, Tensor* kept) {
  const Tensor source = contiguous(x.detach());
  Tensor result = empty_like(source);
  std::uint8_t* flags = nullptr;
  if (kept != nullptr) {
    *kept = empty_like(source, DType::boolean);
    flags = reinterpret_cast<std::uint8_t*>(kept->raw_data());
  }
  const auto run = [&]<class T>(std::int64_t first, const T* from, T* to, std::int64_t count) {
    kernels::random_dropout(draw.stream.from(first), from, to,
                            flags == nullptr ? nullptr : flags + first, count, draw.limit,
                            static_cast<T>(draw.scale));
  };
  if (x.dtype() == DType::f64) {
    map_pieces<double>(source, result, run);
  } else {
    map_pieces<float>(source, result, run);
  }
  if (autograd::is_recorded(x)) {
    autograd::record("dropout", result, {x}, {},
                     [draw](const Saved&, const Gradient& g) -> std::vector<Gradient> {
                       Tensor live;
                       Tensor value = drop(g.value, draw, &live);
                       return {{value, autograd::both(g.mask, live)}};
                     });
  }
  return result;
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator) {
  if (!is_floating(x.dtype())) {
    throw DTypeError("dropout: expected a floating dtype, got {}", x.dtype());
  }
  if (!(p >= 0) || p > 1) throw ValueError("dropout: expected p in [0, 1], got {}", p);
  if (!training) return x;
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  return drop(x, {generator.take(x.size()), kernels::word_limit(p), scale}, nullptr);
}

}  // namespace loup::ops
