#include "loup/ops/elementwise.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"

namespace loup::ops {

namespace {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;
using kernels::BinaryOp;
using kernels::ElementwiseKernel;
using kernels::UnaryOp;

[[noreturn]] void refuse_dtype(const char* name, const char* expected, DType got) {
  throw DTypeError("{}: expected {}, got {}", name, expected, got);
}

/// The dtype that operands of `dtype` are computed in.
DType computed(const char* name, ResultKind kind, DType dtype) {
  switch (kind) {
    case ResultKind::numeric:
      if (dtype == DType::boolean) refuse_dtype(name, "a numeric dtype", dtype);
      return dtype;
    case ResultKind::integral:
      if (is_floating(dtype)) refuse_dtype(name, "integers or bool", dtype);
      return dtype;
    case ResultKind::floating: return is_floating(dtype) ? dtype : DType::f32;
    case ResultKind::arithmetic:
    case ResultKind::boolean: return dtype;
  }
  __builtin_unreachable();
}

DType resulting(ResultKind kind, DType computed_dtype) {
  return kind == ResultKind::boolean ? DType::boolean : computed_dtype;
}

bool keeps_inputs(Saves saves) { return saves == Saves::inputs || saves == Saves::both; }
autograd::Output output_of(Saves saves) {
  return saves == Saves::output || saves == Saves::both ? autograd::Output::saved
                                                        : autograd::Output::unneeded;
}

using Values = std::array<double, most_parameters>;

const ElementwiseKernel& unary_kernel(const Unary& op, DType dtype, const Values& values) {
  UnaryOp wanted = op.kernel;
  // Of bool ~ is "not"; of integers it turns bits.
  if (wanted == UnaryOp::bitwise_not && dtype == DType::boolean) wanted = UnaryOp::logical_not;
  if (wanted == UnaryOp::gelu && values[0] == 1) wanted = UnaryOp::gelu_tanh;
  const auto* const kernel = kernels::find_unary(wanted, compute_type(dtype));
  if (kernel == nullptr) refuse_dtype(op.name, "a dtype it is defined for", dtype);
  return *kernel;
}

const ElementwiseKernel& binary_kernel(const Binary& op, DType dtype) {
  const auto* kernel = dtype == DType::boolean ? kernels::find_boolean(op.kernel)
                                               : kernels::find_half(op.kernel, dtype);
  if (kernel == nullptr) kernel = kernels::find_binary(op.kernel, compute_type(dtype));
  if (kernel == nullptr) refuse_dtype(op.name, "a dtype it is defined for", dtype);
  return *kernel;
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.FEp127;
    case DType::f32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

Values parameters_of(const Unary& op, std::span<const double> given, DType dtype) {
  Values values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& parameter = op.parameters[i];
    double value = i < given.size() ? given[i] : parameter.value;
    if (parameter.is_integer && value != std::trunc(value)) {
      throw ValueError("{}: expected {} as an integer, got {}", op.name, parameter.name, value);
    }
    if (value < parameter.least) {
      throw ValueError("{}: expected {} of at least {}, got {}", op.name, parameter.name,
                       parameter.least, value);
    }
    if (std::abs(value) == largest_number) value = std::copysign(largest(dtype), value);
    values[i] = value;
  }
  return values;
}

/// Integers have no quotient by 0.
void check_divisor(const Binary& op, const Operand& divisor, DType dtype) {
  const bool divides = op.kernel == BinaryOp::floor_divide || op.kernel == BinaryOp::trunc_divide ||
                       op.kernel == BinaryOp::fmod || op.kernel == BinaryOp::remainder;
  if (!divides || is_floating(dtype)) return;
  const Operand zero(0);
  const Operand* const operands[] = {&divisor, &zero};
  const auto& is_equal = *kernels::find_binary(BinaryOp::eq, compute_type(dtype));
  const Tensor is_zero = contiguous(run_elementwise(op.name, is_equal, DType::boolean, operands));
  const auto found = is_zero.data<const bool>();
  if (std::ranges::find(found, true) != found.end()) {
    throw ValueError("{}: expected integers other than 0 as divisor, got 0", op.name);
  }
}

/// "add_" for "add".
class InPlaceName {
 public:
  explicit InPlaceName(std::string_view name) {
    assert(name.size() + 1 < std::size(text_));
    text_[name.copy(text_, std::size(text_) - 2)] = '_';
  }
  operator const char*() const { return text_; }

 private:
  char text_[32] = {};
};

}  // namespace

Tensor repeated(const char* operation, const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const Layout layout = broadcast(operation, "operands", x.layout(), shape);
  return autograd::is_recorded(x) ? expand(x, shape) : x.with_layout(layout);
}

Tensor as_input(const char* operation, const Operand& x, DType dtype, const Shape& shape) {
  const Tensor tensor = x.as_tensor(dtype);
  // Rules reckon with integers as the kernel did: in floating point.
  return repeated(operation, is_floating(tensor.dtype()) ? tensor : to(tensor, dtype), shape);
}

DType Unary::result_dtype(DType x) const { return resulting(result, computed(name, result, x)); }

Tensor Unary::run(const Tensor& x, std::span<const double> values) const {
  const DType dtype = computed(name, result, x.dtype());
  const Values parameters_given = parameters_of(*this, values, dtype);
  const Operand operand(x);
  const Operand* const operands[] = {&operand};
  Tensor out = run_elementwise(name, unary_kernel(*this, dtype, parameters_given),
                               resulting(result, dtype), operands, parameters_given.data());
  if (backward == nullptr || !autograd::is_recorded(x)) return out;
  std::vector<SavedTensor> saved;
  if (keeps_inputs(saves)) saved.emplace_back(x);
  autograd::record(
      name, out, {x}, std::move(saved),
      [rule = backward, parameters_given, from = x.dtype()](
          const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        const ElementwiseCall call(kept, parameters_given.data());
        return {{to(rule(call, g.value), from), g.mask}};
      },
      output_of(saves));
  return out;
}

void Unary::run_in_place(Tensor& x, std::span<const double> values) const {
  const DType dtype = computed(name, result, x.dtype());
  const InPlaceName own_name(name);
  check_holds(own_name, x, resulting(result, dtype));
  if (autograd::is_recorded(x)) {
    replace_(own_name, x, run(clone(x), values));  // the rule may need what x was before
    return;
  }
  const Values parameters_given = parameters_of(*this, values, dtype);
  prepare_in_place(own_name, x);
  const Array array = x.array();
  kernels::elementwise(unary_kernel(*this, dtype, parameters_given), x.shape(), array, {&array, 1},
                       parameters_given.data());
}

DType Binary::compute_dtype(const Operand& x, const Operand& y) const {
  const Operand* const operands[] = {&x, &y};
  DType dtype = result_type(operands);
  if (result == ResultKind::boolean) {
    // Comparing must not round or wrap a number first.
    for (const Operand* const operand : operands) {
      const Operand& other = operand == &x ? y : x;
      if (!operand->is_number()) continue;
      if (is_floating(operand->dtype()) && !is_floating(other.dtype())) {
        dtype = DType::f64;
      } else if (!fits(operand->number(), dtype)) {
        dtype = DType::i64;
      }
    }
  }
  return computed(name, result, dtype);
}

Tensor Binary::operator()(const Operand& x, const Operand& y) const {
  const DType dtype = compute_dtype(x, y);
  const ElementwiseKernel& chosen = binary_kernel(*this, dtype);
  check_fits(name, x, dtype);
  check_fits(name, y, dtype);
  check_divisor(*this, y, dtype);
  const Operand* const operands[] = {&x, &y};
  Tensor out = run_elementwise(name, chosen, resulting(result, dtype), operands);
  const bool is_recorded = x.is_recorded() || y.is_recorded();
  if (backward == nullptr || !is_recorded || !is_floating(out.dtype())) return out;
  // Repeated dims are summed by the rule of the view that repeats them.
  const Tensor left = as_input(name, x, dtype, out.shape());
  const Tensor right = as_input(name, y, dtype, out.shape());
  std::vector<SavedTensor> saved;
  if (keeps_inputs(saves)) saved = {SavedTensor(left), SavedTensor(right)};
  autograd::record(
      name, out, {left, right}, std::move(saved),
      [rule = backward, from = std::array{left.dtype(), right.dtype()}](
          const Saved& kept, const Gradient& g) -> std::vector<Gradient> {
        const std::array<Tensor, 2> values = rule(ElementwiseCall(kept, nullptr), g.value);
        std::vector<Gradient> gradients(2);
        for (std::size_t i = 0; i < 2; ++i) {
          if (kept.needs(i)) gradients[i] = {to(values[i], from[i]), g.mask};
        }
        return gradients;
      },
      output_of(saves));
  return out;
}

void Binary::in_place(Tensor& x, const Operand& y) const {
  const InPlaceName own_name(name);
  const DType dtype = compute_dtype(x, y);
  check_holds(own_name, x, resulting(result, dtype));
  const ElementwiseKernel& chosen = binary_kernel(*this, dtype);
  check_fits(own_name, y, dtype);
  check_divisor(*this, y, dtype);
  std::optional<Tensor> other;
  if (!y.is_number()) other = repeated(own_name, y.tensor(), x.shape());
  if (autograd::is_recorded(x) || y.is_recorded()) {
    replace_(own_name, x, to((*this)(clone(x), y), x.dtype()));
    return;
  }
  prepare_in_place(own_name, x);
  // Parts of one storage may overlap: then the other operand is read whole before x is written.
  if (other && other->storage() == x.storage() &&
      (other->strides() != x.strides() || other->raw_data() != x.raw_data())) {
    other = clone(*other);
  }
  NumberBytes number;
  const Array arrays[] = {
      x.array(), other ? other->array() : number.array(y.number(), chosen.inputs[1], x.ndim())};
  kernels::elementwise(chosen, x.shape(), arrays[0], arrays);
}

}  // namespace loup::ops
