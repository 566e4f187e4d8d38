#pragma once

#include "bindings.h"
#include "loup/masked/ranks.h"

// Masked operators that describe how elements are distributed, as Python functions and methods.

namespace loup::python {

/// Where an operator is added: two modules, and the classes of its input.
struct RankScopes {
  nb::module_& functions;  // loup.masked
  nb::module_& module;     // loup
};

void define_rank(const RankScopes& scopes, const masked::Median& op);
void define_rank(const RankScopes& scopes, const masked::Quantile& op);
void define_rank(const RankScopes& scopes, const masked::Histogram& op);
void define_rank(const RankScopes& scopes, const masked::Covariance& op);
void define_rank(const RankScopes& scopes, const masked::Correlation& op);
void define_rank(const RankScopes& scopes, const masked::WeightedMean& op);

/// Which outputs of an operator have an element that counts, for output_mask() of Python.
Tensor rank_mask(const masked::Median& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask);
Tensor rank_mask(const masked::Quantile& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask);
Tensor rank_mask(const masked::Histogram& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask);
Tensor rank_mask(const masked::Covariance& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask);
Tensor rank_mask(const masked::Correlation& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask);
Tensor rank_mask(const masked::WeightedMean& op, const Tensor& x, const Dims& dims, bool keepdim,
                 const std::optional<Tensor>& mask);

}  // namespace loup::python
