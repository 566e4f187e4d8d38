#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "bindings.h"
#include "loup/ops/functions.h"

// How operators that are plain functions become Python functions and methods: signature and
// docstring come from the list, only the call is written in the binding.

namespace loup::python {

inline const ops::Function& listed(const char* name) {
  const ops::Function* const function = ops::find_function(name);
  if (function == nullptr) throw std::logic_error(fmt::format("{} is in no list", name));
  return *function;
}

inline constexpr std::string_view input_argument = "(input: object";

/// The signature with `input` as self.
inline std::string method_signature(std::string_view name, std::string_view signature) {
  return fmt::format("def {}(self{}", name, signature.substr(input_argument.size()));
}

/// Adds a listed operator to the module. `extra` annotates the arguments.
template <class F, class... Extra>
void define_function(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  const ops::Function& op = listed(name);
  const std::string signature = fmt::format("def {}{}", op.name, op.signature);
  m.def(op.name, f, extra..., nb::sig(signature.c_str()), op.summary);
}

/// The same for an operator whose first argument is `input: object`: it is a method of Tensor, too.
/// `extra` annotates the other arguments.
template <class F, class... Extra>
void define(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  define_function(m, name, f, nb::arg("input").none(), extra...);
  const ops::Function& op = listed(name);
  const std::string method = method_signature(op.name, op.signature);
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  tensor.def(op.name, f, extra..., nb::sig(method.c_str()), op.summary);
}

/// Adds the method name_() of a listed operator. `f` takes the handle of the tensor first, writes
/// into it and returns nothing; the method returns the tensor itself.
template <class... Args, class... Extra>
void define_in_place(const char* name, void (*f)(Tensor&, Args...), const Extra&... extra) {
  const ops::Function& op = listed(name);
  const std::string method = fmt::format("{}_", op.name);
  const std::string signature = method_signature(method, op.signature);
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  tensor.def(
      method.c_str(),
      [f](nb::handle_t<Tensor> self, Args... args) {
        f(*tensor_in(self), static_cast<Args>(args)...);
        return nb::borrow(self);
      },
      extra..., nb::sig(signature.c_str()), op.summary);
}

}  // namespace loup::python
