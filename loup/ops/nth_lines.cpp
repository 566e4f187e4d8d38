#include "loup/ops/nth_lines.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "loup/base/parallel.h"
#include "loup/kernels/copy.h"
#include "loup/memory/scratch.h"
#include "loup/tensor/create.h"

namespace loup::ops {

using memory::Scratch;

namespace {

/// Elements packed at a time, so that they are still in the first-level cache when they are read.
constexpr std::int64_t packed_line_elements = 4 * 1024;
/// Lines that are read together where they lie closer together than their elements: as many as a
/// line of the cache has bytes, so that the mask is read once.
constexpr std::int64_t most_side_by_side = 64;
constexpr std::int64_t least_side_by_side = 16;
/// So are short lines, whose own calls would cost more than their elements.
constexpr std::int64_t short_line = 256;
/// Room for the keys of a strip, which are to stay in the second-level cache.
constexpr std::int64_t strip_key_bytes = 512 * 1024;
/// A task has about so many elements.
constexpr std::int64_t nth_task_elements = 32 * 1024;
/// Lines of so many elements are read by several threads where there are fewer lines than threads.
constexpr std::int64_t long_line = 256 * 1024;
constexpr std::int64_t long_piece = 32 * 1024;

}  // namespace

/// Some lines side by side.
struct NthLines::Strip {
  Offsets<3> at;
  std::int64_t lines;
};

NthLines::NthLines(const Tensor& x, const Tensor* mask, int dim, DType dtype)
    : x_(x.array()),
      mask_(mask != nullptr ? mask->array()
                            : Array{nullptr, DType::boolean, Dims::filled(x.ndim(), 0)}),
      dtype_(dtype) {
  std::int64_t step = 1;
  Strides steps = Dims::filled(x.ndim(), 0);
  for (int i = x.ndim(); i-- > 0;) {
    if (i == dim) continue;
    steps[i] = step;
    step *= x.shape()[i];
  }
  const auto axis = [&](int i) {
    return Axis<3>{x.shape()[i], {x_.strides[i], mask_.strides[i], steps[i]}};
  };
  for (int i = 0; i < x.ndim(); ++i) {
    if (i != dim) outer_.push(axis(i));
  }
  line_ = axis(dim);
  outer_.sort_by_step(operand_x);
  outer_.merge();
  side_ = outer_.pop();
  packs_x_ = x.dtype() != dtype || (line_.step[operand_x] != 1 && line_.size > 1);
  const std::int64_t mask_step = line_.step[operand_mask];
  packs_mask_ = mask_.data != nullptr && (item_bytes(mask_.dtype) != 1 ||
                                          (mask_step != 1 && mask_step != 0 && line_.size > 1));
  const bool is_turned = (packs_x_ && side_.step[operand_x] != 0 &&
                          std::abs(side_.step[operand_x]) < std::abs(line_.step[operand_x])) ||
                         (packs_mask_ && side_.step[operand_mask] != 0 &&
                          std::abs(side_.step[operand_mask]) < std::abs(line_.step[operand_mask]));
  const std::int64_t key_bytes = kernels::nth_kernel(dtype).key_bytes;
  width_ =
      line_.size <= short_line ? std::clamp<std::int64_t>(side_.size, 1, most_side_by_side) : 1;
  if (is_turned && line_.size > 0) {
    width_ = std::clamp(strip_key_bytes / (line_.size * key_bytes), least_side_by_side,
                        most_side_by_side);
    width_ = std::min(width_ / least_side_by_side * least_side_by_side, side_.size);
  }
}

template <class Body>
void NthLines::for_each_strip(Body&& body) const {
  if (side_.size * line_.size * outer_.iterations() == 0) return;
  const std::int64_t across = (side_.size + width_ - 1) / width_;
  const std::int64_t strips = across * outer_.iterations();
  const std::int64_t elements = width_ * line_.size;
  const std::int64_t group = std::clamp<std::int64_t>(nth_task_elements / elements, 1, strips);
  // Selecting takes longer than reading: threads are worth it sooner.
  const std::int64_t work = 4 * strips * elements * item_bytes(x_.dtype);
  parallel_for((strips + group - 1) / group, work, [&](std::int64_t task) {
    const std::int64_t first = task * group;
    const std::int64_t last = std::min(strips, first + group);
    Offsets<3> outer{};
    outer_.advance(first / across, outer);
    std::int64_t place = first % across;
    for (std::int64_t strip = first; strip < last; ++strip, ++place) {
      if (place == across) {
        place = 0;
        outer = {};
        outer_.advance(strip / across, outer);
      }
      Strip lines{outer, std::min(width_, side_.size - place * width_)};
      for (std::size_t k = 0; k < 3; ++k) lines.at[k] += place * width_ * side_.step[k];
      body(lines);
    }
  });
}

/// Reads the lines of a strip piece by piece, packing what kernels cannot read where it is.
void NthLines::collect(const Strip& strip, std::byte* keys, std::int64_t line_bytes,
                       LineKeys* found) const {
  const bool packs = packs_x_ || packs_mask_;
  const std::int64_t piece =
      packs ? std::min(line_.size, packed_line_elements / std::max<std::int64_t>(strip.lines, 1))
            : line_.size;
  const auto elements = static_cast<std::size_t>(piece * strip.lines);
  const Scratch packed(packs_x_ ? elements * 8 : 0);
  const Scratch bytes(packs_mask_ ? elements : 0);
  const std::int64_t x_bytes = item_bytes(x_.dtype);
  const std::int64_t mask_bytes = item_bytes(mask_.dtype);
  const kernels::NthKernel& kernel = kernels::nth_kernel(dtype_);
  for (std::int64_t i = 0; i < line_.size; i += piece) {
    const std::int64_t count = std::min(piece, line_.size - i);
    const std::byte* x = x_.data + (strip.at[operand_x] + i * line_.step[operand_x]) * x_bytes;
    std::int64_t x_line = side_.step[operand_x] * x_bytes;
    if (packs_x_) {
      kernels::copy_plane({packed.data(), dtype_, count, 1},
                          {x, x_.dtype, side_.step[operand_x], line_.step[operand_x]}, strip.lines,
                          count);
      x = packed.data();
      x_line = count * item_bytes(dtype_);
    }
    const std::byte* mask = nullptr;
    std::int64_t mask_line = side_.step[operand_mask] * mask_bytes;
    if (mask_.data != nullptr) {
      mask = mask_.data + (strip.at[operand_mask] + i * line_.step[operand_mask]) * mask_bytes;
      if (packs_mask_) {
        kernels::copy_plane({bytes.data(), DType::boolean, count, 1},
                            {mask, mask_.dtype, side_.step[operand_mask], line_.step[operand_mask]},
                            strip.lines, count);
        mask = bytes.data();
        mask_line = count;
      }
    }
    for (std::int64_t line = 0; line < strip.lines; ++line) {
      const auto* chooses = reinterpret_cast<const std::uint8_t*>(mask);
      if (chooses != nullptr) chooses += line * mask_line;
      // One byte for the whole line.
      if (chooses != nullptr && !packs_mask_ && line_.step[operand_mask] == 0) {
        if (*chooses == 0) continue;
        chooses = nullptr;
      }
      LineKeys& own = found[line];
      own.count +=
          kernel.collect(x + line * x_line, chooses, count,
                         keys + line * line_bytes + own.count * kernel.key_bytes, own.has_nan);
    }
  }
}

void NthLines::for_each(const Visit& visit) const {
  const kernels::NthKernel& kernel = kernels::nth_kernel(dtype_);
  const std::int64_t line_bytes = (line_.size + kernels::key_slack) * kernel.key_bytes;
  if (line_.size >= long_line && side_.size * outer_.iterations() < num_threads()) {
    return for_each_together(visit);
  }
  for_each_strip([&](const Strip& strip) {
    const Scratch room(static_cast<std::size_t>(line_bytes * (strip.lines + 1)));
    std::byte* const spare = room.data() + line_bytes * strip.lines;
    std::array<std::byte, sizeof(LineKeys) * most_side_by_side> storage;
    auto* const found = reinterpret_cast<LineKeys*>(storage.data());
    for (std::int64_t line = 0; line < strip.lines; ++line) {
      new (found + line) LineKeys{kernel, room.data() + line * line_bytes, spare, 0, false};
    }
    collect(strip, room.data(), line_bytes, found);
    for (std::int64_t line = 0; line < strip.lines; ++line) {
      visit(strip.at[operand_line] + line * side_.step[operand_line], found[line]);
    }
  });
}

/// A few long lines, one after the other: threads share the reading of each. Kernels write beyond
/// the keys that they collect, so those pass through memory of the thread's own.
void NthLines::for_each_together(const Visit& visit) const {
  const kernels::NthKernel& kernel = kernels::nth_kernel(dtype_);
  const std::int64_t pieces = (line_.size + long_piece - 1) / long_piece;
  const auto room = static_cast<std::size_t>((line_.size + kernels::key_slack) * kernel.key_bytes);
  const auto own_room =
      static_cast<std::size_t>((long_piece + kernels::key_slack) * kernel.key_bytes);
  const Scratch keys(room);
  const Scratch spare(room);
  std::vector<LineKeys> found(static_cast<std::size_t>(pieces),
                              LineKeys{kernel, nullptr, nullptr, 0, false});
  const std::int64_t lines = side_.size * outer_.iterations();
  for (std::int64_t line = 0; line < lines; ++line) {
    Offsets<3> start{};
    outer_.advance(line / side_.size, start);
    for (std::size_t k = 0; k < 3; ++k) start[k] += line % side_.size * side_.step[k];
    parallel_for(pieces, [&](std::int64_t piece) {
      NthLines part = *this;
      Strip strip{start, 1};
      for (std::size_t k = 0; k < 3; ++k) strip.at[k] += piece * long_piece * line_.step[k];
      part.line_.size = std::min(long_piece, line_.size - piece * long_piece);
      LineKeys& own = found[static_cast<std::size_t>(piece)];
      own.count = 0;
      own.has_nan = false;
      // Pieces are spread out first, and moved together when all are counted.
      const Scratch collected(own_room);
      part.collect(strip, collected.data(), 0, &own);
      std::copy_n(collected.data(), own.count * kernel.key_bytes,
                  keys.data() + piece * long_piece * kernel.key_bytes);
    });
    LineKeys all{kernel, keys.data(), spare.data(), 0, false};
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const LineKeys& own = found[static_cast<std::size_t>(piece)];
      std::memmove(keys.data() + all.count * kernel.key_bytes,
                   keys.data() + piece * long_piece * kernel.key_bytes,
                   static_cast<std::size_t>(own.count * kernel.key_bytes));
      all.count += own.count;
      all.has_nan |= own.has_nan;
    }
    visit(start[operand_line], all);
  }
}

Tensor NthLines::find_first(const Tensor& values) const {
  Tensor result = empty(values.shape(), DType::i64);
  auto* const positions = reinterpret_cast<std::int64_t*>(result.raw_data());
  const std::int64_t bytes = item_bytes(dtype_);
  for_each_strip([&](const Strip& strip) {
    const std::int64_t line = strip.at[operand_line];
    kernels::find_first(
        dtype_,
        {x_.data + strip.at[operand_x] * bytes,
         mask_.data != nullptr
             ? reinterpret_cast<const std::uint8_t*>(mask_.data) + strip.at[operand_mask]
             : nullptr,
         side_.step[operand_x], line_.step[operand_x], side_.step[operand_mask],
         line_.step[operand_mask], strip.lines, line_.size},
        values.raw_data() + line * bytes, side_.step[operand_line], positions + line);
  });
  return result;
}

}  // namespace loup::ops
