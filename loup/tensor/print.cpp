#include "loup/tensor/print.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>
#include <vector>

#include <fmt/format.h>

namespace loup {

namespace {

constexpr std::int64_t summarize_above = 1000;
constexpr std::int64_t edge = 3;
constexpr std::size_t line_width = 88;
constexpr int most_decimals = 4;
const char* const masked_cell = "--";

/// Which elements of a tensor are shown, and how one number is written.
class Printer {
 public:
  Printer(const Tensor& x, const Tensor* mask)
      : x_(x), mask_(mask), summarized_(x.size() > summarize_above) {
    if (is_floating(x.dtype())) choose_float_format();
    Dims index = Dims::filled(x.ndim(), 0);
    visit_shown(0, index, [this](const Dims& i) { width_ = std::max(width_, cell(i).size()); });
  }

  std::string scalar() const { return strip(cell({})); }

  void write(int dim, Dims& index, std::size_t indent, std::string& out) const {
    out += '[';
    if (dim == x_.ndim() - 1) {
      write_row(dim, index, indent + 1, out);
    } else {
      std::string separator(",");
      separator.append(static_cast<std::size_t>(x_.ndim() - 1 - dim), '\n').append(indent + 1, ' ');
      bool first = true;
      for (const std::int64_t i : shown(dim)) {
        if (!first) out += separator;
        first = false;
        if (i < 0) {
          out += "...";
        } else {
          index[dim] = i;
          write(dim + 1, index, indent + 1, out);
        }
      }
    }
    out += ']';
  }

 private:
  /// Positions shown of one dim; -1 stands for what is left out.
  std::vector<std::int64_t> shown(int dim) const {
    const std::int64_t size = x_.shape()[dim];
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < size; ++i) {
      if (summarized_ && size > 2 * edge && i == edge) {
        positions.push_back(-1);
        i = size - edge;
      }
      positions.push_back(i);
    }
    return positions;
  }

  template <class Visit>
  void visit_shown(int dim, Dims& index, Visit&& visit) const {
    if (dim == x_.ndim()) return visit(index);
    for (const std::int64_t i : shown(dim)) {
      if (i < 0) continue;
      index[dim] = i;
      visit_shown(dim + 1, index, visit);
    }
  }

  void write_row(int dim, Dims& index, std::size_t indent, std::string& out) const {
    std::size_t column = indent;
    bool first = true;
    for (const std::int64_t i : shown(dim)) {
      std::string text = "...";
      if (i >= 0) {
        index[dim] = i;
        text = cell(index);
        text.insert(0, width_ - std::min(width_, text.size()), ' ');
      }
      if (!first) {
        const bool wraps = column + 2 + text.size() > line_width;
        out += wraps ? ",\n" : ", ";
        if (wraps) out.append(indent, ' ');
        column = wraps ? indent : column + 2;
      }
      first = false;
      column += text.size();
      out += text;
    }
  }

  bool is_masked(const Dims& index) const { return mask_ != nullptr && !mask_->at<bool>(index); }

  std::string cell(const Dims& index) const {
    if (is_masked(index)) return masked_cell;
    if (x_.dtype() == DType::boolean) return x_.at<bool>(index) ? "True" : "False";
    if (!is_floating(x_.dtype())) return fmt::format("{}", x_.at<std::int64_t>(index));
    const auto value = x_.at<double>(index);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return scientific_ ? fmt::format("{: .4e}", value) : fmt::format("{: .{}f}", value, decimals_);
  }

  /// True when `decimals` digits after the point give back the very same element.
  bool is_exact(double value, int decimals) const {
    const double parsed = std::strtod(fmt::format("{:.{}f}", value, decimals).c_str(), nullptr);
    return visit_dtype(x_.dtype(), [&]<class T>(std::type_identity<T>) {
      return convert<double>(convert<T>(parsed)) == value;
    });
  }

  void choose_float_format() {
    decimals_ = 1;
    Dims index = Dims::filled(x_.ndim(), 0);
    visit_shown(0, index, [this](const Dims& i) {
      if (is_masked(i)) return;
      const auto value = x_.at<double>(i);
      if (!std::isfinite(value)) return;
      const double magnitude = std::abs(value);
      scientific_ |= magnitude >= 1e8 || (magnitude != 0 && magnitude < 1e-4);
      while (decimals_ < most_decimals && !is_exact(value, decimals_)) ++decimals_;
    });
  }

  static std::string strip(const std::string& text) {
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

  const Tensor& x_;
  const Tensor* mask_;
  bool summarized_;
  bool scientific_ = false;
  int decimals_ = 1;
  std::size_t width_ = 2;
};

}  // namespace

std::string format_tensor(const char* kind, const Tensor& x, const Tensor* mask,
                          const std::string& suffix) {
  if (x.size() == 0) {
    const std::string shape = x.ndim() == 1 ? "" : fmt::format(", shape={}", x.shape());
    return fmt::format("{}([]{}{})", kind, shape, suffix);
  }
  const Printer printer(x, mask);
  if (x.ndim() == 0) return fmt::format("{}({}{})", kind, printer.scalar(), suffix);
  std::string body;
  Dims index = Dims::filled(x.ndim(), 0);
  printer.write(0, index, 2, body);
  return fmt::format("{}(\n  {}{}\n)", kind, body, suffix);
}

std::string to_string(const Tensor& x) {
  const bool is_default =
      x.dtype() == DType::f32 || x.dtype() == DType::i64 || x.dtype() == DType::boolean;
  std::string suffix = is_default ? "" : fmt::format(", dtype={}", x.dtype());
  if (x.requires_grad()) suffix += ", requires_grad=True";
  return format_tensor("Tensor", x, nullptr, suffix);
}

std::ostream& operator<<(std::ostream& stream, const Tensor& x) { return stream << to_string(x); }

}  // namespace loup
