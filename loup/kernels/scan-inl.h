// Running sums and products of floats, in lanes of doubles. Included once per instruction set, from
// kernel files only.

#if defined(LOUP_KERNELS_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SCAN_INL_H_
#undef LOUP_KERNELS_SCAN_INL_H_
#else
#define LOUP_KERNELS_SCAN_INL_H_
#endif

#include <type_traits>

#include "loup/kernels/lines-inl.h"
#include "loup/kernels/scan.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

struct RunningSum {
  static constexpr double identity = 0;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct RunningProduct {
  static constexpr double identity = 1;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};

/// T is what lies in memory.
template <class T, class Op>
struct Scan {
  using D = hn::ScalableTag<double>;
  using Narrow = hn::Rebind<T, D>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t N = lanes<D>;

  static HWY_INLINE V widened(hn::Vec<Narrow> v) {
    if constexpr (sizeof(T) == 8) {
      return v;
    } else {
      return hn::PromoteTo(D(), v);
    }
  }
  static HWY_INLINE hn::Vec<Narrow> narrowed(V v) {
    if constexpr (sizeof(T) == 8) {
      return v;
    } else {
      return hn::DemoteTo(Narrow(), v);
    }
  }

  /// Lanes moved up by some places, the identity below.
  struct Shift {
    decltype(hn::SetTableIndices(D(), static_cast<const std::int64_t*>(nullptr))) from;
    hn::Mask<D> is_inside;
    HWY_INLINE explicit Shift(std::int64_t places)
        : from(indices([places](std::int64_t i) { return i < places ? 0 : i - places; })),
          is_inside(hn::Not(hn::FirstN(D(), static_cast<std::size_t>(places)))) {}
    HWY_INLINE V operator()(V v) const {
      return hn::IfThenElse(is_inside, hn::TableLookupLanes(v, from), hn::Set(D(), Op::identity));
    }
  };
  template <class F>
  static HWY_INLINE auto indices(F f) {
    HWY_ALIGN std::int64_t values[N];
    for (std::int64_t i = 0; i < N; ++i) values[i] = f(i);
    return hn::SetTableIndices(D(), values);
  }

  /// Running values of the lanes of one vector, and its total in all lanes.
  struct Prefix {
    Shift by_one, by_two, by_four;
    decltype(Shift::from) last;
    HWY_INLINE Prefix()
        : by_one(1),
          by_two(2),
          by_four(4),
          last(indices([](std::int64_t /*i*/) { return N - 1; })) {}
    HWY_INLINE V operator()(V v) const {
      v = Op()(v, by_one(v));
      if constexpr (N > 2) v = Op()(v, by_two(v));
      if constexpr (N > 4) v = Op()(v, by_four(v));
      return v;
    }
    HWY_INLINE V total(V running) const { return hn::TableLookupLanes(running, last); }
  };

  /// One row; returns the running value behind it. `write(i, v, count)` gets those of the `count`
  /// elements from i on: N, but for the last ones.
  template <bool reversed, class Mask, class Write>
  static HWY_INLINE double run(const T* x, Mask mask, std::int64_t count, double offset,
                               double carry, Write write) {
    const D d;
    const Narrow narrow;
    const Prefix prefix;
    const auto none = hn::Set(narrow, static_cast<T>(Op::identity));
    const auto first = hn::Set(d, offset);
    auto before = hn::Set(d, carry);
    const auto step = [&](hn::Vec<Narrow> chosen) HWY_ATTR {
      auto v = widened(chosen);
      if constexpr (reversed) v = hn::Reverse(d, v);
      v = prefix(v);
      auto running = Op()(first, Op()(before, v));
      before = Op()(before, prefix.total(v));
      if constexpr (reversed) running = hn::Reverse(d, running);
      return narrowed(running);
    };
    const auto whole = [&](std::int64_t i) HWY_ATTR {
      write(i, step(choose(narrow, mask + i, hn::LoadU(narrow, x + i), none)), N);
    };
    const auto same = [](hn::Vec<Narrow> v) HWY_ATTR { return v; };
    const std::int64_t rest = count % N;
    if constexpr (reversed) {
      for (std::int64_t i = count - N; i >= rest; i -= N) whole(i);
      if (rest > 0) write(0, step(choose_first(narrow, x, mask, rest, same, none)), rest);
    } else {
      const std::int64_t full = count - rest;
      for (std::int64_t i = 0; i < full; i += N) whole(i);
      if (rest > 0) {
        write(full, step(choose_first(narrow, x + full, mask + full, rest, same, none)), rest);
      }
    }
    return hn::GetLane(before);
  }

  /// Running values of row r to the output.
  template <bool reversed, class Mask>
  static HWY_INLINE double write_row_of(const LineBlock& b, std::int64_t r, Mask mask,
                                        double offset, double carry) {
    const Narrow narrow;
    const std::int64_t cols = b.in.cols;
    const T* const x = static_cast<const T*>(b.in.x) + r * b.in.x_row;
    T* const out = out_row<T>(b, r);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(out) % (N * sizeof(T)) == 0;
    if (b.streams && is_aligned && cols % N == 0) {
      return run<reversed>(x, mask, cols, offset, carry,
                           [&](std::int64_t i, auto v, std::int64_t /*count*/)
                               HWY_ATTR { hn::Stream(v, narrow, out + i); });
    }
    // Not streamed as it is made: how a row is cut into vectors must not depend on its address.
    T* const to = b.streams ? static_cast<T*>(b.scratch) : out;
    const double result = run<reversed>(x, mask, cols, offset, carry,
                                        [&](std::int64_t i, auto v, std::int64_t count) HWY_ATTR {
                                          if (HWY_LIKELY(count == N)) {
                                            hn::StoreU(v, narrow, to + i);
                                          } else {
                                            store_first(narrow, v, to + i, count);
                                          }
                                        });
    if (b.streams) {
      const hn::ScalableTag<T> d;
      write_row(d, out, cols, true, [&](std::int64_t i) HWY_ATTR { return hn::LoadU(d, to + i); });
    }
    return result;
  }

  static void rows(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        const double offset = offsets != nullptr ? offsets[r].real : Op::identity;
        double& carry = carries[r].real;
        if (!rows.counts(r)) {
          const hn::ScalableTag<T> d;
          const double value = std::is_same_v<Op, RunningSum> ? offset + carry : offset * carry;
          write_row(d, out_row<T>(b, r), b.in.cols, b.streams,
                    [&](std::int64_t /*i*/) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); });
        } else if (reversed) {
          carry = write_row_of<true>(b, r, rows.mask(r), offset, carry);
        } else {
          carry = write_row_of<false>(b, r, rows.mask(r), offset, carry);
        }
      }
    });
    finish_streaming(b);
  }

  static void total_rows(const LineBlock& b, Carry* carries, bool reversed) {
    const auto nowhere = [](std::int64_t /*i*/, auto /*v*/, std::int64_t /*count*/) {};
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) continue;
        const T* const x = static_cast<const T*>(b.in.x) + r * b.in.x_row;
        double& carry = carries[r].real;
        carry = reversed ? run<true>(x, rows.mask(r), b.in.cols, Op::identity, carry, nowhere)
                         : run<false>(x, rows.mask(r), b.in.cols, Op::identity, carry, nowhere);
      }
    });
  }

  // --- columns ---

  /// Row r into the running values of all columns, which `write(c, v, count)` gets.
  template <class Mask, class Write>
  static HWY_INLINE void cross(const Block& b, std::int64_t r, Mask mask, bool counts,
                               Carry* carries, Write write) {
    const D d;
    const Narrow narrow;
    const auto none = hn::Set(narrow, static_cast<T>(Op::identity));
    const auto same = [](hn::Vec<Narrow> v) HWY_ATTR { return v; };
    const T* const x = static_cast<const T*>(b.x) + r * b.x_row;
    double* const running = &carries->real;
    std::int64_t c = 0;
    for (; c + N <= b.cols; c += N) {
      auto v = hn::LoadU(d, running + c);
      if (counts) {
        v = Op()(v, widened(choose(narrow, mask + c, hn::LoadU(narrow, x + c), none)));
        hn::StoreU(v, d, running + c);
      }
      write(c, v, N);
    }
    if (c == b.cols) return;
    const std::int64_t count = b.cols - c;
    HWY_ALIGN double rest[N] = {};
    std::copy_n(running + c, count, rest);
    auto v = hn::Load(d, rest);
    if (counts) {
      v = Op()(v, widened(choose_first(narrow, x + c, mask + c, count, same, none)));
      store_first(d, v, running + c, count);
    }
    write(c, v, count);
  }

  static void columns(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    const D d;
    const Narrow narrow;
    constexpr std::uintptr_t bytes = N * sizeof(T);
    const bool is_aligned = (reinterpret_cast<std::uintptr_t>(b.out) |
                             (static_cast<std::uintptr_t>(b.out_row) * sizeof(T))) %
                                bytes ==
                            0;
    const bool streams = b.streams && is_aligned;
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t i = 0; i < b.in.rows; ++i) {
        const std::int64_t r = reversed ? b.in.rows - 1 - i : i;
        T* const out = out_row<T>(b, r);
        cross(b.in, r, rows.mask(r), rows.counts(r), carries,
              [&](std::int64_t c, V v, std::int64_t count) HWY_ATTR {
                if (HWY_UNLIKELY(count != N)) {
                  HWY_ALIGN double values[N];
                  hn::Store(v, d, values);
                  for (std::int64_t j = 0; j < count; ++j) {
                    const double offset = offsets != nullptr ? offsets[c + j].real : Op::identity;
                    out[c + j] = static_cast<T>(
                        std::is_same_v<Op, RunningSum> ? offset + values[j] : offset * values[j]);
                  }
                  return;
                }
                if (offsets != nullptr) v = Op()(hn::LoadU(d, &offsets[c].real), v);
                if (streams) {
                  hn::Stream(narrowed(v), narrow, out + c);
                } else {
                  hn::StoreU(narrowed(v), narrow, out + c);
                }
              });
      }
    });
    finish_streaming(b);
  }

  static void total_columns(const LineBlock& b, Carry* carries, bool reversed) {
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t i = 0; i < b.in.rows; ++i) {
        const std::int64_t r = reversed ? b.in.rows - 1 - i : i;
        cross(b.in, r, rows.mask(r), rows.counts(r), carries,
              [](std::int64_t /*c*/, V /*v*/, std::int64_t /*count*/) {});
      }
    });
  }

  static Carry combine(Carry a, Carry b) {
    if constexpr (std::is_same_v<Op, RunningSum>) return {.real = a.real + b.real};
    return {.real = a.real * b.real};
  }

  static constexpr ScanKernel kernel{dtype_of<T>(), {.real = Op::identity}, rows,   columns,
                                     total_rows,    total_columns,          combine};
};

template <class T, class Op>
constexpr ScanKernel scan_of = Scan<T, Op>::kernel;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
