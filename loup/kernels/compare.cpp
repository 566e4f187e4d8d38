#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/compare.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

namespace {

struct Equal {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D /*d*/, V x, V y) {
    return hn::Eq(x, y);
  }
};
struct NotEqual {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D /*d*/, V x, V y) {
    return hn::Ne(x, y);
  }
};
struct Less {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D /*d*/, V x, V y) {
    return hn::Lt(x, y);
  }
};
struct LessEqual {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D /*d*/, V x, V y) {
    return hn::Le(x, y);
  }
};
struct Greater {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D /*d*/, V x, V y) {
    return hn::Gt(x, y);
  }
};
struct GreaterEqual {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D /*d*/, V x, V y) {
    return hn::Ge(x, y);
  }
};
/// Anything but 0 is true, NaN included.
struct BothTrue {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D d, V x, V y) {
    return hn::And(hn::Ne(x, hn::Zero(d)), hn::Ne(y, hn::Zero(d)));
  }
};
struct EitherTrue {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D d, V x, V y) {
    return hn::Or(hn::Ne(x, hn::Zero(d)), hn::Ne(y, hn::Zero(d)));
  }
};
struct OneTrue {
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> apply(D d, V x, V y) {
    return hn::Xor(hn::Ne(x, hn::Zero(d)), hn::Ne(y, hn::Zero(d)));
  }
};

template <class T>
struct Comparison {
  static const ElementwiseKernel* find(BinaryOp op) {
    switch (op) {
      case BinaryOp::eq: return &compare_kernel<T, Equal>;
      case BinaryOp::ne: return &compare_kernel<T, NotEqual>;
      case BinaryOp::lt: return &compare_kernel<T, Less>;
      case BinaryOp::le: return &compare_kernel<T, LessEqual>;
      case BinaryOp::gt: return &compare_kernel<T, Greater>;
      case BinaryOp::ge: return &compare_kernel<T, GreaterEqual>;
      case BinaryOp::logical_and: return &compare_kernel<T, BothTrue>;
      case BinaryOp::logical_or: return &compare_kernel<T, EitherTrue>;
      case BinaryOp::logical_xor: return &compare_kernel<T, OneTrue>;
      default: return nullptr;
    }
  }
};

// Bool bytes hold 0 or 1, but a mask from elsewhere may hold any byte: nonzero is true.
struct BoolAnd {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V x, V y) {
    return hn::And(hn::Min(x, hn::Set(d, 1)), hn::Min(y, hn::Set(d, 1)));
  }
};
struct BoolOr {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V x, V y) {
    return hn::Min(hn::Or(x, y), hn::Set(d, 1));
  }
};
struct BoolXor {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V x, V y) {
    return hn::Xor(hn::Min(x, hn::Set(d, 1)), hn::Min(y, hn::Set(d, 1)));
  }
};
struct BoolEqual {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V x, V y) {
    return hn::Xor(BoolXor::apply(d, x, y), hn::Set(d, 1));
  }
};

template <class Op>
constexpr ElementwiseKernel boolean_kernel{run_binary<std::uint8_t, std::uint8_t, Op>,
                                           {DType::boolean, DType::boolean},
                                           DType::boolean};

}  // namespace

const ElementwiseKernel* find_comparison(BinaryOp op, ComputeType type) {
  return find_by_type<Comparison>(op, type);
}

const ElementwiseKernel* find_boolean_kernel(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_and:
    case BinaryOp::bitwise_and: return &boolean_kernel<BoolAnd>;
    case BinaryOp::logical_or:
    case BinaryOp::bitwise_or: return &boolean_kernel<BoolOr>;
    case BinaryOp::logical_xor:
    case BinaryOp::bitwise_xor:
    case BinaryOp::ne: return &boolean_kernel<BoolXor>;
    case BinaryOp::eq: return &boolean_kernel<BoolEqual>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_comparison);
HWY_EXPORT(find_boolean_kernel);
const ElementwiseKernel* compare(BinaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_comparison)(op, type);
}
const ElementwiseKernel* find_boolean(BinaryOp op) {
  return HWY_DYNAMIC_DISPATCH(find_boolean_kernel)(op);
}
}  // namespace loup::kernels
#endif
