#include "loup/ops/lines.h"

#include <algorithm>
#include <vector>

#include "loup/base/parallel.h"
#include "loup/memory/scratch.h"

namespace loup::ops {

namespace {

using kernels::LineBlock;
using kernels::LineKernel;
using kernels::LineState;
using memory::Scratch;

/// Shorter lines are turned: as rows they would cost more than their elements do.
constexpr std::int64_t least_row = 32;
/// A line up to this long is computed from one reading: it stays in the caches.
constexpr std::int64_t resident_line = 65536;
/// Columns that are computed from one reading have so many bytes in scratch, at most: those that
/// are packed about half of a second cache. Others may have more, because of strips of few columns
/// too little is read from each row at once, but strips wider than this gain nothing.
constexpr std::int64_t packed_bytes = 1024 * 1024;
constexpr std::int64_t resident_bytes = 2 * packed_bytes;
constexpr std::int64_t resident_row_bytes = 512;
/// Columns that are computed together, at most: so many bytes of a row of x are read at once.
constexpr std::int64_t column_strip_bytes = 4096;
/// Rows of a piece of columns: pieces are read twice, and stay in the second cache. (Not more: rows
/// that lie a power of two apart share few places there.)
constexpr std::int64_t piece_rows = 64;
/// Longer lines are measured in parts of this many elements; pieces of them fit the first cache.
constexpr std::int64_t measured_part = 65536;
constexpr std::int64_t piece_length = 8192;
constexpr std::int64_t line_task_elements = 64 * 1024;

/// One run of a kernel over all lines.
class LineRun {
 public:
  LineRun(const LineKernel& kernel, const LinePlan& plan, const LineOperands& operands,
          const double* parameters)
      : kernel_(kernel),
        plan_(plan),
        reader_(plan, operands, kernel.type),
        parameters_(parameters),
        item_(item_bytes(kernel.type)),
        kept_item_(std::max<std::int64_t>(item_, 4)),
        bytes_(operands.x.size() * (2 * item_ + 1)),
        streams_(operands.out.bytes() > streamed_bytes && !reader_.packs_out()) {}

  void operator()() {
    if (plan_.is_along && plan_.outer_line.empty() && plan_.line() <= resident_line) {
      run_resident();
    } else if (resident_columns() != 0) {
      run_columns();
    } else {
      run_long();
    }
  }

 private:
  /// Rows that are computed from one reading.
  void run_resident() {
    const std::int64_t line = plan_.line();
    const std::int64_t kept = plan_.kept();
    // Where lines lie across the rows of x, so many are packed together that whole cache lines are
    // read.
    const std::int64_t at_once = reader_.is_turned()
                                     ? std::clamp<std::int64_t>(4 * resident_line / line, 1, 16)
                                 : reader_.packs() || reader_.packs_out()
                                     ? std::max<std::int64_t>(1, piece_length / line)
                                     : std::max<std::int64_t>(1, line_task_elements / line);
    const std::int64_t block =
        ceil_div(std::max<std::int64_t>(1, line_task_elements / line), at_once) * at_once;
    const std::int64_t blocks = ceil_div(kept, block);
    parallel_for(plan_.outer.iterations() * blocks, bytes_, [&](std::int64_t task) {
      Offsets<3> start{};
      plan_.outer.advance(task / blocks, start);
      const std::int64_t first = task % blocks * block;
      const std::int64_t last = std::min(kept, first + block);
      const Buffers buffers(*this, std::min(at_once, last - first), line);
      for (std::int64_t i = first; i < last; i += at_once) {
        const Offsets<3> at = moved(start, i, 0);
        const LineBlock b = block_at(at, std::min(at_once, last - i), line, buffers);
        kernel_.rows(b, parameters_);
        finish(at, b);
      }
    });
  }

  /// How many columns fit the caches as a whole; 0 when they are too long or the kernel wants
  /// pieces.
  std::int64_t resident_columns() const {
    if (plan_.is_along || !plan_.outer_line.empty() || kernel_.columns == nullptr) return 0;
    const std::int64_t line = plan_.line();
    const std::int64_t packed = reader_.packs() ? 8 + 8 + 1 : 0;
    const std::int64_t bytes = kept_item_ + packed + (reader_.packs_out() ? item_ : 0);
    const std::int64_t room =
        bytes != kept_item_ ? packed_bytes : std::min(resident_bytes, resident_row_bytes * line);
    const std::int64_t least = 64 / kept_item_;
    return room / (line * bytes) / least * least;
  }

  /// Columns that are computed from one reading. Those that are read and written in place are
  /// tasks of several strips, which then overlap.
  void run_columns() {
    const std::int64_t line = plan_.line();
    const std::int64_t kept = plan_.kept();
    const std::int64_t width = std::min(strip_width(), resident_columns());
    const std::int64_t at_once =
        reader_.packs() || reader_.packs_out() ? width : ceil_div(share(), width) * width;
    const std::int64_t blocks = ceil_div(kept, at_once);
    parallel_for(plan_.outer.iterations() * blocks, bytes_, [&](std::int64_t task) {
      Offsets<3> start{};
      plan_.outer.advance(task / blocks, start);
      const std::int64_t first = task % blocks * at_once;
      const std::int64_t cols = std::min(at_once, kept - first);
      const Offsets<3> at = moved(start, first, 0);
      const std::int64_t strip = std::min(width, cols);
      const Buffers buffers(*this, line, cols, kernels::column_scratch(line, strip, kept_item_));
      LineBlock b = block_at(at, line, cols, buffers);
      b.strip = strip;
      kernel_.columns(b, parameters_);
      finish(at, b);
    });
  }

  /// Memory for blocks of rows × cols: packed operands, packed results, the kernel's scratch.
  struct Buffers {
    Buffers(const LineRun& run, std::int64_t rows, std::int64_t cols)
        : Buffers(run, rows, cols, kernels::line_scratch(cols)) {}
    Buffers(const LineRun& run, std::int64_t rows, std::int64_t cols, std::size_t scratch_bytes)
        : packed_bytes(aligned_bytes(run.reader_.scratch_bytes(rows * cols))),
          out_bytes(run.reader_.packs_out()
                        ? aligned_bytes(static_cast<std::size_t>(rows * cols * run.item_))
                        : 0),
          given_bytes(run.reader_.packs_given() ? out_bytes : 0),
          memory(packed_bytes + out_bytes + given_bytes + scratch_bytes) {}
    std::byte* packed() const { return memory.data(); }
    std::byte* out() const { return memory.data() + packed_bytes; }
    std::byte* given() const { return out() + out_bytes; }
    std::byte* scratch() const { return given() + given_bytes; }
    std::size_t packed_bytes, out_bytes, given_bytes;
    Scratch memory;
  };

  /// `start` moved by so many lines, and by elements along them.
  Offsets<3> moved(Offsets<3> start, std::int64_t lines, std::int64_t elements) const {
    const auto& along = plan_.is_along ? plan_.cols.step : plan_.rows.step;
    const auto& beside = plan_.is_along ? plan_.rows.step : plan_.cols.step;
    for (std::size_t k = 0; k < start.size(); ++k) {
      start[k] += lines * beside[k] + elements * along[k];
    }
    return start;
  }

  LineBlock block_at(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                     const Buffers& buffers) const {
    const bool packs = reader_.packs_out();
    return {reader_.read(at, rows, cols, buffers.packed()),
            packs ? buffers.out() : reader_.out_at(at),
            packs ? cols : reader_.out_row(),
            streams_,
            buffers.scratch(),
            reader_.read_given(at, rows, cols, buffers.given())};
  }

  void finish(const Offsets<3>& at, const LineBlock& b) const {
    if (reader_.packs_out()) {
      reader_.write_out(at, b.in.rows, b.in.cols, static_cast<const std::byte*>(b.out));
    }
  }

  void run_long();

  /// How many columns make a task when all threads have some.
  std::int64_t share() const {
    return std::max<std::int64_t>(1, plan_.kept() * plan_.outer.iterations() / (4 * num_threads()));
  }

  /// How many columns are computed together: whole cache lines.
  std::int64_t strip_width() const {
    const std::int64_t most =
        (reader_.packs() || reader_.packs_out() ? 1024 : column_strip_bytes) / item_;
    const std::int64_t least = 64 / item_;
    return std::clamp(ceil_div(share(), least) * least, least, most);
  }

  const LineKernel& kernel_;
  const LinePlan& plan_;
  LineReader reader_;
  const double* parameters_;
  std::int64_t item_;
  std::int64_t kept_item_;  // in scratch, where half types are floats
  std::int64_t bytes_;
  bool streams_;
};

void LineRun::run_long() {
  const std::int64_t line = plan_.line();
  const std::int64_t kept = plan_.kept();
  // A piece is a block of lines beside each other, and of elements along them.
  const std::int64_t lines = plan_.is_along ? reader_.is_turned() ? 16 : 1 : strip_width();
  const std::int64_t length = plan_.is_along ? piece_length : piece_rows;
  const std::int64_t in_axis = ceil_div(line, measured_part);
  const std::int64_t parts = plan_.outer_line.iterations() * in_axis;
  const std::int64_t blocks = ceil_div(kept, lines);
  const std::int64_t groups = plan_.outer.iterations() * blocks;

  struct Group {
    Offsets<3> start;
    std::int64_t lines;
  };
  const auto group_at = [&](std::int64_t i) {
    Offsets<3> start{};
    plan_.outer.advance(i / blocks, start);
    const std::int64_t first = i % blocks * lines;
    return Group{moved(start, first, 0), std::min(lines, kept - first)};
  };
  const auto for_each_piece = [&](const Group& group, std::int64_t part, const auto& use) {
    Offsets<3> start = group.start;
    plan_.outer_line.advance(part / in_axis, start);
    const std::int64_t first = part % in_axis * measured_part;
    const std::int64_t last = std::min(line, first + measured_part);
    const std::int64_t most = std::min(length, last - first);
    const Buffers buffers(*this, plan_.is_along ? group.lines : most,
                          plan_.is_along ? most : group.lines);
    for (std::int64_t i = first; i < last; i += length) {
      const std::int64_t count = std::min(length, last - i);
      const Offsets<3> at = moved(start, 0, i);
      const LineBlock b = block_at(at, plan_.is_along ? group.lines : count,
                                   plan_.is_along ? count : group.lines, buffers);
      use(b, at);
    }
  };
  const auto measure = [&](const Group& group, std::int64_t part, LineState* states) {
    std::fill_n(states, group.lines, kernel_.empty(parameters_));
    for_each_piece(group, part, [&](const LineBlock& b, const Offsets<3>& /*at*/) {
      (plan_.is_along ? kernel_.measure_rows : kernel_.measure_columns)(b, states, parameters_);
    });
  };
  const auto apply = [&](const Group& group, std::int64_t part, const LineState* states) {
    for_each_piece(group, part, [&](const LineBlock& b, const Offsets<3>& at) {
      (plan_.is_along ? kernel_.apply_rows : kernel_.apply_columns)(b, states, parameters_);
      finish(at, b);
    });
  };
  const auto merge = [&](LineState* into, const LineState* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) into[i] = kernel_.merge(into[i], from[i], parameters_);
  };

  // Few lines are shared between threads part by part. Parts are merged in order either way.
  if (groups < 2 * num_threads() && line >= piece_length) {
    std::vector<LineState> all(static_cast<std::size_t>(groups * parts * lines));
    const auto states_of = [&](std::int64_t group, std::int64_t part) {
      return all.data() + (group * parts + part) * lines;
    };
    parallel_for(groups * parts, bytes_, [&](std::int64_t task) {
      measure(group_at(task / parts), task % parts, states_of(task / parts, task % parts));
    });
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t part = 1; part < parts; ++part) {
        merge(states_of(g, 0), states_of(g, part), group_at(g).lines);
      }
    }
    parallel_for(groups * parts, bytes_, [&](std::int64_t task) {
      apply(group_at(task / parts), task % parts, states_of(task / parts, 0));
    });
    return;
  }
  const bool is_one_piece = parts == 1 && line <= length;
  parallel_for(groups, bytes_, [&](std::int64_t task) {
    const Group group = group_at(task);
    std::vector<LineState> total(static_cast<std::size_t>(group.lines));
    if (is_one_piece) {
      std::fill(total.begin(), total.end(), kernel_.empty(parameters_));
      for_each_piece(group, 0, [&](const LineBlock& b, const Offsets<3>& at) {
        (plan_.is_along ? kernel_.measure_rows : kernel_.measure_columns)(b, total.data(),
                                                                          parameters_);
        (plan_.is_along ? kernel_.apply_rows : kernel_.apply_columns)(b, total.data(), parameters_);
        finish(at, b);
      });
      return;
    }
    std::vector<LineState> states(total.size());
    measure(group, 0, total.data());
    for (std::int64_t part = 1; part < parts; ++part) {
      check_interrupt();
      measure(group, part, states.data());
      merge(total.data(), states.data(), group.lines);
    }
    for (std::int64_t part = 0; part < parts; ++part) {
      check_interrupt();
      apply(group, part, total.data());
    }
  });
}

}  // namespace

void run_lines(const LineKernel& kernel, std::uint32_t dims, const LineOperands& operands,
               const double* parameters) {
  if (const auto line = small_line(operands, dims, kernel.type)) {
    const Scratch scratch(kernels::line_scratch(line->cols));
    const void* const given = operands.given != nullptr ? operands.given->raw_data() : nullptr;
    const LineBlock b{*line, operands.out.raw_data(), line->cols, false, scratch.data(), given};
    kernel.rows(b, parameters);
    return;
  }
  const Layout* const mask = operands.mask != nullptr ? &operands.mask->layout() : nullptr;
  const LinePlan plan = make_line_plan(operands.x.layout(), mask, dims, least_row);
  LineRun(kernel, plan, operands, parameters)();
}

}  // namespace loup::ops
