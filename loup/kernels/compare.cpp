#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/compare.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <limits>

#include "loup/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

namespace {

/// Highway's Ne of floats is false for NaN, C's is true.
template <class V>
HWY_INLINE auto differs(V x, V y) {
  return hn::Not(hn::Eq(x, y));
}

struct Equal {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x, V y) const {
    return hn::Eq(x, y);
  }
};
struct NotEqual {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x, V y) const {
    return differs(x, y);
  }
};
struct Less {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x, V y) const {
    return hn::Lt(x, y);
  }
};
/// Of integers Highway compares only with < and >.
struct LessEqual {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x, V y) const {
    if constexpr (std::is_integral_v<hn::TFromD<D>>) {
      return hn::Not(hn::Gt(x, y));
    } else {
      return hn::Le(x, y);
    }
  }
};
struct Greater {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x, V y) const {
    return hn::Gt(x, y);
  }
};
struct GreaterEqual {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x, V y) const {
    if constexpr (std::is_integral_v<hn::TFromD<D>>) {
      return hn::Not(hn::Lt(x, y));
    } else {
      return hn::Ge(x, y);
    }
  }
};
/// Anything but 0 is true, NaN included.
struct BothTrue {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D d, V x, V y) const {
    return hn::And(differs(x, hn::Zero(d)), differs(y, hn::Zero(d)));
  }
};
struct EitherTrue {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D d, V x, V y) const {
    return hn::Or(differs(x, hn::Zero(d)), differs(y, hn::Zero(d)));
  }
};
struct OneTrue {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D d, V x, V y) const {
    return hn::Xor(differs(x, hn::Zero(d)), differs(y, hn::Zero(d)));
  }
};

/// Equal, or finite and not further from y than atol + rtol |y|. In doubles, so that halves and
/// floats do not round the tolerance away.
struct Close {
  static constexpr std::int64_t cost = 2;
  explicit Close(const double* parameters)
      : rtol(parameters[0]), atol(parameters[1]), equal_nan(parameters[2] != 0) {}
  template <class D, class V>
  HWY_INLINE hn::Mask<D> operator()(D d, V x, V y) const {
    const auto size = hn::Abs(y);
    // No contraction: both roundings happen on every instruction set.
    const auto distance = hn::Add(hn::Mul(hn::Set(d, rtol), size), hn::Set(d, atol));
    const auto is_near = hn::Le(hn::Abs(hn::Sub(x, y)), distance);
    const auto is_finite = hn::Lt(size, hn::Set(d, std::numeric_limits<double>::infinity()));
    const auto is_close = hn::Or(hn::Eq(x, y), hn::And(is_near, is_finite));
    if (!equal_nan) return is_close;
    return hn::Or(is_close, hn::And(differs(x, x), differs(y, y)));
  }
  double rtol, atol;
  bool equal_nan;
};

template <class T>
struct Comparison {
  static const ElementwiseKernel* find(BinaryOp op) {
    switch (op) {
      case BinaryOp::eq: return &binary_kernel<Tests<T>, Equal>;
      case BinaryOp::ne: return &binary_kernel<Tests<T>, NotEqual>;
      case BinaryOp::lt: return &binary_kernel<Tests<T>, Less>;
      case BinaryOp::le: return &binary_kernel<Tests<T>, LessEqual>;
      case BinaryOp::gt: return &binary_kernel<Tests<T>, Greater>;
      case BinaryOp::ge: return &binary_kernel<Tests<T>, GreaterEqual>;
      case BinaryOp::logical_and: return &binary_kernel<Tests<T>, BothTrue>;
      case BinaryOp::logical_or: return &binary_kernel<Tests<T>, EitherTrue>;
      case BinaryOp::logical_xor: return &binary_kernel<Tests<T>, OneTrue>;
      default: return nullptr;
    }
  }
};

// Bool bytes hold 0 or 1, but a mask from elsewhere may hold any byte: nonzero is true.
struct BoolAnd {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    return hn::And(hn::Min(x, hn::Set(d, 1)), hn::Min(y, hn::Set(d, 1)));
  }
};
struct BoolOr {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    return hn::Min(hn::Or(x, y), hn::Set(d, 1));
  }
};
struct BoolXor {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    return hn::Xor(hn::Min(x, hn::Set(d, 1)), hn::Min(y, hn::Set(d, 1)));
  }
};
struct BoolEqual {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    return hn::Xor(BoolXor{}(d, x, y), hn::Set(d, 1));
  }
};

template <class Op>
constexpr ElementwiseKernel boolean_kernel{map_binary<Lanes<std::uint8_t>, Op>,
                                           {DType::boolean, DType::boolean},
                                           DType::boolean,
                                           Op::cost};

}  // namespace

const ElementwiseKernel* find_comparison(BinaryOp op, ComputeType type) {
  if (op == BinaryOp::isclose) {
    if (type == ComputeType::f32) return &binary_kernel<WideTests, Close>;
    return &binary_kernel<Tests<double>, Close>;
  }
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
