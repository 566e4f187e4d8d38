#include "loup/ops/nth_rules.h"

#include <utility>

#include "loup/autograd/node.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/lookup.h"
#include "loup/ops/nth_lines.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

NthUse use_of(const Tensor& x, const Tensor* mask, int dim, const Tensor& values) {
  const autograd::RecordingScope scope(false);
  std::optional<Tensor> chooses;
  if (mask != nullptr) chooses = to(*mask, DType::boolean);
  const Tensor found =
      NthLines(x, chooses ? &*chooses : nullptr, dim, x.dtype()).find_first(values);
  const Tensor is_live = ge(found, 0);
  // Lines without one look at their first element, and leave it alone.
  return {filled(found, is_live, 0), is_live, {}};
}

void record_nth(const char* operation, Tensor& result, const Tensor& x, int dim, bool keepdim,
                std::vector<NthUse> uses) {
  std::vector<SavedTensor> saved;
  for (const NthUse& use : uses) {
    saved.emplace_back(use.indices);
    saved.emplace_back(use.is_live);
    if (use.share) saved.emplace_back(*use.share);
  }
  autograd::record(operation, result, {x}, std::move(saved),
                   [=, shape = x.shape(), shares = uses.front().share.has_value(),
                    count = uses.size()](const Saved& kept, const Gradient& g) {
                     Gradient whole = g;
                     if (!keepdim) {
                       whole.value = unsqueeze(g.value, dim);
                       if (g.mask) whole.mask = unsqueeze(*g.mask, dim);
                     }
                     std::optional<Gradient> total;
                     for (std::size_t i = 0; i < count; ++i) {
                       const std::size_t first = i * (shares ? 3 : 2);
                       Gradient own{shares ? mul(whole.value, kept[first + 2]) : whole.value,
                                    autograd::both(whole.mask, kept[first + 1])};
                       const Lookup lookup = element_lookup(operation, shape, dim, kept[first]);
                       Gradient spread_out = spread_found(lookup, own);
                       total = total ? autograd::accumulate(*total, spread_out) : spread_out;
                     }
                     return std::vector<Gradient>{*total};
                   });
}

}  // namespace loup::ops
