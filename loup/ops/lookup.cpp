#include "loup/ops/lookup.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/index.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

/// The lookup in a tensor as kernels see it.
class Found {
 public:
  Found(const Lookup& lookup, const Tensor& x) : lookup_(lookup), array_(x.array()) {
    array_.strides = Dims::filled(lookup.shape.size(), 0);
    for (int i = 0; i < lookup.shape.size(); ++i) {
      if (lookup.moves[i] >= 0) array_.strides[i] = x.strides()[static_cast<int>(lookup.moves[i])];
    }
    for (int k = 0; k < lookup.dims.size(); ++k) {
      const int dim = static_cast<int>(lookup.dims[k]);
      dims_[static_cast<std::size_t>(k)] = {lookup.indices[static_cast<std::size_t>(k)].array(),
                                            lookup.source[dim], x.strides()[dim]};
    }
  }
  kernels::Indexed array() const { return {array_, dims()}; }

  void check() const {
    if (const auto bad = kernels::find_out_of_range(lookup_.shape, dims())) {
      const int dim = static_cast<int>(lookup_.dims[bad->dim]);
      const std::int64_t size = lookup_.source[dim];
      throw IndexError("{}: expected an index from {} to {} for dim {}, got {}", lookup_.operation,
                       -size, size - 1, dim, bad->index);
    }
  }

 private:
  std::span<const kernels::IndexedDim> dims() const {
    return {dims_.data(), static_cast<std::size_t>(lookup_.dims.size())};
  }

  const Lookup& lookup_;
  Array array_;
  std::array<kernels::IndexedDim, max_ndim> dims_;
};

using Scatter = void (*)(const Shape&, const kernels::Indexed&, const Array&);

void write(const Lookup& lookup, const Tensor& x, const Tensor& y, Scatter scatter) {
  scatter(lookup.shape, Found(lookup, x).array(), y.array());
}

void write_sum(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  const bool is_half = x.dtype() == DType::f16 || x.dtype() == DType::bf16;
  if (!is_half) return write(lookup, x, y, kernels::scatter_add);
  // Many small addends would vanish beside a sum of 11 or 8 bits.
  const autograd::RecordingScope scope(false);
  const Tensor wide = to(x, DType::f32);
  write(lookup, wide, to(y, DType::f32), kernels::scatter_add);
  copy_(x, wide);
}

std::vector<SavedTensor> saved_indices(const Lookup& lookup) {
  return {lookup.indices.begin(), lookup.indices.end()};
}

/// A lookup whose indices are kept, and watched, by a record.
class Remembered {
 public:
  explicit Remembered(const Lookup& lookup) : lookup_(lookup) { lookup_.indices.clear(); }
  Lookup operator()(const Saved& saved) const {
    Lookup result = lookup_;
    for (int k = 0; k < lookup_.dims.size(); ++k) {
      result.indices.push_back(saved[static_cast<std::size_t>(k)]);
    }
    return result;
  }

 private:
  Lookup lookup_;
};

Gradient take(const Lookup& lookup, const Gradient& g) {
  Gradient result{take(lookup, g.value), {}};
  if (g.mask) result.mask = take(lookup, *g.mask);
  return result;
}

/// Only what is live is added up; a place is live where something arrived.
Gradient spread(const Lookup& lookup, const Gradient& g) {
  Gradient result{spread(lookup, autograd::materialize(g)), {}};
  if (g.mask) result.mask = spread(lookup, *g.mask);
  return result;
}

/// Where `put` leaves the elements of x as they are.
Tensor untouched(const Lookup& lookup) {
  const Tensor result = ones(lookup.source, DType::boolean);
  const Tensor no = zeros({}, DType::boolean);
  const Array nowhere{no.raw_data(), no.dtype(), Dims::filled(lookup.shape.size(), 0)};
  kernels::scatter(lookup.shape, Found(lookup, result).array(), nowhere);
  return result;
}

/// Which elements of y `put` leaves in x: the last for each place.
Tensor last_ones(const Lookup& lookup) {
  const std::int64_t count = element_count(lookup.shape);
  const Tensor number = arange(0, count);
  const Array numbers{number.raw_data(), DType::i64, contiguous_strides(lookup.shape)};
  const Tensor winner = empty(lookup.source, DType::i64);
  kernels::scatter(lookup.shape, Found(lookup, winner).array(), numbers);
  const Tensor found = take(lookup, winner);
  Tensor result = empty(lookup.shape, DType::boolean);
  std::ranges::transform(found.data<const std::int64_t>(), number.data<const std::int64_t>(),
                         result.data<bool>().begin(), std::equal_to<>());
  return result;
}

/// Changes a copy of x, and records it with what becomes of the gradients of x and y.
template <class Write, class OfX, class OfY>
Tensor changed(const Lookup& lookup, const Tensor& x, const Tensor& y, Write write_in, OfX of_x,
               OfY of_y) {
  Found(lookup, x).check();
  Tensor result;
  {
    const autograd::RecordingScope scope(false);
    result = clone(x);
    write_in(result, to(y, x.dtype()));
  }
  if (is_floating(x.dtype()) && (autograd::is_recorded(x) || autograd::is_recorded(y))) {
    autograd::record(lookup.operation, result, {x, y}, saved_indices(lookup),
                     [remembered = Remembered(lookup), of_x, of_y, from = y.dtype()](
                         const Saved& saved, const Gradient& g) {
                       const Lookup again = remembered(saved);
                       std::vector<Gradient> gradients(2);
                       if (saved.needs(0)) gradients[0] = of_x(again, g);
                       if (saved.needs(1)) {
                         gradients[1] = of_y(again, g);
                         gradients[1].value = to(gradients[1].value, from);
                       }
                       return gradients;
                     });
  }
  return result;
}

/// Changes x itself where nothing is recorded.
template <class Write, class Recorded>
void change(const Lookup& lookup, Tensor& x, const Tensor& y, Write write_in, Recorded recorded) {
  if (autograd::is_recorded(x) || (autograd::is_recorded(y) && is_floating(x.dtype()))) {
    return replace_(lookup.operation, x, recorded(lookup, x, y));
  }
  const auto apart = [&](const Tensor& other) {
    return other.storage() == x.storage() ? clone(other) : other;
  };
  Lookup own = lookup;
  for (Tensor& indices : own.indices) indices = apart(indices);
  Found(own, x).check();
  const Tensor source = apart(to(y, x.dtype()));
  prepare_in_place(lookup.operation, x, {y});
  write_in(own, x, source);
}

}  // namespace

void check_index_dtype(const char* operation, DType dtype) {
  if (!is_integer(dtype)) {
    throw DTypeError("{}: expected indices of an integer dtype, got {}", operation, dtype);
  }
}

Tensor take(const Lookup& lookup, const Tensor& x) {
  Tensor result = empty(lookup.shape, x.dtype());
  const Found found(lookup, x);
  if (!kernels::gather(lookup.shape, result.array(), found.array())) found.check();
  if (autograd::is_recorded(x)) {
    autograd::record(lookup.operation, result, {x}, saved_indices(lookup),
                     [remembered = Remembered(lookup)](const Saved& saved, const Gradient& g)
                         -> std::vector<Gradient> { return {spread(remembered(saved), g)}; });
  }
  return result;
}

Tensor spread(const Lookup& lookup, const Tensor& y) {
  Tensor result = zeros(lookup.source, y.dtype());
  Found(lookup, result).check();
  write_sum(lookup, result, y);
  if (autograd::is_recorded(y)) {
    autograd::record(lookup.operation, result, {y}, saved_indices(lookup),
                     [remembered = Remembered(lookup)](const Saved& saved, const Gradient& g)
                         -> std::vector<Gradient> { return {take(remembered(saved), g)}; });
  }
  return result;
}

Tensor put(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  return changed(
      lookup, x, y,
      [&](const Tensor& to, const Tensor& from) { write(lookup, to, from, kernels::scatter); },
      [](const Lookup& again, const Gradient& g) -> Gradient {
        return {g.value, autograd::both(g.mask, untouched(again))};
      },
      [](const Lookup& again, const Gradient& g) -> Gradient {
        const Gradient all = take(again, g);
        return {all.value, autograd::both(all.mask, last_ones(again))};
      });
}

Tensor add_at(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  return changed(
      lookup, x, y, [&](const Tensor& to, const Tensor& from) { write_sum(lookup, to, from); },
      [](const Lookup&, const Gradient& g) { return g; },
      [](const Lookup& again, const Gradient& g) { return take(again, g); });
}

void put_(const Lookup& lookup, Tensor& x, const Tensor& y) {
  change(
      lookup, x, y,
      [](const Lookup& own, const Tensor& to, const Tensor& from) {
        write(own, to, from, kernels::scatter);
      },
      put);
}

void add_at_(const Lookup& lookup, Tensor& x, const Tensor& y) {
  change(lookup, x, y, write_sum, add_at);
}

}  // namespace loup::ops
