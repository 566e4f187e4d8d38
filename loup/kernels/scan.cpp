#include "loup/kernels/scan.h"

namespace loup::kernels {

namespace {

/// Integers wrap modulo 2^64.
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a + b; }
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return a * b; }

template <std::uint64_t (*op)(std::uint64_t, std::uint64_t), std::int64_t identity>
struct IntegerScan {
  static std::int64_t apply(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(
        op(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
  static Carry combine(Carry a, Carry b) { return {.integer = apply(a.integer, b.integer)}; }

  /// The mask of a block, also where it has none.
  struct Mask {
    static constexpr std::uint8_t always = 1;
    explicit Mask(const Block& b)
        : bytes(b.mask != nullptr ? b.mask : &always),
          row(b.mask != nullptr ? b.mask_row : 0),
          col(b.mask != nullptr ? b.mask_col : 0) {}
    /// x where it counts, else the identity: without a branch, as nobody can predict masks.
    std::int64_t choose(std::int64_t r, std::int64_t c, std::int64_t x) const {
      const auto all = -static_cast<std::int64_t>(bytes[r * row + c * col] != 0);
      return identity ^ ((x ^ identity) & all);
    }
    const std::uint8_t* bytes;
    std::int64_t row, col;
  };

  template <bool writes>
  static void along(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    const Mask mask(b.in);
    const std::int64_t step = reversed ? -1 : 1;
    for (std::int64_t r = 0; r < b.in.rows; ++r) {
      const auto* const x = static_cast<const std::int64_t*>(b.in.x) + r * b.in.x_row;
      auto* const out = static_cast<std::int64_t*>(b.out) + r * b.out_row;
      const std::int64_t offset = offsets != nullptr ? offsets[r].integer : identity;
      std::int64_t carry = carries[r].integer;
      std::int64_t c = reversed ? b.in.cols - 1 : 0;
      for (std::int64_t i = 0; i < b.in.cols; ++i, c += step) {
        carry = apply(carry, mask.choose(r, c, x[c]));
        if constexpr (writes) out[c] = apply(offset, carry);
      }
      carries[r].integer = carry;
    }
  }

  template <bool writes>
  static void across(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    const Mask mask(b.in);
    for (std::int64_t i = 0; i < b.in.rows; ++i) {
      const std::int64_t r = reversed ? b.in.rows - 1 - i : i;
      const auto* const x = static_cast<const std::int64_t*>(b.in.x) + r * b.in.x_row;
      auto* const out = static_cast<std::int64_t*>(b.out) + r * b.out_row;
      for (std::int64_t c = 0; c < b.in.cols; ++c) {
        const std::int64_t carry = apply(carries[c].integer, mask.choose(r, c, x[c]));
        carries[c].integer = carry;
        if constexpr (writes) {
          out[c] = offsets != nullptr ? apply(offsets[c].integer, carry) : carry;
        }
      }
    }
  }

  static void total_along(const LineBlock& b, Carry* carries, bool reversed) {
    along<false>(b, nullptr, carries, reversed);
  }
  static void total_across(const LineBlock& b, Carry* carries, bool reversed) {
    across<false>(b, nullptr, carries, reversed);
  }

  static constexpr ScanKernel kernel{DType::i64,  {.integer = identity}, along<true>, across<true>,
                                     total_along, total_across,          combine};
};

constexpr ScanKernel integer_sum = IntegerScan<plus, 0>::kernel;
constexpr ScanKernel integer_product = IntegerScan<times, 1>::kernel;

}  // namespace

const ScanKernel& scan_kernel(ScanOp op, DType type) {
  switch (type) {
    case DType::f16:
    case DType::bf16: return scan_half(op, type);
    case DType::f32: return scan_f32(op);
    case DType::f64: return scan_f64(op);
    default: return op == ScanOp::sum ? integer_sum : integer_product;
  }
}

}  // namespace loup::kernels
