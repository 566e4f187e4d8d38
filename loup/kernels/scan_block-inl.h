// Running values of blocks of consecutive elements, in lanes of doubles. Included once per
// instruction set, from kernel files only.
//
// A lane holds neighbours: two doubles, or four floats. Running values inside of lanes need no
// shuffles; only what the lanes come to passes from lane to lane, and from block to block.

#if defined(LOUP_KERNELS_SCAN_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SCAN_BLOCK_INL_H_
#undef LOUP_KERNELS_SCAN_BLOCK_INL_H_
#else
#define LOUP_KERNELS_SCAN_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

struct RunningSum {
  static constexpr double identity = 0;
  static double apply(double a, double b) { return a + b; }
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct RunningProduct {
  static constexpr double identity = 1;
  static double apply(double a, double b) { return a * b; }
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};

/// Running values of a line, block by block; with `reversed` from its last block to the first.
///
/// A block is two vectors. Lanes take turns between them: lane l holds neighbours of vector l % 2,
/// so that lanes are filled by interleaving the vectors, which every instruction set does at once,
/// and emptied by the same.
///
/// A block is made in three steps, because each of them waits for its own instructions most of the
/// time: blocks that follow each other are to be under way together. Only close() needs the blocks
/// before it.
template <class T, class Op, bool reversed>
class BlockScan {
 public:
  using Tag = hn::ScalableTag<T>;
  using Wide = hn::ScalableTag<double>;
  using V = hn::Vec<Wide>;
  struct Block {
    hn::Vec<Tag> low, high;
  };
  /// A block whose lanes ran by themselves, and what they came to.
  struct Opened {
    V a, b, c, d;  // of doubles only the first two
    V totals;
    V running;  // of the totals, once they are joined
  };
  static constexpr std::int64_t size = 2 * lanes<Tag>;

  /// `offset` joins all results, `carry` is the running value so far.
  HWY_INLINE BlockScan(double offset, double carry)
      : offset_(hn::Set(Wide(), offset)), before_(hn::Set(Wide(), carry)) {}
  HWY_INLINE double carry() const { return hn::GetLane(before_); }

  HWY_INLINE Opened open(Block x) const {
    const V first = hn::InterleaveLower(Wide(), wide_bits(x.low), wide_bits(x.high));
    const V second = hn::InterleaveUpper(Wide(), wide_bits(x.low), wide_bits(x.high));
    Opened r{first, second, first, second, first, first};
    if constexpr (sizeof(T) == 8) {
      r.totals = run(r.a, r.b);
    } else {
      const auto early = hn::TableLookupLanes(hn::BitCast(Tag(), first), apart_);
      const auto late = hn::TableLookupLanes(hn::BitCast(Tag(), second), apart_);
      r.a = hn::PromoteTo(Wide(), hn::LowerHalf(early));
      r.b = hn::PromoteTo(Wide(), hn::UpperHalf(Half(), early));
      r.c = hn::PromoteTo(Wide(), hn::LowerHalf(late));
      r.d = hn::PromoteTo(Wide(), hn::UpperHalf(Half(), late));
      r.totals = run(r.a, r.b, r.c, r.d);
    }
    return r;
  }

  HWY_INLINE void join(Opened& r) const {
    r.running = by_one_(r.totals);
    if constexpr (N > 2) r.running = by_two_(r.running);
    if constexpr (N > 4) r.running = by_four_(r.running);
  }

  HWY_INLINE Block close(const Opened& r) {
    const V start = starts_of(r);
    V first = Op()(start, r.a);
    V second = Op()(start, r.b);
    if constexpr (sizeof(T) == 4) {
      const auto early = narrowed(first, second);
      const auto late = narrowed(Op()(start, r.c), Op()(start, r.d));
      first = wide_bits(hn::TableLookupLanes(early, together_));
      second = wide_bits(hn::TableLookupLanes(late, together_));
    }
    return {hn::BitCast(Tag(), hn::InterleaveLower(Wide(), first, second)),
            hn::BitCast(Tag(), hn::InterleaveUpper(Wide(), first, second))};
  }

 private:
  using Half = hn::Half<Tag>;
  static constexpr std::int64_t N = lanes<Wide>;

  // --- inside of lanes ---

  template <class... Rest>
  static HWY_INLINE V run_forward(V& first, Rest&... rest) {
    V total = first;
    ((rest = total = Op()(total, rest)), ...);
    return total;
  }
  static HWY_INLINE V run(V& a, V& b) { return reversed ? run_forward(b, a) : run_forward(a, b); }
  static HWY_INLINE V run(V& a, V& b, V& c, V& d) {
    return reversed ? run_forward(d, c, b, a) : run_forward(a, b, c, d);
  }

  // --- from lane to lane ---

  /// The running values that lanes start from.
  HWY_INLINE V starts_of(const Opened& r) {
    if constexpr (std::is_same_v<Op, RunningProduct>) {
      if (HWY_UNLIKELY(!is_moderate(r.totals))) {
        const Chain chained = chain(r.totals, before_);
        before_ = chained.behind;
        return Op()(offset_, chained.starts);
      }
    }
    const V behind = Op()(before_, hn::TableLookupLanes(r.running, previous_));
    const V starts = hn::IfThenElse(is_first_, before_, behind);
    before_ = Op()(before_, hn::TableLookupLanes(r.running, last_));
    return Op()(offset_, starts);
  }

  /// Whether products of lanes neither overflow nor vanish, so that they may be made before it is
  /// known what they are multiplied by, which may be 0.
  static HWY_INLINE bool is_moderate(V totals) {
    const auto magnitude = hn::Abs(totals);
    const auto is_inside = hn::And(hn::Le(magnitude, hn::Set(Wide(), 0x1p120)),
                                   hn::Ge(magnitude, hn::Set(Wide(), 0x1p-120)));
    if (HWY_LIKELY(hn::AllTrue(Wide(), is_inside))) return true;
    return hn::AllTrue(Wide(), hn::Or(is_inside, hn::Eq(magnitude, hn::Zero(Wide()))));
  }

  /// The same from lane to lane.
  struct Chain {
    V starts, behind;
  };
  static HWY_INLINE Chain chain(V totals, V before) {
    HWY_ALIGN double values[N];
    hn::Store(totals, Wide(), values);
    double running = hn::GetLane(before);
    for (std::int64_t n = 0; n < N; ++n) {
      double& value = values[lane_at(n)];
      running = Op::apply(std::exchange(value, running), running);
    }
    return {hn::Load(Wide(), values), hn::Set(Wide(), running)};
  }

  /// Where lane l stands in the order of the line, and back.
  static constexpr std::int64_t place_of(std::int64_t l) {
    const std::int64_t place = l % 2 * (N / 2) + l / 2;
    return reversed ? N - 1 - place : place;
  }
  static constexpr std::int64_t lane_at(std::int64_t place) {
    if (reversed) place = N - 1 - place;
    return place % (N / 2) * 2 + place / (N / 2);
  }

  template <class D, class F>
  static HWY_INLINE auto table(D d, F from) {
    using Index = hwy::MakeSigned<hn::TFromD<D>>;
    HWY_ALIGN Index values[lanes<D>];
    for (std::int64_t l = 0; l < lanes<D>; ++l) values[l] = static_cast<Index>(from(l));
    return hn::SetTableIndices(d, values);
  }
  template <class F>
  static HWY_INLINE hn::Mask<Wide> lanes_where(F is_true) {
    HWY_ALIGN double values[N];
    for (std::int64_t l = 0; l < N; ++l) values[l] = is_true(l) ? 1 : 0;
    return hn::Ne(hn::Load(Wide(), values), hn::Zero(Wide()));
  }
  using WideTable =
      decltype(hn::SetTableIndices(Wide(), static_cast<const std::int64_t*>(nullptr)));

  /// Joins runs of `length` lanes to such of twice as many: the last lane of the first run to all
  /// of the second.
  template <std::int64_t length>
  struct Join {
    WideTable from = table(Wide(), [](std::int64_t l) {
      return lane_at(std::max<std::int64_t>(place_of(l) / length * length - 1, 0));
    });
    hn::Mask<Wide> is_second =
        lanes_where([](std::int64_t l) { return place_of(l) / length % 2 == 1; });
    HWY_INLINE Join() {}  // NOLINT(modernize-use-equals-default): has the instruction set.
    HWY_INLINE V operator()(V v) const {
      return hn::IfThenElse(is_second, Op()(hn::TableLookupLanes(v, from), v), v);
    }
  };

  // --- floats ---

  /// Interleaved floats are pairs of neighbours; apart, the lower half of a vector has the first of
  /// each.
  static constexpr std::int64_t apart(std::int64_t l) { return l % N * 2 + l / N; }
  static constexpr std::int64_t together(std::int64_t l) { return l % 2 * N + l / 2; }

  static HWY_INLINE V wide_bits(hn::Vec<Tag> v) { return hn::BitCast(Wide(), v); }
  static HWY_INLINE hn::Vec<Tag> narrowed(V lower, V upper) {
    return hn::Combine(Tag(), hn::DemoteTo(Half(), upper), hn::DemoteTo(Half(), lower));
  }

  V offset_, before_;
  Join<1> by_one_;
  Join<2> by_two_;
  Join<4> by_four_;
  WideTable previous_ = table(
      Wide(), [](std::int64_t l) { return lane_at(std::max<std::int64_t>(place_of(l) - 1, 0)); });
  WideTable last_ = table(Wide(), [](std::int64_t /*l*/) { return lane_at(N - 1); });
  hn::Mask<Wide> is_first_ = lanes_where([](std::int64_t l) { return place_of(l) == 0; });
  decltype(table(Tag(), apart)) apart_ = table(Tag(), apart);
  decltype(table(Tag(), together)) together_ = table(Tag(), together);
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
