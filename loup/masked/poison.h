#pragma once

#include <optional>

#include "loup/masked/elementwise.h"

// A mode for debugging that proves that nothing reads what is masked: operators then see garbage
// there.

namespace loup::masked {

/// While one of them is alive, operators of all threads read NaN (integers: 0x5a in every byte,
/// bool: true) where a mask is false. They read copies: neither data nor masks change.
class LOUP_EXPORT Poison {
 public:
  Poison();
  ~Poison();
  Poison(const Poison&) = delete;
  Poison& operator=(const Poison&) = delete;
};

/// An argument as an operator sees it. Refers to what it is made of.
class LOUP_EXPORT Seen {
 public:
  Seen(const char* operation, const Tensor& x, const Tensor* mask);
  Seen(const char* operation, const Tensor& x, const std::optional<Tensor>& mask)
      : Seen(operation, x, mask ? &*mask : nullptr) {}
  Seen(const char* operation, const MaskedTensor& x)
      : Seen(operation, x.get_data(), &x.get_mask()) {}
  Seen(const char* operation, const MaskedOperand& x);

  operator const Tensor&() const { return operand_.tensor(); }
  operator const ops::Operand&() const { return operand_; }

 private:
  ops::Operand operand_;
};

/// What counts as an operator sees it, 0 elsewhere. Its record keeps a copy of the mask, which may
/// change with x.
LOUP_EXPORT Tensor zero_filled(const char* operation, const MaskedTensor& x);

}  // namespace loup::masked
