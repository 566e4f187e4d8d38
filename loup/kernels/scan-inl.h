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
#include "loup/kernels/scan_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// The `count` elements at x, of which all may be missing, where they count, and `none` elsewhere.
/// What comes behind them is not touched; nor by the other.
template <class D, class Mask, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V load_some(D d, const T* x, Mask mask, std::int64_t count, V none) {
#if HWY_TARGET <= HWY_AVX3
  const auto n = static_cast<std::size_t>(count);
  auto counts = hn::FirstN(d, n);
  if constexpr (std::is_same_v<Mask, ByteMask>) {
    const hn::Rebind<std::uint8_t, D> d8;
    const auto bytes = hn::MaskedLoad(hn::FirstN(d8, n), d8, mask.bytes);
    using Bits = hn::Mask<D>;
    counts = Bits{static_cast<typename Bits::Raw>(hn::Ne(bytes, hn::Zero(d8)).raw)};
  }
  return hn::IfThenElse(counts, hn::MaskedLoad(counts, d, x), none);
#else
  const auto same = [](V v) HWY_ATTR { return v; };
  return count > 0 ? choose_at(d, x, mask, 0, count, same, none) : none;
#endif
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(D d, hn::Vec<D> v, T* to, std::int64_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#else
  store_first(d, v, to, count);
#endif
}

/// T is what lies in memory.
template <class T, class Op>
struct Scan {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t N = lanes<D>;
  using Tag = hn::ScalableTag<T>;
  static constexpr std::int64_t vector = lanes<Tag>;

  // --- rows ---

  /// The first `count` elements of row r; returns the running value behind them. `write(i, v, n)`
  /// gets those of the n elements from i on: a vector, but for the last ones.
  template <bool reversed, class Mask, class Write>
  static HWY_INLINE double run(const LineBlock& b, std::int64_t r, Mask mask, std::int64_t count,
                               double offset, double carry, Write write) {
    using Blocks = BlockScan<T, Op, reversed>;
    // Not one for all rows, which g++ 12 would keep in memory.
    Blocks scan(offset, carry);
    const Tag d;
    const T* const x = in_row<T>(b, r);
    const Ahead ahead = ahead_of<T>(b.in, r);
    constexpr std::int64_t distance = (reversed ? -2048 : 2048) / std::int64_t{sizeof(T)};
    const auto none = hn::Set(d, static_cast<T>(Op::identity));
    const std::int64_t blocks = count / Blocks::size;
    const std::int64_t full = blocks * Blocks::size;

    const auto finish_row = [&]() HWY_ATTR {
      const auto at = [&](std::int64_t i) HWY_ATTR {
        return load_some(d, x + i, mask + i, std::clamp<std::int64_t>(count - i, 0, vector), none);
      };
      auto rest = scan.open({at(full), at(full + vector)});
      scan.join(rest);
      const auto results = scan.close(rest);
      write(full, results.low, std::min(vector, count - full));
      if (full + vector < count) write(full + vector, results.high, count - full - vector);
    };
    const auto place = [blocks](std::int64_t n) {
      return (reversed ? blocks - 1 - n : n) * Blocks::size;
    };
    const auto open = [&](std::int64_t n) HWY_ATTR {
      const std::int64_t i = place(n);
      ahead.template fetch<T, Blocks::size>(i + distance);
      const auto at = [&](std::int64_t k)
                          HWY_ATTR { return choose(d, mask + k, hn::LoadU(d, x + k), none); };
      return scan.open({at(i), at(i + vector)});
    };
    const auto close = [&](std::int64_t n, const auto& block) HWY_ATTR {
      const auto results = scan.close(block);
      write(place(n), results.low, vector);
      write(place(n) + vector, results.high, vector);
    };

    if (reversed && full < count) finish_row();
    if (blocks > 0) {
      auto now = open(0);
      scan.join(now);
      if (blocks > 1) {
        auto next = open(1);
        for (std::int64_t n = 2; n < blocks; ++n) {
          const auto third = open(n);
          scan.join(next);
          close(n - 2, now);
          now = next;
          next = third;
        }
        scan.join(next);
        close(blocks - 2, now);
        now = next;
      }
      close(blocks - 1, now);
    }
    if (!reversed && full < count) finish_row();
    return scan.carry();
  }

  /// The same to the output.
  template <bool reversed, class Mask>
  static HWY_INLINE double write_row_of(const LineBlock& b, std::int64_t r, Mask mask,
                                        std::int64_t count, double offset, double carry) {
    const Tag d;
    T* const out = out_row<T>(b, r);
    const auto write_to = [&](T* to, auto store) HWY_ATTR {
      return run<reversed>(b, r, mask, count, offset, carry,
                           [=](std::int64_t i, auto v, std::int64_t n) HWY_ATTR {
                             if (HWY_LIKELY(n == vector)) {
                               store(v, to + i);
                             } else {
                               store_some(d, v, to + i, n);
                             }
                           });
    };
    const auto store = [d](auto v, T* to) HWY_ATTR { hn::StoreU(v, d, to); };
    if (!b.streams) return write_to(out, store);
    if (reinterpret_cast<std::uintptr_t>(out) % (vector * sizeof(T)) == 0) {
      return write_to(out, [d](auto v, T* to) HWY_ATTR { hn::Stream(v, d, to); });
    }
    // How a row is cut into blocks must not depend on its address.
    T* const scratch = static_cast<T*>(b.scratch);
    const double result = write_to(scratch, store);
    write_row(d, out, count, true,
              [&](std::int64_t i) HWY_ATTR { return hn::LoadU(d, scratch + i); });
    return result;
  }

  template <bool reversed>
  static void rows_of(const LineBlock& b, const Carry* offsets, Carry* carries) {
    const Tag d;
    const std::int64_t used = reach(d, b.in);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        const double offset = offsets != nullptr ? offsets[r].real : Op::identity;
        double& carry = carries[r].real;
        // Nothing counts from `first` on: the running value stays as it is.
        const auto fill = [&](std::int64_t first) HWY_ATTR {
          const auto value = hn::Set(d, static_cast<T>(Op::apply(offset, carry)));
          write_row(d, out_row<T>(b, r) + first, b.in.cols - first, b.streams,
                    [=](std::int64_t /*i*/) HWY_ATTR { return value; });
        };
        const std::int64_t count = rows.counts(r) ? used : 0;
        if (reversed && count < b.in.cols) fill(count);
        carry = write_row_of<reversed>(b, r, rows.mask(r), count, offset, carry);
        if (!reversed && count < b.in.cols) fill(count);
      }
    });
    finish_streaming(b);
  }
  static void rows(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    (reversed ? rows_of<true> : rows_of<false>)(b, offsets, carries);
  }

  template <bool reversed>
  static void total_rows_of(const LineBlock& b, Carry* carries) {
    const std::int64_t used = reach(Tag(), b.in);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) continue;
        double& carry = carries[r].real;
        carry = run<reversed>(b, r, rows.mask(r), used, Op::identity, carry,
                              [](std::int64_t /*i*/, auto /*v*/, std::int64_t /*n*/) {});
      }
    });
  }
  static void total_rows(const LineBlock& b, Carry* carries, bool reversed) {
    (reversed ? total_rows_of<true> : total_rows_of<false>)(b, carries);
  }

  // --- columns ---

  /// Values of as many columns as a vector has elements.
  struct Values {
    V low;
    V high;  // of floats only

    static HWY_INLINE Values of(hn::Vec<Tag> v) {
      if constexpr (sizeof(T) == 8) {
        return {v, v};
      } else {
        const hn::Half<Tag> half;
        return {hn::PromoteTo(D(), hn::LowerHalf(v)), hn::PromoteTo(D(), hn::UpperHalf(half, v))};
      }
    }
    /// The first `count`; what is behind them does not matter.
    static HWY_INLINE Values load(const Carry* from, std::int64_t count) {
      HWY_ALIGN double rest[vector] = {};
      const double* at = &from->real;
      if (HWY_UNLIKELY(count < vector)) at = std::copy_n(at, count, rest) - count;
      return {hn::LoadU(D(), at), hn::LoadU(D(), at + vector - N)};
    }
    HWY_INLINE void store(Carry* to, std::int64_t count) const {
      HWY_ALIGN double rest[vector];
      double* const at = count < vector ? rest : &to->real;
      hn::StoreU(low, D(), at);
      if constexpr (sizeof(T) == 4) hn::StoreU(high, D(), at + N);
      if (HWY_UNLIKELY(count < vector)) std::copy_n(rest, count, &to->real);
    }
    HWY_INLINE Values joined(const Values& other) const {
      return {Op()(low, other.low), Op()(high, other.high)};
    }
    HWY_INLINE hn::Vec<Tag> narrowed() const {
      if constexpr (sizeof(T) == 8) {
        return low;
      } else {
        const hn::Half<Tag> half;
        return hn::Combine(Tag(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
      }
    }
  };

  /// `write(r, c, values, count)` gets the running values of `count` columns from c on at row r.
  template <class Write>
  static HWY_INLINE void cross(const LineBlock& b, Carry* carries, bool reversed, Write write) {
    const Tag d;
    const auto none = hn::Set(d, static_cast<T>(Op::identity));
    const auto same = [](auto v) HWY_ATTR { return v; };
    constexpr std::int64_t tile = 8;
    const std::int64_t last = b.in.rows - 1;
    const std::int64_t sign = reversed ? -1 : 1;
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t first = 0; first <= last; first += tile) {
        const std::int64_t end = std::min(first + tile, last + 1);
        for (std::int64_t c = 0; c < b.in.cols; c += vector) {
          const std::int64_t count = std::min(vector, b.in.cols - c);
          Values running = Values::load(carries + c, count);
          for (std::int64_t i = first; i < end; ++i) {
            const std::int64_t r = reversed ? last - i : i;
            // Rows lie far apart, and hardware fetches little of them.
            ahead_of<T>(b.in, r + sign * rows_ahead).template fetch<T, vector>(c);
            if (rows.counts(r)) {
              const auto v = choose_at(d, in_row<T>(b, r), rows.mask(r), c, b.in.cols, same, none);
              running = running.joined(Values::of(v));
            }
            write(r, c, running, count);
          }
          running.store(carries + c, count);
        }
      }
    });
  }

  static void columns(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    const Tag d;
    const std::uintptr_t places = reinterpret_cast<std::uintptr_t>(b.out) |
                                  (static_cast<std::uintptr_t>(b.out_row) * sizeof(T));
    const bool streams = b.streams && places % (vector * sizeof(T)) == 0;
    cross(b, carries, reversed,
          [&](std::int64_t r, std::int64_t c, Values values, std::int64_t count) HWY_ATTR {
            if (offsets != nullptr) values = Values::load(offsets + c, count).joined(values);
            T* const to = out_row<T>(b, r) + c;
            if (HWY_UNLIKELY(count < vector)) {
              store_some(d, values.narrowed(), to, count);
            } else if (streams) {
              hn::Stream(values.narrowed(), d, to);
            } else {
              hn::StoreU(values.narrowed(), d, to);
            }
          });
    finish_streaming(b);
  }

  static void total_columns(const LineBlock& b, Carry* carries, bool reversed) {
    cross(b, carries, reversed,
          [](std::int64_t /*r*/, std::int64_t /*c*/, const Values& /*values*/,
             std::int64_t /*count*/) {});
  }

  static Carry combine(Carry a, Carry b) { return {.real = Op::apply(a.real, b.real)}; }

  static constexpr ScanKernel kernel{dtype_of<T>(), {.real = Op::identity}, rows,   columns,
                                     total_rows,    total_columns,          combine};
};

template <class T, class Op>
constexpr ScanKernel scan_of = Scan<T, Op>::kernel;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
