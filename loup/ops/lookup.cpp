#include "loup/ops/lookup.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/index.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

/// The lookup in a tensor as kernels see it.
class Found {
 public:
  Found(const Lookup& lookup, const Tensor& x)
      : array_(x.array()), count_(static_cast<std::size_t>(lookup.dims.size())) {
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
  kernels::Indexed array() const { return {array_, {dims_.data(), count_}}; }

 private:
  Array array_;
  std::size_t count_;
  std::array<kernels::IndexedDim, max_ndim> dims_;
};

std::vector<SavedTensor> saved_indices(const Lookup& lookup) {
  return {lookup.indices.begin(), lookup.indices.end()};
}

/// The lookup of a record, whose indices must not have changed since.
const Lookup& unchanged_lookup(const Lookup& lookup, const Saved& saved) {
  for (std::size_t k = 0; k < lookup.indices.size(); ++k) static_cast<void>(saved[k]);
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): the record outlives the rule
  return lookup;
}

Gradient take_gradient(const Lookup& lookup, const Gradient& g) {
  Gradient result{take(lookup, g.value), {}};
  if (g.mask) result.mask = take(lookup, *g.mask);
  return result;
}

/// Where `put` leaves the elements of x as they are.
Tensor not_found(const Lookup& lookup) {
  const Tensor result = ones(lookup.source, DType::boolean);
  const Tensor no = zeros({}, DType::boolean);
  const Array nowhere{no.raw_data(), no.dtype(), Dims::filled(lookup.shape.size(), 0)};
  kernels::scatter(lookup.shape, Found(lookup, result).array(), nowhere);
  return result;
}

/// Which elements of y `put` leaves in x: the last for each place.
Tensor last_found(const Lookup& lookup) {
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
  Tensor result;
  {
    const autograd::RecordingScope scope(false);
    result = clone(x);
    write_in(result, to(y, x.dtype()));
  }
  if (is_floating(x.dtype()) && (autograd::is_recorded(x) || autograd::is_recorded(y))) {
    autograd::record(lookup.operation, result, {x, y}, saved_indices(lookup),
                     [lookup, of_x, of_y, from = y.dtype()](const Saved& saved, const Gradient& g) {
                       const Lookup& again = unchanged_lookup(lookup, saved);
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
  check_indices(own);
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

Lookup element_lookup(const char* operation, const Shape& source, int dim, const Tensor& index) {
  check_index_dtype(operation, index.dtype());
  if (index.ndim() != source.size()) {
    throw ShapeError("{}: expected indices of {} dims, got shape {}", operation, source.size(),
                     index.shape());
  }
  Dims moves;
  for (int i = 0; i < source.size(); ++i) {
    moves.push_back(i == dim ? -1 : i);
    if (i != dim && index.shape()[i] > source[i]) {
      throw ShapeError("{}: expected indices nowhere longer than {} but for dim {}, got shape {}",
                       operation, source, dim, index.shape());
    }
  }
  return {operation, index.shape(), source, moves, dim, {index}};
}

void check_indices(const Lookup& lookup) {
  std::vector<kernels::IndexedDim> dims;
  for (int k = 0; k < lookup.dims.size(); ++k) {
    const std::int64_t size = lookup.source[static_cast<int>(lookup.dims[k])];
    dims.push_back({lookup.indices[static_cast<std::size_t>(k)].array(), size, 0});
  }
  if (const auto bad = kernels::find_out_of_range(lookup.shape, dims)) {
    const std::int64_t size = dims[static_cast<std::size_t>(bad->dim)].size;
    throw IndexError("{}: expected an index from {} to {} for dim {}, got {}", lookup.operation,
                     -size, size - 1, lookup.dims[bad->dim], bad->index);
  }
}

void set_indices(Lookup& lookup, std::vector<Tensor> indices, const Shape& found, int place) {
  for (Tensor& x : indices) {
    x = x.with_layout(broadcast(lookup.operation, "indices", x.layout(), found));
  }
  if (element_count(lookup.shape) == 0 && element_count(found) != 0) {
    check_indices({lookup.operation, found, lookup.source, {}, lookup.dims, indices});
  }
  for (Tensor& x : indices) {
    Layout whole{lookup.shape, Dims::filled(lookup.shape.size(), 0), x.layout().offset};
    for (int i = 0; i < found.size(); ++i) whole.strides[place + i] = x.strides()[i];
    x = x.with_layout(whole);
  }
  lookup.indices = std::move(indices);
}

void write_at(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  if (!kernels::scatter(lookup.shape, Found(lookup, x).array(), y.array())) check_indices(lookup);
}

void write_sum_at(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  if (x.dtype() != DType::f16 && x.dtype() != DType::bf16) {
    const Found found(lookup, x);
    if (!kernels::scatter_add(lookup.shape, found.array(), y.array())) check_indices(lookup);
    return;
  }
  // Many small addends would vanish beside a sum of 11 or 8 bits.
  const Tensor wide = to(x.detach(), DType::f32);
  write_sum_at(lookup, wide, to(y.detach(), DType::f32));
  kernels::copy(x.shape(), x.array(), wide.array());
}

Tensor take(const Lookup& lookup, const Tensor& x) {
  Tensor result = empty(lookup.shape, x.dtype());
  if (!kernels::gather(lookup.shape, result.array(), Found(lookup, x).array())) {
    check_indices(lookup);
  }
  if (autograd::is_recorded(x)) {
    autograd::record(lookup.operation, result, {x}, saved_indices(lookup),
                     [lookup](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                       return {spread_found(unchanged_lookup(lookup, saved), g)};
                     });
  }
  return result;
}

Tensor spread_found(const Lookup& lookup, const Tensor& y) {
  Tensor result = zeros(lookup.source, y.dtype());
  write_sum_at(lookup, result, y);
  if (autograd::is_recorded(y)) {
    autograd::record(lookup.operation, result, {y}, saved_indices(lookup),
                     [lookup](const Saved& saved, const Gradient& g) -> std::vector<Gradient> {
                       return {take_gradient(unchanged_lookup(lookup, saved), g)};
                     });
  }
  return result;
}

Gradient spread_found(const Lookup& lookup, const Gradient& g) {
  Gradient result{spread_found(lookup, autograd::materialize(g)), {}};
  if (g.mask) result.mask = spread_found(lookup, *g.mask);
  return result;
}

Tensor put(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  return changed(
      lookup, x, y, [&](const Tensor& to, const Tensor& from) { write_at(lookup, to, from); },
      [](const Lookup& again, const Gradient& g) -> Gradient {
        return {g.value, autograd::both(g.mask, not_found(again))};
      },
      [](const Lookup& again, const Gradient& g) -> Gradient {
        const Gradient all = take_gradient(again, g);
        return {all.value, autograd::both(all.mask, last_found(again))};
      });
}

Tensor add_at(const Lookup& lookup, const Tensor& x, const Tensor& y) {
  return changed(
      lookup, x, y, [&](const Tensor& to, const Tensor& from) { write_sum_at(lookup, to, from); },
      [](const Lookup&, const Gradient& g) { return g; },
      [](const Lookup& again, const Gradient& g) { return take_gradient(again, g); });
}

void put_(const Lookup& lookup, Tensor& x, const Tensor& y) { change(lookup, x, y, write_at, put); }

void add_at_(const Lookup& lookup, Tensor& x, const Tensor& y) {
  change(lookup, x, y, write_sum_at, add_at);
}

}  // namespace loup::ops
