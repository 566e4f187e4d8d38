#include "loup/ops/elementwise.h"

#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "bindings.h"
#include "define.h"
#include "loup/base/error.h"
#include "loup/ops/binary.h"
#include "loup/ops/select.h"
#include "loup/ops/signature.h"
#include "loup/ops/unary.h"

namespace loup::python {

using namespace nb::literals;
using masked::MaskedOperand;
using ops::Binary;
using ops::Operand;
using ops::Unary;

namespace {

/// Things that make sense beside a tensor; for others Python asks the other operand.
bool is_operand(nb::handle object) { return is_plain_number(object) || is_array_like(object); }

std::int64_t work_of(const Operand& x, const Operand& y) {
  const auto size = [](const Operand& operand) {
    return operand.is_number() ? 1 : operand.tensor().size();
  };
  return std::max(size(x), size(y));
}

/// A parameter of a unary operator: a number, one of its words, or None for the default.
double parameter_from(const Unary& op, const ops::Parameter& parameter, nb::handle object) {
  if (object.is_none()) return parameter.value;
  if (parameter.choices[0] == nullptr) {
    return scalar_from(op.name, object).to<double>();
  }
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
    if (object.equal(nb::str(parameter.choices[i]))) return static_cast<double>(i);
  }
  throw ValueError("{}: expected {} as '{}' or '{}', got {}", op.name, parameter.name,
                   parameter.choices[0], parameter.choices[1],
                   nb::cast<std::string>(nb::repr(object)));
}

Tensor run(const Unary& op, const Tensor& x, std::span<const double> values) {
  return op.run(x, values);
}
MaskedTensor run(const Unary& op, const MaskedTensor& x, std::span<const double> values) {
  return masked::apply_unary(op, x, values);
}
void run_in_place(const Unary& op, Tensor& x, std::span<const double> values) {
  op.run_in_place(x, values);
}
void run_in_place(const Unary& op, MaskedTensor& x, std::span<const double> values) {
  masked::apply_unary_(op, x, values);
}

template <std::size_t count>
using Given = std::array<double, count>;

template <std::size_t>
using Handle = nb::handle;

/// Functions and methods of a unary operator with `sizeof...(i)` parameters.
template <std::size_t... i>
void define_unary(nb::module_& m, const Unary& op, const char* name, std::index_sequence<i...>) {
  constexpr std::size_t count = sizeof...(i);
  const auto values_of = [&op](const std::array<nb::handle, count + 1>& objects) {
    Given<count + 1> values{};
    for (std::size_t k = 0; k < count; ++k) {
      values[k] = parameter_from(op, op.parameters[k], objects[k]);
    }
    return values;
  };
  const auto call = [&op, values_of](nb::handle input, Handle<i>... objects) {
    const auto values = values_of({objects..., nb::handle()});
    return with_input(op.name, input, [&](const auto& x) {
      return run(op, x, std::span<const double>(values.data(), count));
    });
  };
  const auto call_in_place = [&op, values_of](nb::handle self, Handle<i>... objects) {
    const auto values = values_of({objects..., nb::handle()});
    with_self(self,
              [&](auto& x) { run_in_place(op, x, std::span<const double>(values.data(), count)); });
    return nb::borrow(self);
  };
  const std::string typed = ops::python_signature(op);
  const std::string function = fmt::format("def {}{}", name, typed);
  m.def(name, call, "input"_a.none(), (nb::arg(op.parameters[i].name).none() = nb::none())...,
        nb::sig(function.c_str()), op.summary);
  define_methods(name, typed, call, op.summary,
                 (nb::arg(op.parameters[i].name).none() = nb::none())...);
  if (op.is_in_place) {
    define_methods(fmt::format("{}_", name), typed, call_in_place, op.summary,
                   (nb::arg(op.parameters[i].name).none() = nb::none())...);
  }
}

void define_unary(nb::module_& m, const Unary& op, const char* name) {
  std::size_t count = 0;
  while (count < op.parameters.size() && op.parameters[count].name != nullptr) ++count;
  switch (count) {
    case 0: return define_unary(m, op, name, std::make_index_sequence<0>());
    case 1: return define_unary(m, op, name, std::make_index_sequence<1>());
    case 2: return define_unary(m, op, name, std::make_index_sequence<2>());
    default: return define_unary(m, op, name, std::make_index_sequence<3>());
  }
}

/// What the option of an operator makes of the call: another operator, or another operand.
struct BinaryCall {
  const Binary* op;
  Operand y;
};

/// alpha y; a product of numbers stays a number.
Operand scaled(const Binary& op, const Operand& y, Scalar alpha) {
  if (!y.is_number()) return ops::mul(y, alpha);
  const Scalar number = y.number();
  if (is_floating(number.natural_dtype()) || is_floating(alpha.natural_dtype())) {
    return number.to<double>() * alpha.to<double>();
  }
  std::int64_t product = 0;
  if (__builtin_mul_overflow(number.to<std::int64_t>(), alpha.to<std::int64_t>(), &product)) {
    throw ValueError("{}: expected alpha times other to fit 64 bits, got {} times {}", op.name,
                     alpha.to<std::int64_t>(), number.to<std::int64_t>());
  }
  return product;
}

BinaryCall with_option(const Binary& op, const Operand& y, nb::handle option) {
  if (option.is_none()) return {&op, y};
  if (op.kernel != ops::BinaryOp::div) return {&op, scaled(op, y, scalar_from(op.name, option))};
  if (option.equal(nb::str("floor"))) return {&ops::floor_divide, y};
  if (option.equal(nb::str("trunc"))) return {&ops::trunc_divide, y};
  throw ValueError("div: expected rounding_mode as None, 'floor' or 'trunc', got {}",
                   nb::cast<std::string>(nb::repr(option)));
}

/// The same with a MaskedTensor on either side.
nb::object call_masked_binary(const Binary& op, nb::handle input, nb::handle other,
                              nb::handle option) {
  const MaskedOperand x = masked_operand_from(op.name, input);
  const MaskedOperand given = masked_operand_from(op.name, other);
  const BinaryCall call = with_option(op, given.values(), option);
  const MaskedOperand y(call.y, given.mask());
  return nb::cast(without_gil(work_of(x.values(), call.y),
                              [&] { return masked::apply_binary(*call.op, x, y); }));
}

nb::object call_binary(const Binary& op, nb::handle input, nb::handle other, nb::handle option) {
  if (is_masked({input, other})) {
    return call_masked_binary(op, input, other, option);
  }
  const Operand x = operand_from(op.name, input);
  const BinaryCall call = with_option(op, operand_from(op.name, other), option);
  return nb::cast(without_gil(work_of(x, call.y), [&] { return (*call.op)(x, call.y); }));
}

nb::object call_binary_in_place(const Binary& op, nb::handle self, nb::handle other,
                                nb::handle option) {
  if (MaskedTensor* const x = masked_tensor_in(self)) {
    const MaskedOperand given = masked_operand_from(op.name, other);
    const BinaryCall call = with_option(op, given.values(), option);
    const MaskedOperand y(call.y, given.mask());
    without_gil(x->size(), [&] { masked::apply_binary_(*call.op, *x, y); });
  } else {
    const BinaryCall call = with_option(op, operand_from(op.name, other), option);
    Tensor& tensor = tensor_of(self);
    without_gil(tensor.size(), [&] { call.op->in_place(tensor, call.y); });
  }
  return nb::borrow(self);
}

void define_binary(nb::module_& m, const Binary& op, const char* name) {
  const std::string typed = ops::python_signature(op);
  const std::string function = fmt::format("def {}{}", name, typed);
  const auto add = [&](const auto& call, const auto& call_in_place, const auto&... extra) {
    m.def(name, call, "input"_a.none(), "other"_a.none(), extra..., nb::sig(function.c_str()),
          op.summary);
    define_methods(name, typed, call, op.summary, "other"_a.none(), extra...);
    if (op.is_in_place) {
      define_methods(fmt::format("{}_", name), typed, call_in_place, op.summary, "other"_a.none(),
                     extra...);
    }
  };
  const char* const option = ops::option_of(op);
  if (option == nullptr) {
    add([&op](nb::handle x, nb::handle y) { return call_binary(op, x, y, nb::none()); },
        [&op](nb::handle x, nb::handle y) { return call_binary_in_place(op, x, y, nb::none()); });
  } else {
    add([&op](nb::handle x, nb::handle y, nb::handle o) { return call_binary(op, x, y, o); },
        [&op](nb::handle x, nb::handle y, nb::handle o) {
          return call_binary_in_place(op, x, y, o);
        },
        nb::kw_only(), nb::arg(option).none() = nb::none());
  }
}

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

/// x + y, y + x and x += y of Python. Comparisons have no second and third form.
template <class Class>
void define_symbol(const Binary& op) {
  auto type = nb::borrow<nb::class_<Class>>(nb::type<Class>());
  const auto name = [&](const char* prefix) { return fmt::format("__{}{}__", prefix, op.symbol); };
  const auto signature = [&](const char* prefix) {
    return fmt::format("def {}(self, other: typing.Any) -> {}", name(prefix),
                       op.result == ops::ResultKind::boolean ? "typing.Any" : class_name_of<Class>);
  };
  type.def(
      name("").c_str(),
      [&op](nb::handle x, nb::handle y) {
        return is_operand(y) ? call_binary(op, x, y, nb::none()) : not_implemented();
      },
      "other"_a.none(), nb::sig(signature("").c_str()));
  if (op.result == ops::ResultKind::boolean) return;
  type.def(
      name("r").c_str(),
      [&op](nb::handle x, nb::handle y) {
        return is_operand(y) ? call_binary(op, y, x, nb::none()) : not_implemented();
      },
      "other"_a.none(), nb::sig(signature("r").c_str()));
  type.def(
      name("i").c_str(),
      [&op](nb::handle x, nb::handle y) {
        return is_operand(y) ? call_binary_in_place(op, x, y, nb::none()) : not_implemented();
      },
      "other"_a.none(), nb::sig(signature("i").c_str()));
}

template <class Class>
void define_unary_symbols() {
  auto type = nb::borrow<nb::class_<Class>>(nb::type<Class>());
  const auto add = [&](const char* name, const Unary& op) {
    type.def(name, [&op](const Class& x) { return without_gil(x.size(), [&] { return op(x); }); });
  };
  add("__neg__", ops::neg);
  add("__pos__", ops::positive);
  add("__abs__", ops::abs);
  add("__invert__", ops::bitwise_not);
  // == gives a tensor, but tensors are still found in dictionaries by identity.
  type.def("__hash__", [](nb::handle_t<Class> self) {
    return static_cast<Py_ssize_t>(reinterpret_cast<std::uintptr_t>(self.ptr()) >> 4U);
  });
  // NumPy leaves array + tensor to the tensor.
  type.attr("__array_priority__") = 1000;
}

}  // namespace

Operand operand_from(const char* operation, nb::handle object) {
  if (is_plain_number(object)) return scalar_from(operation, object);
  if (const Tensor* const tensor = tensor_in(object)) return *tensor;
  return as_tensor(operation, object);
}

masked::MaskedOperand masked_operand_from(const char* operation, nb::handle object) {
  if (const MaskedTensor* const x = masked_tensor_in(object)) return *x;
  return operand_from(operation, object);
}

void bind_elementwise(nb::module_& m) {
  for (const Unary* const op : ops::unary_ops) {
    define_unary(m, *op, op->name);
    for (const char* const alias : op->aliases) {
      if (alias != nullptr) define_unary(m, *op, alias);
    }
  }
  for (const Binary* const op : ops::binary_ops) {
    define_binary(m, *op, op->name);
    for (const char* const alias : op->aliases) {
      if (alias != nullptr) define_binary(m, *op, alias);
    }
    if (op->symbol == nullptr) continue;
    define_symbol<Tensor>(*op);
    define_symbol<MaskedTensor>(*op);
  }
  define_unary_symbols<Tensor>();
  define_unary_symbols<MaskedTensor>();
}

}  // namespace loup::python
