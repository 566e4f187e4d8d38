#include "loup/ops/line_plan.h"

#include <cstdlib>

#include "loup/kernels/copy.h"

namespace loup::ops {

using kernels::Block;

namespace {

/// More elements than this are worth a plan.
constexpr std::int64_t unplanned_row = 4 * 1024;

}  // namespace

LinePlan make_line_plan(const Layout& x, const Layout* mask, std::uint32_t dims,
                        std::int64_t shortest) {
  const Strides out = contiguous_strides(x.shape);
  Axes<3> lines;
  Axes<3> kept;
  bool is_along = true;
  for (int i = 0; i < x.shape.size(); ++i) {
    if (x.shape[i] == 1) continue;
    const bool is_line = (dims >> static_cast<unsigned>(i) & 1U) != 0;
    (is_line ? lines : kept)
        .push({x.shape[i], {x.strides[i], mask != nullptr ? mask->strides[i] : 0, out[i]}});
    is_along = is_line;
  }
  lines.merge();
  kept.merge();
  if (lines.iterations() < shortest && kept.iterations() > 1) is_along = false;
  LinePlan plan;
  plan.is_along = is_along;
  plan.rows = is_along ? kept.pop() : lines.pop();
  plan.cols = is_along ? lines.pop() : kept.pop();
  plan.outer = kept;
  plan.outer_line = lines;
  return plan;
}

LineReader::LineReader(const LinePlan& plan, const LineOperands& operands, DType type)
    : plan_(plan),
      x_(operands.x.raw_data()),
      mask_(operands.mask != nullptr ? operands.mask->raw_data() : nullptr),
      out_(operands.out.raw_data()),
      given_(operands.given != nullptr ? operands.given->raw_data() : nullptr),
      x_type_(operands.x.dtype()),
      mask_type_(operands.mask != nullptr ? operands.mask->dtype() : DType::boolean),
      out_type_(operands.out.dtype()),
      cast_(operands.cast),
      type_(type) {
  const auto& row = plan.rows.step;
  const auto& col = plan.cols.step;
  packs_x_ = x_type_ != type || cast_ != type || (col[line_x] != 1 && plan.cols.size > 1);
  packs_mask_ =
      mask_ != nullptr && (item_bytes(mask_type_) != 1 ||
                           (col[line_mask] != 0 && col[line_mask] != 1 && plan.cols.size > 1));
  packs_out_ = out_type_ != type || (col[line_out] != 1 && plan.cols.size > 1);
  is_turned_ =
      plan.rows.size > 1 && ((packs_x_ && std::abs(row[line_x]) < std::abs(col[line_x])) ||
                             (packs_mask_ && std::abs(row[line_mask]) < std::abs(col[line_mask])));
}

std::size_t LineReader::scratch_bytes(std::int64_t elements) const {
  // What is packed, what it was on the way, and the mask: each starts a cache line of its own.
  if (!packs()) return 0;
  return static_cast<std::size_t>(elements) * (8 + 8 + 1) + 3 * 64;
}

Block LineReader::read(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                       std::byte* scratch) const {
  const auto& row = plan_.rows.step;
  const auto& col = plan_.cols.step;
  const std::byte* x = x_ + at[line_x] * item_bytes(x_type_);
  const std::byte* mask =
      mask_ != nullptr ? mask_ + at[line_mask] * item_bytes(mask_type_) : nullptr;
  Block b{x,
          row[line_x],
          reinterpret_cast<const std::uint8_t*>(mask),
          row[line_mask],
          col[line_mask],
          rows,
          cols};
  const std::size_t part = aligned_bytes(static_cast<std::size_t>(rows * cols) * 8);
  if (packs_x_) {
    kernels::ConstPlane from{x, x_type_, row[line_x], col[line_x]};
    if (cast_ != type_ && x_type_ != cast_) {
      kernels::copy_plane({scratch + part, cast_, cols, 1}, from, rows, cols);
      from = {scratch + part, cast_, cols, 1};
    }
    kernels::copy_plane({scratch, type_, cols, 1}, from, rows, cols);
    b.x = scratch;
    b.x_row = cols;
  }
  if (packs_mask_) {
    std::byte* const bytes = scratch + 2 * part;
    kernels::copy_plane({bytes, DType::boolean, cols, 1},
                        {mask, mask_type_, row[line_mask], col[line_mask]}, rows, cols);
    b.mask = reinterpret_cast<const std::uint8_t*>(bytes);
    b.mask_row = cols;
    b.mask_col = 1;
  }
  return b;
}

std::byte* LineReader::out_at(const Offsets<3>& at) const {
  return out_ + at[line_out] * item_bytes(out_type_);
}

const std::byte* LineReader::read_given(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                                        std::byte* packed) const {
  if (given_ == nullptr) return nullptr;
  const std::byte* const from = given_ + at[line_out] * item_bytes(out_type_);
  if (!packs_out()) return from;
  kernels::copy_plane({packed, type_, cols, 1},
                      {from, out_type_, out_row(), plan_.cols.step[line_out]}, rows, cols);
  return packed;
}

void LineReader::write_out(const Offsets<3>& at, std::int64_t rows, std::int64_t cols,
                           const std::byte* packed) const {
  kernels::copy_plane({out_at(at), out_type_, out_row(), plan_.cols.step[line_out]},
                      {packed, type_, cols, 1}, rows, cols);
}

std::optional<Block> small_row(const Tensor& x, const Tensor* mask, DType type) {
  if (x.size() > unplanned_row || x.dtype() != type || !x.is_contiguous()) return std::nullopt;
  if (mask != nullptr && (item_bytes(mask->dtype()) != 1 || !mask->is_contiguous())) {
    return std::nullopt;
  }
  return Block{
      .x = x.raw_data(),
      .x_row = 0,
      .mask = mask != nullptr ? reinterpret_cast<const std::uint8_t*>(mask->raw_data()) : nullptr,
      .mask_row = 0,
      .mask_col = 1,
      .rows = 1,
      .cols = x.size()};
}

std::optional<Block> small_line(const LineOperands& operands, std::uint32_t dims, DType type) {
  const auto& [x, mask, cast, out, given] = operands;
  if (cast != type || out.dtype() != type) return std::nullopt;
  for (int i = 0; i < x.ndim(); ++i) {
    const bool is_kept = (dims >> static_cast<unsigned>(i) & 1U) == 0;
    if (is_kept && x.shape()[i] != 1) return std::nullopt;
  }
  return small_row(x, mask, type);
}

}  // namespace loup::ops
