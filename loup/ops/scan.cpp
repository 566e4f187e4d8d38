#include "loup/ops/scan.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/parallel.h"
#include "loup/memory/scratch.h"
#include "loup/ops/copy.h"
#include "loup/ops/join.h"
#include "loup/ops/lines.h"
#include "loup/ops/operators.h"
#include "loup/ops/select.h"
#include "loup/ops/shape.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;

namespace {

using kernels::Carry;
using kernels::LineBlock;
using kernels::ScanKernel;
using memory::Scratch;

/// Lines are cut into parts whose own running values start anew: they may be computed at once.
constexpr std::int64_t scan_part_length = 65536;
/// Elements of a block that is packed or passes through scratch: they stay in the first cache.
constexpr std::int64_t scan_piece_elements = 8192;
constexpr std::int64_t scan_task_elements = 64 * 1024;
constexpr std::int64_t strip_cols = 1024;

/// Shorter lines are rather turned into columns: kernels of floats make whole blocks of a row.
std::int64_t shortest_row(const ScanKernel& kernel) {
  return is_floating(kernel.type) ? 96 / item_bytes(kernel.type) : 0;
}

/// One scan under way.
class ScanRun {
 public:
  ScanRun(const ScanKernel& kernel, const LinePlan& plan, const LineOperands& operands,
          bool reversed)
      : kernel_(kernel),
        plan_(plan),
        reader_(plan, operands, kernel.type),
        reversed_(reversed),
        bytes_(operands.x.size() * (2 * item_bytes(kernel.type) + 1)),
        streams_(operands.out.bytes() > streamed_bytes && !reader_.packs_out()) {
    const std::int64_t part = std::min(plan.line(), scan_part_length);
    const bool packs = reader_.packs() || reader_.packs_out();
    if (plan.is_along) {
      lines_ = reader_.is_turned() ? 16
               : packs             ? std::max<std::int64_t>(1, scan_piece_elements / part)
                                   : std::max<std::int64_t>(1, scan_task_elements / part);
      length_ = std::min(part, packs ? std::max<std::int64_t>(64, scan_piece_elements / lines_)
                                     : scan_piece_elements);
    } else {
      lines_ = strip_cols;
      length_ = packs ? 16 : part;
    }
    lines_ = std::min(lines_, plan.kept());
    parts_ = ceil_div(plan.line(), scan_part_length);
    blocks_ = ceil_div(plan.kept(), lines_);
  }

  void operator()() const {
    const std::int64_t groups = plan_.outer.iterations() * blocks_;
    if (parts_ == 1 || groups >= 2 * num_threads()) {
      parallel_for(groups, bytes_, [&](std::int64_t i) { run_group(i); });
      return;
    }
    // The totals of all parts first: they are what the next parts start from.
    std::vector<Carry> all(static_cast<std::size_t>(groups * parts_ * lines_), kernel_.identity);
    const auto carries_of = [&](std::int64_t group, std::int64_t n) {
      return all.data() + (group * parts_ + n) * lines_;
    };
    parallel_for(groups * parts_, bytes_, [&](std::int64_t task) {
      const std::int64_t group = task / parts_;
      const std::int64_t n = task % parts_;
      for_each_piece(group, n, [&](const LineBlock& b, const Offsets<3>& /*at*/) {
        (plan_.is_along ? kernel_.total_rows : kernel_.total_columns)(b, carries_of(group, n),
                                                                      reversed_);
      });
    });
    for (std::int64_t group = 0; group < groups; ++group) {
      std::vector<Carry> before(static_cast<std::size_t>(lines_), kernel_.identity);
      for (std::int64_t n = 0; n < parts_; ++n) {
        Carry* const carries = carries_of(group, n);
        for (std::size_t i = 0; i < before.size(); ++i) {
          before[i] = kernel_.combine(std::exchange(carries[i], before[i]), before[i]);
        }
      }
    }
    parallel_for(groups * parts_, bytes_, [&](std::int64_t task) {
      const std::int64_t group = task / parts_;
      std::vector<Carry> carries(static_cast<std::size_t>(lines_), kernel_.identity);
      write_part(group, task % parts_, carries_of(group, task % parts_), carries.data());
    });
  }

 private:
  void run_group(std::int64_t group) const {
    std::vector<Carry> offsets(static_cast<std::size_t>(lines_), kernel_.identity);
    std::vector<Carry> carries(offsets.size());
    for (std::int64_t n = 0; n < parts_; ++n) {
      if (n > 0) check_interrupt();
      std::fill(carries.begin(), carries.end(), kernel_.identity);
      write_part(group, n, n > 0 ? offsets.data() : nullptr, carries.data());
      for (std::size_t i = 0; i < carries.size(); ++i) {
        offsets[i] = kernel_.combine(carries[i], offsets[i]);
      }
    }
  }

  void write_part(std::int64_t group, std::int64_t n, const Carry* offsets, Carry* carries) const {
    for_each_piece(group, n, [&](const LineBlock& b, const Offsets<3>& at) {
      (plan_.is_along ? kernel_.rows : kernel_.columns)(b, offsets, carries, reversed_);
      if (reader_.packs_out()) {
        reader_.write_out(at, b.in.rows, b.in.cols, static_cast<const std::byte*>(b.out));
      }
    });
  }

  /// The blocks of the n-th part of a group of lines, in the order of the scan.
  template <class Use>
  void for_each_piece(std::int64_t group, std::int64_t n, const Use& use) const {
    Offsets<3> start{};
    plan_.outer.advance(group / blocks_, start);
    const std::int64_t first_line = group % blocks_ * lines_;
    const std::int64_t lines = std::min(lines_, plan_.kept() - first_line);
    const std::int64_t part = reversed_ ? parts_ - 1 - n : n;
    const std::int64_t first = part * scan_part_length;
    const std::int64_t last = std::min(plan_.line(), first + scan_part_length);
    const std::int64_t pieces = ceil_div(last - first, length_);
    const std::int64_t most = std::min(length_, last - first);
    const auto& along = plan_.is_along ? plan_.cols.step : plan_.rows.step;
    const auto& beside = plan_.is_along ? plan_.rows.step : plan_.cols.step;

    const std::size_t packed = aligned_bytes(reader_.scratch_bytes(lines * most));
    const auto written = static_cast<std::size_t>(lines * most * item_bytes(kernel_.type));
    const std::size_t results = reader_.packs_out() ? aligned_bytes(written) : 0;
    const Scratch memory(packed + results +
                         (plan_.is_along && streams_ ? kernels::line_scratch(most) : 0));
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::int64_t from = first + (reversed_ ? pieces - 1 - i : i) * length_;
      const std::int64_t count = std::min(length_, last - from);
      Offsets<3> at = start;
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += first_line * beside[k] + from * along[k];
      const std::int64_t rows = plan_.is_along ? lines : count;
      const std::int64_t cols = plan_.is_along ? count : lines;
      const bool packs = reader_.packs_out();
      const LineBlock b{reader_.read(at, rows, cols, memory.data()),
                        packs ? memory.data() + packed : reader_.out_at(at),
                        packs ? cols : reader_.out_row(), streams_,
                        memory.data() + packed + results};
      use(b, at);
    }
  }

  const ScanKernel& kernel_;
  const LinePlan& plan_;
  LineReader reader_;
  bool reversed_;
  std::int64_t bytes_;
  bool streams_;
  std::int64_t lines_, length_;  // of a block
  std::int64_t parts_, blocks_;
};

void run_scan(const ScanKernel& kernel, std::uint32_t dims, const LineOperands& operands,
              bool reversed) {
  if (const auto line = small_line(operands, dims, kernel.type)) {
    Carry carry = kernel.identity;
    kernel.rows({*line, operands.out.raw_data(), line->cols, false, nullptr}, nullptr, &carry,
                reversed);
    return;
  }
  const Layout* const mask = operands.mask != nullptr ? &operands.mask->layout() : nullptr;
  const LinePlan plan = make_line_plan(operands.x.layout(), mask, dims, shortest_row(kernel));
  ScanRun(kernel, plan, operands, reversed)();
}

/// The gradient of running products as a product of two: of what comes before an element, and of
/// s[i] = g[i] + x[i + 1] s[i + 1]. Nothing is divided by, so its own gradients are right beside
/// zeros, too.
Tensor cumprod_by_parts(const ScanRecord& call, const Tensor& x, const Tensor& g) {
  if (x.ndim() == 0) return g;
  const int dim = call.dim;
  const auto turned = [&](const Tensor& t) { return call.reversed ? flip(t, dim) : t; };
  const std::int64_t count = x.shape()[dim];
  const auto part = [dim](const Tensor& t, std::int64_t start, std::int64_t length) {
    return narrow(t, dim, start, length);
  };
  const Tensor y = turned(call.output);
  const std::array before{ones_like(part(y, 0, 1)), part(y, 0, count - 1)};

  // By doubling: s has the terms of the next `step` elements, which products are made of as well.
  Tensor s = turned(g);
  Tensor products = part(turned(x), 1, count - 1);
  for (std::int64_t step = 1; step < count; step *= 2) {
    const std::int64_t rest = count - step;
    const std::array joined{part(s, 0, rest) + products * part(s, step, rest), part(s, rest, step)};
    s = cat(joined, dim);
    if (rest <= step) break;
    products = part(products, 0, rest - step) * part(products, step, rest - step);
  }
  return turned(cat(before, dim) * s);
}

}  // namespace

Tensor scan(const ScanSpec& spec, const Tensor& x, std::int64_t dim, const LineArguments& arguments,
            bool reversed) {
  const int along = normalize_dim(spec.name, dim, x.ndim());
  const DType dtype = arguments.dtype.value_or(accumulated(x.dtype()));
  const TensorRef mask = mask_as(spec.name, x, arguments.mask);
  Tensor out = empty(x.shape(), dtype);
  if (out.size() != 0) {
    const std::uint32_t dims = x.ndim() == 0 ? 0 : 1U << static_cast<unsigned>(along);
    const ScanKernel& kernel = kernels::scan_kernel(spec.kernel, dtype);
    run_scan(kernel, dims, {x, mask.get(), dtype, out}, reversed);
  }
  if (!autograd::is_recorded(x) || !is_floating(dtype)) return out;
  std::vector<SavedTensor> saved;
  if (mask) saved.emplace_back(to(*mask, DType::boolean));
  if (spec.saves_all) saved.emplace_back(x);
  autograd::record(
      spec.name, out, {x}, std::move(saved),
      [&spec, along, reversed, is_masked = static_cast<bool>(mask), from = x.dtype(), dtype](
          const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        ScanRecord call{along, reversed, {}, {}, {}};
        if (is_masked) call.mask = kept[0];
        if (spec.saves_all) {
          call.input = to(kept[is_masked ? 1 : 0], dtype);
          call.output = kept.output();
        }
        const Tensor value = to(spec.backward(call, autograd::materialize(g)), from);
        // What does not count carries its gradient to others, so all that came matters.
        Gradient result = rules::along_lines(value, {}, along, g);
        result.mask = autograd::both(call.mask, result.mask);
        return {result};
      },
      spec.saves_all ? autograd::Output::saved : autograd::Output::unneeded);
  return out;
}

namespace rules {

Tensor cumsum(const ScanRecord& call, const Tensor& g) {
  return scan(cumsum_spec, g, call.dim, {}, !call.reversed);
}

Tensor cumprod(const ScanRecord& call, const Tensor& g) {
  const auto gathered = [&](const Tensor& products) {
    return scan(cumsum_spec, g * products, call.dim, {}, !call.reversed);
  };
  const Tensor x = call.mask ? where(*call.mask, call.input, 1) : call.input;
  const Tensor is_zero = x.detach() == 0;
  const bool has_zeros = any("cumprod", is_zero, {}, false).item<bool>();
  if (has_zeros && autograd::is_recording()) return cumprod_by_parts(call, x, g);
  Tensor usual = gathered(call.output) / x;
  if (!has_zeros) return usual;
  // Behind the first zero all products are 0, but its own gradient is made of what they would be
  // without it, up to the second.
  const Tensor zeros = scan(cumsum_spec, is_zero, call.dim, {}, call.reversed);
  const Tensor is_first = logical_and(is_zero, zeros == 1);
  const Tensor without = scan(cumprod_spec, where(is_first, 1, x), call.dim, {}, call.reversed);
  return where(zeros == 0, usual, where(is_first, gathered(without), 0));
}

}  // namespace rules

}  // namespace loup::ops
