#include "loup/ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/in_place.h"
#include "loup/ops/views.h"
#include "loup/tensor/broadcast.h"
#include "loup/tensor/create.h"

namespace loup::ops {

namespace {

using autograd::Gradient;
using autograd::Saved;
using autograd::SavedTensor;
using kernels::BinaryOp;
using kernels::ElementwiseKernel;
using kernels::UnaryOp;

/// bool, integer, floating: dtypes of a higher kind decide.
int kind_of(DType dtype) { return is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 0; }

bool fits(const Tensor& number, DType dtype) {
  if (is_floating(dtype) || is_floating(number.dtype())) return true;
  const auto value = number.item<std::int64_t>();
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    return convert<std::int64_t>(convert<T>(value)) == value;
  });
}

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

/// DTypeError unless `x` can hold a result of `dtype` without losing its kind.
void check_holds(const char* name, const Tensor& x, DType dtype) {
  if (kind_of(dtype) > kind_of(x.dtype())) {
    throw DTypeError("{}_: expected a tensor that can hold {}, got {}", name, dtype, x.dtype());
  }
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
  const auto* kernel = dtype == DType::boolean ? kernels::find_boolean(op.kernel) : nullptr;
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
    values[i] = i < given.size() ? given[i] : op.parameters[i].value;
    if (std::isinf(values[i])) values[i] = std::copysign(largest(dtype), values[i]);
  }
  return values;
}

/// Integers have no quotient by 0.
void check_divisor(const Binary& op, const Tensor& divisor, DType dtype) {
  const bool divides = op.kernel == BinaryOp::floor_divide || op.kernel == BinaryOp::trunc_divide ||
                       op.kernel == BinaryOp::fmod || op.kernel == BinaryOp::remainder;
  if (!divides || is_floating(dtype)) return;
  if (dtype == DType::boolean) refuse_dtype(op.name, "a numeric dtype", dtype);
  const auto& kernel = *kernels::find_binary(BinaryOp::eq, compute_type(dtype));
  const Tensor zero = repeated(op.name, zeros({}, dtype), divisor.shape());
  const Tensor operands[] = {divisor, zero};
  const Tensor is_zero = run_elementwise(kernel, divisor.shape(), DType::boolean, operands);
  const auto found = is_zero.data<const bool>();
  if (std::ranges::find(found, true) != found.end()) {
    throw ValueError("{}: expected integers other than 0 as divisor, got 0", op.name);
  }
}

/// A number as a 0-d tensor of the dtype it is computed in.
Tensor with_dtype(const char* name, const Operand& x, DType dtype) {
  if (!x.is_number()) return x.tensor();
  if (!fits(x.tensor(), dtype)) {
    throw ValueError("{}: expected a number that fits {}, got {}", name, dtype,
                     x.tensor().item<std::int64_t>());
  }
  return to(x.tensor(), dtype);
}

}  // namespace

Operand::Operand(Scalar number)
    // A number is kept whole: float64 until it is known what it meets.
    : tensor_(full({}, number,
                   is_floating(number.natural_dtype()) ? DType::f64 : number.natural_dtype())),
      is_number_(true) {}

DType result_type(std::span<const Operand* const> operands) {
  // Of each class of operands the dtype that holds them all; numbers are of the natural dtypes.
  std::optional<DType> with_dims;
  std::optional<DType> without_dims;
  std::optional<DType> numbers;
  for (const Operand* const x : operands) {
    const DType dtype =
        x->is_number() && is_floating(x->tensor().dtype()) ? DType::f32 : x->tensor().dtype();
    auto& held = x->is_number() ? numbers : x->tensor().ndim() == 0 ? without_dims : with_dims;
    held = held ? promote(*held, dtype) : dtype;
  }
  std::optional<DType> result;
  for (const auto& held : {with_dims, without_dims, numbers}) {
    if (!held) continue;
    if (!result) {
      result = held;
    } else if (kind_of(*held) > kind_of(*result)) {
      result = promote(*result, *held);
    }
  }
  return result.value_or(DType::f32);
}

Tensor run_elementwise(const ElementwiseKernel& kernel, const Shape& shape, DType dtype,
                       std::span<const Tensor> inputs, const double* parameters) {
  Tensor out = empty(shape, dtype);
  std::array<Array, 3> arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i) arrays[i] = inputs[i].array();
  kernels::elementwise(kernel, shape, out.array(), std::span(arrays).first(inputs.size()),
                       parameters);
  return out;
}

Tensor repeated(const char* operation, const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const Layout layout = broadcast(operation, "operands", x.layout(), shape);
  return autograd::is_recorded(x) ? expand(x, shape) : x.with_layout(layout);
}

DType Unary::result_dtype(DType x) const { return resulting(result, computed(name, result, x)); }

Tensor Unary::run(const Tensor& x, std::span<const double> values) const {
  const DType dtype = computed(name, result, x.dtype());
  const Values parameters_given = parameters_of(*this, values, dtype);
  Tensor out = run_elementwise(unary_kernel(*this, dtype, parameters_given), x.shape(),
                               resulting(result, dtype), {&x, 1}, parameters_given.data());
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
  check_holds(name, x, resulting(result, dtype));
  if (autograd::is_recorded(x)) {
    replace_(name, x, run(clone(x), values));  // the rule may need what x was before
    return;
  }
  const Values parameters_given = parameters_of(*this, values, dtype);
  prepare_in_place(name, x);
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
      if (is_floating(operand->tensor().dtype()) && !is_floating(other.tensor().dtype())) {
        dtype = DType::f64;
      } else if (!fits(operand->tensor(), dtype)) {
        dtype = DType::i64;
      }
    }
  }
  return computed(name, result, dtype);
}

Tensor Binary::operator()(const Operand& x, const Operand& y) const {
  const DType dtype = compute_dtype(x, y);
  const ElementwiseKernel& chosen = binary_kernel(*this, dtype);
  const Tensor left = with_dtype(name, x, dtype);
  const Tensor right = with_dtype(name, y, dtype);
  check_divisor(*this, right, dtype);
  const Shape shape = common_shape(name, left.shape(), right.shape());
  const Tensor inputs[] = {repeated(name, left, shape), repeated(name, right, shape)};
  Tensor out = run_elementwise(chosen, shape, resulting(result, dtype), inputs);
  const bool is_recorded = autograd::is_recorded(left) || autograd::is_recorded(right);
  if (backward == nullptr || !is_recorded || !is_floating(out.dtype())) return out;
  std::vector<SavedTensor> saved;
  if (keeps_inputs(saves)) saved = {SavedTensor(inputs[0]), SavedTensor(inputs[1])};
  autograd::record(
      name, out, {inputs[0], inputs[1]}, std::move(saved),
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
  const DType dtype = compute_dtype(x, y);
  check_holds(name, x, resulting(result, dtype));
  const ElementwiseKernel& chosen = binary_kernel(*this, dtype);
  const Tensor right = with_dtype(name, y, dtype);
  check_divisor(*this, right, dtype);
  Tensor other = repeated(name, right, x.shape());
  if (autograd::is_recorded(x) || autograd::is_recorded(right)) {
    replace_(name, x, to((*this)(clone(x), other), x.dtype()));
    return;
  }
  prepare_in_place(name, x);
  // Parts of one storage may overlap: then the other operand is read whole before x is written.
  const bool is_shared = other.storage() == x.storage() &&
                         (other.strides() != x.strides() || other.raw_data() != x.raw_data());
  if (is_shared) other = clone(other);
  const Array arrays[] = {x.array(), other.array()};
  kernels::elementwise(chosen, x.shape(), x.array(), arrays);
}

}  // namespace loup::ops
