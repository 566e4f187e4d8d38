#include "loup/ops/einsum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "loup/base/error.h"
#include "loup/ops/binary.h"
#include "loup/ops/copy.h"
#include "loup/ops/matmul.h"
#include "loup/ops/reduce.h"
#include "loup/ops/shape.h"
#include "loup/ops/views.h"

namespace loup::ops {

namespace {

/// What names a dim: a letter, or a number below max_ndim for one of the dims of `...`, counted
/// from the last.
using Label = char;
using Labels = std::basic_string<Label>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool has(const Labels& labels, Label label) { return labels.find(label) != Labels::npos; }

/// A tensor whose dims have names, each of them once.
struct Term {
  Tensor value;
  Labels labels;
};

/// One operand's part of the equation, or the output's.
struct Part {
  std::string before, after;  // letters on both sides of `...`
  bool has_ellipsis = false;
  std::string text;

  int letters() const { return static_cast<int>(before.size() + after.size()); }
  Labels labels(int further) const {
    Labels result = before;
    for (int i = further; i-- > 0;) result += static_cast<Label>(i);
    return result + after;
  }
  std::string normal() const { return before + (has_ellipsis ? "..." : "") + after; }
};

Part parse_part(std::string_view text, std::string_view equation) {
  Part part;
  part.text = text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (is_letter(text[i])) {
      (part.has_ellipsis ? part.after : part.before) += text[i];
    } else if (text.substr(i, 3) == "..." && !part.has_ellipsis) {
      part.has_ellipsis = true;
      i += 2;
    } else {
      throw ValueError(
          "einsum: expected letters and at most one '...' for a tensor, got '{}' in '{}'", text,
          equation);
    }
  }
  return part;
}

struct Equation {
  std::vector<Part> inputs;
  Part output;
};

Part implicit_output(const std::vector<Part>& inputs) {
  std::string all;
  Part output;
  output.has_ellipsis = true;
  for (const Part& part : inputs) all += part.before + part.after;
  std::ranges::copy_if(all, std::back_inserter(output.after),
                       [&](char letter) { return std::ranges::count(all, letter) == 1; });
  std::ranges::sort(output.after);
  return output;
}

Equation parse(std::string_view text) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  const std::string_view inputs = text.substr(0, arrow);
  for (std::size_t start = 0; start <= inputs.size();) {
    const std::size_t end = std::min(inputs.find(',', start), inputs.size());
    equation.inputs.push_back(parse_part(inputs.substr(start, end - start), text));
    start = end + 1;
  }
  equation.output = arrow == std::string_view::npos ? implicit_output(equation.inputs)
                                                    : parse_part(text.substr(arrow + 2), text);
  return equation;
}

/// How many dims the `...` of an operand stands for.
int further_dims(const Part& part, const Tensor& x) {
  const int further = x.ndim() - part.letters();
  if (further < 0 || (further > 0 && !part.has_ellipsis)) {
    throw ShapeError("einsum: expected {}{} dims for '{}', got shape {}",
                     part.has_ellipsis ? "at least " : "", part.letters(), part.text, x.shape());
  }
  return further;
}

/// The size of every label; checks that all operands agree.
class Sizes {
 public:
  Sizes() { sizes_.fill(-1); }
  void add(Label label, std::int64_t size) {
    std::int64_t& known = sizes_[static_cast<std::size_t>(label)];
    if (known < 0 || (!is_letter(label) && known == 1)) known = size;
    if (known == size || (!is_letter(label) && size == 1)) return;
    if (is_letter(label)) {
      throw ShapeError("einsum: expected one size for index '{}', got {} and {}", label, known,
                       size);
    }
    throw ShapeError("einsum: expected dims of '...' that broadcast together, got {} and {}", known,
                     size);
  }
  std::int64_t operator[](Label label) const { return sizes_[static_cast<std::size_t>(label)]; }

 private:
  std::array<std::int64_t, 128> sizes_;
};

Term diagonals(Term x) {
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    const std::size_t twin = x.labels.find(x.labels[i], i + 1);
    if (twin == Labels::npos) continue;
    x.value = diagonal(x.value, 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(twin));
    x.labels += x.labels[i];
    x.labels.erase(twin, 1);
    x.labels.erase(i--, 1);
  }
  return x;
}

/// Without the dims of size 1 that another operand repeats.
Term squeezed(Term x, const Sizes& sizes) {
  for (std::size_t i = x.labels.size(); i-- > 0;) {
    if (x.value.size(static_cast<std::int64_t>(i)) == sizes[x.labels[i]]) continue;
    x.value = squeeze(x.value, static_cast<std::int64_t>(i));
    x.labels.erase(i, 1);
  }
  return x;
}

/// Sums over the dims that nobody asks for any more.
Term summed(Term x, const Labels& kept) {
  Dims dims;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (!has(kept, x.labels[i])) dims.push_back(static_cast<std::int64_t>(i));
  }
  if (dims.empty()) return x;
  std::erase_if(x.labels, [&](Label label) { return !has(kept, label); });
  return {reduce(sum_spec, x.value, dims, {.dtype = x.value.dtype()}), x.labels};
}

/// The dims in another order; what the term does not have gets size 1.
Tensor arranged(const Term& x, const Labels& order) {
  Dims dims;
  for (const Label label : order) {
    if (has(x.labels, label)) dims.push_back(static_cast<std::int64_t>(x.labels.find(label)));
  }
  Tensor result = permute(x.value, dims);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!has(x.labels, order[i])) result = unsqueeze(result, static_cast<std::int64_t>(i));
  }
  return result;
}

/// Which labels both have, or only one of them.
struct Roles {
  Labels batch, summed, left, right;
};

Roles roles_of(const Term& a, const Term& b, const Labels& kept) {
  Roles roles;
  for (const Label label : a.labels) {
    if (!has(b.labels, label)) {
      roles.left += label;
    } else {
      (has(kept, label) ? roles.batch : roles.summed) += label;
    }
  }
  for (const Label label : b.labels) {
    if (!has(a.labels, label)) roles.right += label;
  }
  return roles;
}

Shape shape_of_labels(const Labels& labels, const Sizes& sizes) {
  Shape shape;
  for (const Label label : labels) shape.push_back(sizes[label]);
  return shape;
}

Term contracted(Term a, Term b, const Labels& kept, const Sizes& sizes) {
  a = summed(a, kept + b.labels);
  b = summed(b, kept + a.labels);
  const Roles roles = roles_of(a, b, kept);
  const Labels labels = roles.batch + roles.left + roles.right;
  if (roles.summed.empty()) return {mul(arranged(a, labels), arranged(b, labels)), labels};
  // Each group of dims becomes one, but for the batch, which may have any number.
  const auto grouped = [&](const Term& x, const Labels& rows, const Labels& cols) {
    Shape shape = shape_of_labels(roles.batch, sizes);
    shape.push_back(element_count(shape_of_labels(rows, sizes)));
    shape.push_back(element_count(shape_of_labels(cols, sizes)));
    return reshape(arranged(x, roles.batch + rows + cols), shape);
  };
  const Tensor c =
      matmul(grouped(a, roles.left, roles.summed), grouped(b, roles.summed, roles.right));
  return {reshape(c, shape_of_labels(labels, sizes)), labels};
}

Labels output_labels(const Part& output, int further, const Sizes& sizes,
                     std::string_view equation) {
  const Labels labels = output.labels(output.has_ellipsis ? further : 0);
  for (const Label label : labels) {
    if (sizes[label] < 0) {
      throw ValueError("einsum: expected output indices that an operand has, got '{}' in '{}'",
                       label, equation);
    }
    if (std::ranges::count(labels, label) > 1) {
      throw ValueError("einsum: expected each output index once, got '{}' again in '{}'", label,
                       equation);
    }
  }
  return labels;
}

DType common_type(std::span<const Tensor> operands) {
  DType dtype = operands.front().dtype();
  for (const Tensor& x : operands) dtype = promote(dtype, x.dtype());
  if (dtype == DType::boolean) {
    throw DTypeError("einsum: expected numbers, got bool; convert with to(loup.int32)");
  }
  return dtype;
}

/// An equation and its operands, which fit together.
struct Problem {
  Equation parsed;
  DType dtype = DType::f32;
  std::vector<Labels> labels;  // of the operands
  Labels output;
  Sizes sizes;

  Problem(std::string_view equation, std::span<const Tensor> operands) : parsed(parse(equation)) {
    if (parsed.inputs.size() != operands.size()) {
      throw ValueError("einsum: expected {} operands for '{}', got {}", parsed.inputs.size(),
                       equation, operands.size());
    }
    dtype = common_type(operands);
    int further = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const int here = further_dims(parsed.inputs[i], operands[i]);
      further = std::max(further, here);
      labels.push_back(parsed.inputs[i].labels(here));
      for (int d = 0; d < operands[i].ndim(); ++d) {
        sizes.add(labels[i][static_cast<std::size_t>(d)], operands[i].shape()[d]);
      }
    }
    output = output_labels(parsed.output, further, sizes, equation);
  }
};

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands) {
  const Problem problem(equation, operands);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Term whole = diagonals({to(operands[i], problem.dtype), problem.labels[i]});
    terms.push_back(squeezed(whole, problem.sizes));
  }
  Term result = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Labels kept = problem.output;
    for (const Term& later : std::span(terms).subspan(i + 1)) kept += later.labels;
    result = contracted(result, terms[i], kept, problem.sizes);
  }
  return arranged(summed(result, problem.output), problem.output);
}

EinsumParts einsum_parts(std::string_view equation, std::span<const Tensor> operands) {
  const Problem problem(equation, operands);
  EinsumParts parts{{}, problem.parsed.output.normal(), problem.dtype};
  for (const Part& part : problem.parsed.inputs) parts.operands.push_back(part.normal());
  return parts;
}

}  // namespace loup::ops
