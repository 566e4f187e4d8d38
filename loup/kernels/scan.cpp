#include "loup/kernels/scan.h"

namespace loup::kernels {

namespace {

/// Integers wrap modulo 2^64.
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a + b; }
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return a * b; }

template <std::uint64_t (*op)(std::uint64_t, std::uint64_t), std::int64_t identity>
struct IntegerScan {
  static void advance(std::int64_t& carry, std::int64_t x) {
    carry = static_cast<std::int64_t>(
        op(static_cast<std::uint64_t>(carry), static_cast<std::uint64_t>(x)));
  }
  static Carry combine(Carry a, Carry b) {
    advance(a.integer, b.integer);
    return a;
  }

  /// `line(r, c)` is the line of an element.
  template <bool is_along, bool writes>
  static void run(const LineBlock& b, const Carry* offsets, Carry* carries, bool reversed) {
    const auto* const x = static_cast<const std::int64_t*>(b.in.x);
    auto* const out = static_cast<std::int64_t*>(b.out);
    for (std::int64_t i = 0; i < b.in.rows; ++i) {
      const std::int64_t r = !is_along && reversed ? b.in.rows - 1 - i : i;
      for (std::int64_t j = 0; j < b.in.cols; ++j) {
        const std::int64_t c = is_along && reversed ? b.in.cols - 1 - j : j;
        Carry& carry = carries[is_along ? r : c];
        const bool counts =
            b.in.mask == nullptr || b.in.mask[r * b.in.mask_row + c * b.in.mask_col] != 0;
        if (counts) advance(carry.integer, x[r * b.in.x_row + c]);
        if constexpr (writes) {
          const Carry total =
              offsets != nullptr ? combine(offsets[is_along ? r : c], carry) : carry;
          out[r * b.out_row + c] = total.integer;
        }
      }
    }
  }

  template <bool is_along>
  static void total(const LineBlock& b, Carry* carries, bool reversed) {
    run<is_along, false>(b, nullptr, carries, reversed);
  }

  static constexpr ScanKernel kernel{DType::i64,       {.integer = identity}, run<true, true>,
                                     run<false, true>, total<true>,           total<false>,
                                     combine};
};

constexpr ScanKernel integer_sum = IntegerScan<plus, 0>::kernel;
constexpr ScanKernel integer_product = IntegerScan<times, 1>::kernel;

}  // namespace

const ScanKernel& scan_kernel(ScanOp op, ComputeType type) {
  switch (type) {
    case ComputeType::f32: return scan_f32(op);
    case ComputeType::f64: return scan_f64(op);
    default: return op == ScanOp::sum ? integer_sum : integer_product;
  }
}

}  // namespace loup::kernels
