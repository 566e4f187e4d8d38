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
template <class D, class E, class Mask, class V = hn::Vec<D>>
HWY_INLINE V load_some(D d, const E* x, Mask mask, std::int64_t count, V none) {
#if HWY_TARGET <= HWY_AVX3
  const auto n = static_cast<std::size_t>(count);
  auto counts = hn::FirstN(d, n);
  if constexpr (std::is_same_v<Mask, ByteMask>) {
    const hn::Rebind<std::uint8_t, D> d8;
    const auto bytes = hn::MaskedLoad(hn::FirstN(d8, n), d8, mask.bytes);
    using Bits = hn::Mask<D>;
    counts = Bits{static_cast<typename Bits::Raw>(hn::Ne(bytes, hn::Zero(d8)).raw)};
  }
  if constexpr (is_half<E>) {
    const hn::Rebind<std::uint16_t, D> stored;
    const auto bits =
        hn::MaskedLoad(hn::FirstN(stored, n), stored, reinterpret_cast<const std::uint16_t*>(x));
    return hn::IfThenElse(counts, widen_half<E>(d, bits), none);
  } else {
    return hn::IfThenElse(counts, hn::MaskedLoad(counts, d, x), none);
  }
#else
  const auto same = [](V v) HWY_ATTR { return v; };
  return count > 0 ? choose_at(d, x, mask, 0, count, same, none) : none;
#endif
}
template <class D, class E>
HWY_INLINE void store_some(D d, hn::Vec<D> v, E* to, std::int64_t count) {
  [[maybe_unused]] const auto n = static_cast<std::size_t>(count);
#if HWY_TARGET <= HWY_AVX3
  if constexpr (is_half<E>) {
    const hn::Rebind<std::uint16_t, D> stored;
    return hn::BlendedStore(narrow_to_half<E>(d, v), hn::FirstN(stored, n), stored,
                            reinterpret_cast<std::uint16_t*>(to));
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  if constexpr (!is_half<E>) return hn::BlendedStore(v, hn::FirstN(d, n), d, to);
#endif
  store_first(d, v, to, count);
}

template <class E, class Op>
struct Scan {
  using T = FullType<E>;
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t N = lanes<D>;
  using Tag = hn::ScalableTag<T>;
  static constexpr std::int64_t vector = lanes<Tag>;
  using Vector = Stored<Tag, E>;

  // --- rows ---

  /// The first `count` elements of row r; returns the running value behind them. `write(i, block)`
  /// gets those of the elements from i on, `write_end(i, block, n)` those of the last n.
  template <bool reversed, class Mask, class Write, class WriteEnd>
  static HWY_INLINE double run(const LineBlock& b, std::int64_t r, Mask mask, std::int64_t count,
                               double offset, double carry, Write write, WriteEnd write_end) {
    using Blocks = BlockScan<T, Op, reversed>;
    // Not one for all rows, which g++ 12 would keep in memory.
    Blocks scan(offset, carry);
    const Tag d;
    const E* const x = in_row<E>(b, r);
    const Ahead ahead = ahead_of<E>(b.in, r);
    constexpr std::int64_t distance =
        (reversed ? -bytes_ahead : bytes_ahead) / std::int64_t{sizeof(E)};
    const auto none = hn::Set(d, static_cast<T>(Op::identity));
    const std::int64_t blocks = count / Blocks::size;
    const std::int64_t full = blocks * Blocks::size;

    const auto finish_row = [&]() HWY_ATTR {
      const auto at = [&](std::int64_t i) HWY_ATTR {
        return load_some(d, x + i, mask + i, std::clamp<std::int64_t>(count - i, 0, vector), none);
      };
      auto rest = scan.open({at(full), at(full + vector)});
      scan.join(rest);
      write_end(full, scan.close(rest), count - full);
    };
    const auto place = [blocks](std::int64_t n) {
      return (reversed ? blocks - 1 - n : n) * Blocks::size;
    };
    const auto open = [&](std::int64_t n) HWY_ATTR {
      const std::int64_t i = place(n);
      ahead.template fetch<E, Blocks::size>(i + distance);
      const auto at = [&](std::int64_t k)
                          HWY_ATTR { return choose(d, mask + k, load_widened(d, x + k), none); };
      return scan.open({at(i), at(i + vector)});
    };
    const auto close = [&](std::int64_t n, const auto& block)
                           HWY_ATTR { write(place(n), scan.close(block)); };

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
    E* const out = out_row<E>(b, r);
    const auto write_to = [&](E* to, auto store) HWY_ATTR {
      const auto write = [=](std::int64_t i, const auto& block) HWY_ATTR {
        const auto at = [&](std::int64_t k) HWY_ATTR { return k == 0 ? block.low : block.high; };
        for (std::int64_t k = 0; k < 2 * vector; k += Vector::size) {
          store(Vector::of(at, k), to + i + k);
        }
      };
      const auto write_end = [=](std::int64_t i, const auto& block, std::int64_t n) HWY_ATTR {
        store_some(d, block.low, to + i, std::min(vector, n));
        if (vector < n) store_some(d, block.high, to + i + vector, n - vector);
      };
      return run<reversed>(b, r, mask, count, offset, carry, write, write_end);
    };
    const auto store = [](auto v, E* to) HWY_ATTR { Vector::store(v, to); };
    if (!b.streams) return write_to(out, store);
    if (reinterpret_cast<std::uintptr_t>(out) % (Vector::size * sizeof(E)) == 0) {
      return write_to(out, [](auto v, E* to) HWY_ATTR { Vector::stream(v, to); });
    }
    // How a row is cut into blocks must not depend on its address.
    E* const scratch = static_cast<E*>(b.scratch);
    const double result = write_to(scratch, store);
    write_row(d, out, count, true,
              [&](std::int64_t i) HWY_ATTR { return load_widened(d, scratch + i); });
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
          write_row(d, out_row<E>(b, r) + first, b.in.cols - first, b.streams,
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
        const auto nothing = [](auto... /*block*/) {};
        carry = run<reversed>(b, r, rows.mask(r), used, Op::identity, carry, nothing, nothing);
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
            ahead_of<E>(b.in, r + sign * rows_ahead).template fetch<E, vector>(c);
            if (rows.counts(r)) {
              const auto v = choose_at(d, in_row<E>(b, r), rows.mask(r), c, b.in.cols, same, none);
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
    const hn::Rebind<typename Vector::Word, Tag> stored;
    const auto bits = [](hn::Vec<Tag> v) HWY_ATTR {
      if constexpr (is_half<E>) {
        return narrow_to_half<E>(Tag(), v);
      } else {
        return v;
      }
    };
    const std::uintptr_t places = reinterpret_cast<std::uintptr_t>(b.out) |
                                  (static_cast<std::uintptr_t>(b.out_row) * sizeof(E));
    const bool streams = b.streams && places % (vector * sizeof(E)) == 0;
    cross(b, carries, reversed,
          [&](std::int64_t r, std::int64_t c, Values values, std::int64_t count) HWY_ATTR {
            if (offsets != nullptr) values = Values::load(offsets + c, count).joined(values);
            E* const to = out_row<E>(b, r) + c;
            auto* const words = reinterpret_cast<typename Vector::Word*>(to);
            if (HWY_UNLIKELY(count < vector)) {
              store_some(d, values.narrowed(), to, count);
            } else if (streams) {
              hn::Stream(bits(values.narrowed()), stored, words);
            } else {
              hn::StoreU(bits(values.narrowed()), stored, words);
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

  static constexpr ScanKernel kernel{dtype_of<E>(), {.real = Op::identity}, rows,   columns,
                                     total_rows,    total_columns,          combine};
};

template <class E, class Op>
constexpr ScanKernel scan_of = Scan<E, Op>::kernel;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
