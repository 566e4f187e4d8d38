#include "loup/ops/index.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/kernels/copy.h"
#include "loup/ops/copy.h"
#include "loup/ops/elementwise.h"
#include "loup/ops/in_place.h"
#include "loup/ops/index_parser.h"
#include "loup/ops/lookup.h"
#include "loup/ops/masking.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

/// Only the mask of all elements, which needs no indices.
bool is_whole_mask(const Tensor& x, std::span<const Index> items) {
  if (items.size() != 1 || x.ndim() == 0) return false;
  const Tensor* const mask = std::get_if<Tensor>(&items.front());
  return mask != nullptr && mask->dtype() == DType::boolean && mask->shape() == x.shape();
}

std::vector<SavedTensor> saved_tensors(const Items& items) {
  std::vector<SavedTensor> result;
  for (const Index& item : items) {
    if (const Tensor* const tensor = std::get_if<Tensor>(&item)) result.emplace_back(*tensor);
  }
  return result;
}

/// The items of a record, whose tensors must not have changed since.
const Items& unchanged(const Items& items, const Saved& saved) {
  std::size_t next = 0;
  for (const Index& item : items) {
    if (std::holds_alternative<Tensor>(item)) static_cast<void>(saved[next++]);
  }
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): the record outlives the rule
  return items;
}

/// `values` for the elements found; leading dims of size 1 are dropped, as NumPy does.
Tensor source_of(const Tensor& values, const Tensor& x, const Shape& shape) {
  Shape own = values.shape();
  while (own.size() > shape.size() && own[0] == 1) own.erase(0);
  const Tensor fitting = own == values.shape() ? values : reshape(values, own);
  broadcast("index_put_", "a source", fitting.layout(), shape);
  return repeated("index_put_", to(fitting, x.dtype()), shape);
}

void write(const Tensor& x, const Items& items, const Tensor& source, bool accumulate) {
  const Tensor place = x.with_layout(view_of(x.layout(), items));
  if (has_tensors(items)) {
    const Lookup lookup = lookup_of("index_put_", place.shape(), items);
    accumulate ? write_sum_at(lookup, place, source) : write_at(lookup, place, source);
  } else if (accumulate) {
    kernels::add(place.shape(), place.array(), place.array(), source.array());
  } else {
    kernels::copy(place.shape(), place.array(), source.array());
  }
}

/// Where x[items] = … leaves the elements of a tensor as they are.
Tensor untouched(const Shape& shape, const Items& items) {
  Tensor result = ones(shape, DType::boolean);
  index_put_(result, items, zeros({}, DType::boolean));
  return result;
}

/// Which of several values for one element is the one that stays.
std::optional<Tensor> last_ones(const Shape& shape, const Items& items) {
  if (!has_tensors(items)) return std::nullopt;
  Tensor winner = empty(shape, DType::i64);
  const Shape found = index(winner, items).shape();
  const Tensor number = reshape(arange(0, element_count(found)), found);
  index_put_(winner, items, number);
  const Tensor stayed = index(winner, items);
  Tensor result = empty(found, DType::boolean);
  std::ranges::transform(stayed.data<const std::int64_t>(), number.data<const std::int64_t>(),
                         result.data<bool>().begin(), std::equal_to<>());
  return result;
}

void record_put(Tensor& x, const Items& items, const Tensor& source, bool accumulate) {
  autograd::record_in_place(
      "index_put_", x, {source}, saved_tensors(items),
      [items, accumulate](const Saved& saved, const Gradient& g) {
        const Items& again = unchanged(items, saved);
        const Shape& shape = g.value.shape();
        std::vector<Gradient> gradients(2);
        if (saved.needs(0)) {
          gradients[0] = g;
          if (!accumulate) gradients[0].mask = autograd::both(g.mask, untouched(shape, again));
        }
        if (saved.needs(1)) {
          gradients[1].value = index(g.value, again);
          if (g.mask) gradients[1].mask = index(*g.mask, again);
          if (!accumulate) {
            gradients[1].mask = autograd::both(gradients[1].mask, last_ones(shape, again));
          }
        }
        return gradients;
      });
}

}  // namespace

Tensor index(const Tensor& x, std::span<const Index> items) {
  if (is_whole_mask(x, items)) return masked_select(x, std::get<Tensor>(items.front()));
  const Items known = normalized(x.shape(), items);
  const Tensor view =
      apply_view("index", x, [known](const Layout& layout) { return view_of(layout, known); });
  return has_tensors(known) ? take(lookup_of("index", view.shape(), known), view) : view;
}

void index_put_(Tensor& x, std::span<const Index> items, const Tensor& values, bool accumulate) {
  if (is_whole_mask(x, items) && values.ndim() == 0 && !accumulate) {
    return masked_fill_(x, std::get<Tensor>(items.front()), values);
  }
  Items known = normalized(x.shape(), items);
  for (Index& item : known) {
    Tensor* const tensor = std::get_if<Tensor>(&item);
    if (tensor != nullptr && tensor->storage() == x.storage()) *tensor = clone(*tensor);
  }
  Shape shape = view_of(x.layout(), known).shape;
  if (has_tensors(known)) {
    const Lookup lookup = lookup_of("index_put_", shape, known);
    check_indices(lookup);
    shape = lookup.shape;
  }
  Tensor source = source_of(values, x, shape);
  if (source.storage() == x.storage()) source = clone(source);
  prepare_in_place("index_put_", x, {source});
  write(x, known, source, accumulate);
  if (is_floating(x.dtype()) && (autograd::is_recorded(x) || autograd::is_recorded(source))) {
    record_put(x, known, source, accumulate);
  }
}

}  // namespace loup::ops
