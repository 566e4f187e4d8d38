#include "loup/masked/random.h"

#include "loup/masked/create.h"
#include "loup/masked/poison.h"
#include "loup/ops/dropout.h"

namespace loup::masked {

namespace {

template <class Fill>
void refill(const char* operation, MaskedTensor& x, const Fill& fill) {
  Tensor numbers = loup::empty_like(x.get_data());
  fill(numbers);
  x.replace_(operation, numbers);
}

}  // namespace

MaskedTensor rand_like(const MaskedTensor& x, const ops::RandomOptions& options) {
  return with_mask_of(x, ops::rand_like(x.get_data(), options));
}

MaskedTensor randn_like(const MaskedTensor& x, const ops::RandomOptions& options) {
  return with_mask_of(x, ops::randn_like(x.get_data(), options));
}

MaskedTensor randint_like(const MaskedTensor& x, const ops::IntegerRange& range,
                          const ops::RandomOptions& options) {
  return with_mask_of(x, ops::randint_like(x.get_data(), range, options));
}

MaskedTensor bernoulli(const MaskedTensor& p, const ops::RandomOptions& options) {
  return with_mask_of(p, ops::bernoulli(zero_filled("bernoulli", p.detach()), options));
}

Tensor multinomial(const MaskedTensor& weights, std::int64_t count,
                   const ops::MultinomialOptions& options) {
  return ops::multinomial(zero_filled("multinomial", weights.detach()), count, options);
}

MaskedTensor dropout(const MaskedTensor& x, double p, bool training,
                     const ops::Generator& generator) {
  const Tensor data = ops::dropout(Seen("dropout", x), p, training, generator);
  if (data.storage() == x.get_data().storage()) return as_masked_tensor(data, x.get_mask());
  return with_mask_of(x, data);
}

void uniform_(MaskedTensor& x, double low, double high, const ops::Generator& generator) {
  refill("uniform_", x, [&](Tensor& to) { ops::uniform_(to, low, high, generator); });
}

void normal_(MaskedTensor& x, double mean, double std, const ops::Generator& generator) {
  refill("normal_", x, [&](Tensor& to) { ops::normal_(to, mean, std, generator); });
}

void bernoulli_(MaskedTensor& x, double p, const ops::Generator& generator) {
  refill("bernoulli_", x, [&](Tensor& to) { ops::bernoulli_(to, p, generator); });
}

void bernoulli_(MaskedTensor& x, const Tensor& p, const ops::Generator& generator) {
  refill("bernoulli_", x, [&](Tensor& to) { ops::bernoulli_(to, p, generator); });
}

}  // namespace loup::masked
